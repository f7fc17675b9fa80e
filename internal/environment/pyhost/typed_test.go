package pyhost

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// typedCorpus is shared by Python, Go and TypeScript: a schema, and the host's result for each
// payload of one of its handlers.
type typedCorpus struct {
	Schema json.RawMessage `json:"schema"`
	Cases  []typedCase     `json:"cases"`
}

type typedCase struct {
	Handler string  `json:"handler"`
	Payload string  `json:"payload"`           // as it came
	Wire    *string `json:"wire,omitempty"`    // the one form of the argument v, which the handler returns
	Path    *string `json:"path,omitempty"`    // the path of a refusal; "" for the whole
	Message string  `json:"message,omitempty"` // the host's words for it
}

const typedCorpusFile = "../../base/typed/testdata/typed.json"

// corpusTypes are the handlers of the corpus: each returns its one argument.
var corpusTypes = [][2]string{
	{"int", "int"}, {"u8", "u8"}, {"u16", "u16"}, {"u32", "u32"}, {"u64", "u64"}, {"amount", "Amount"}, {"flag", "bool"}, {"text", "str"},
	{"short", "Annotated[str, Bounds(1, 4)]"}, {"percent", "Annotated[int, Bounds(-100, 100)]"}, {"data", "bytes"}, {"who", "Address"},
	{"hash", "Hash"}, {"maybe", "str | None"}, {"many", "list[u32]"}, {"pair", "tuple[str, bool]"}, {"counts", "dict[str, u8]"},
	{"ids", "dict[int, bool]"}, {"holders", "dict[Address, Amount]"}, {"member", "Member"}, {"members", "list[Member]"}, {"kind", "Kind"},
	{"level", "Level"}, {"nested", "list[dict[str, list[Member | None]]]"},
}

const corpusHead = `
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Annotated
from cowboy_sdk import actor, public, u8, u16, u32, u64, Amount, Address, Hash, Bounds

class Kind(Enum):
    GOOD = "good"
    BAD = "bad \u2028"

class Level(IntEnum):
    LOW = -1
    HIGH = 10

@dataclass
class Member:
    who: Address
    paid: Amount
    note: str | None = None

@actor
class Echo:
`

func echoSource(types [][2]string) string {
	source := corpusHead
	for _, t := range types {
		source += fmt.Sprintf("    @public\n    def %s(self, v: %s) -> %s:\n        return v\n", t[0], t[1], t[1])
	}
	return source
}

// corpusPayloads are the values of v, by handler.
var corpusPayloads = []string{
	`int 0`, `int "0"`, `int -5`, `int "-5"`, `int 9007199254740991`, `int 9007199254740992`, `int "9007199254740993"`, `int "-0"`, `int -0`,
	`int "007"`, `int 1.0`, `int 1e3`, `int "1e3"`, `int NaN`, `int Infinity`, `int true`, `int null`, `int []`, `int {}`, `int ""`, `int "+1"`,
	`int " 1"`, `int "57896044618658097711785492504343953926634992332820282019728792003956564819967"`,
	`int "57896044618658097711785492504343953926634992332820282019728792003956564819968"`,
	`int "-57896044618658097711785492504343953926634992332820282019728792003956564819968"`, `int "١"`,
	`u8 0`, `u8 255`, `u8 256`, `u8 -1`, `u8 "7"`, `u16 65535`, `u16 65536`, `u32 4294967295`, `u32 4294967296`, `u64 "18446744073709551615"`,
	`u64 "18446744073709551616"`, `u64 5`, `amount 5`, `amount "5"`, `amount -1`,
	`amount "115792089237316195423570985008687907853269984665640564039457584007913129639935"`,
	`amount "115792089237316195423570985008687907853269984665640564039457584007913129639936"`,
	`amount "1157920892373161954235709850086879078532699846656405640394575840079131296399360"`,
	`flag true`, `flag false`, `flag 1`, `flag "true"`, `text ""`, `text "hé 𝔸 \u2028\u00e9\ud835\udd38"`, `text "a\"\\\/\b\f\n\r\t\u0001\u007f"`,
	`text "\ud800"`, `text "\udc00\ud800"`, `text 5`, `text null`, `short "a"`, `short ""`, `short "𝔸𝔸𝔸𝔸"`, `short "abcde"`,
	`percent 100`, `percent "-100"`, `percent 101`, `data "0x"`, `data "0x00FFab"`, `data "0x0"`, `data "00"`, `data "0xg0"`, `data "0x 0"`,
	`who "0x00112233445566778899aabbccddeeff00112233"`, `who "0x00112233445566778899AABBCCDDEEFF00112233"`,
	`who "0x00112233445566778899aabbccddeeff001122"`, `who "bob"`, `who 5`,
	`hash "0x00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"`, `hash "0x00"`,
	`maybe null`, `maybe "x"`, `maybe 5`, `many []`, `many [1,"2",3]`, `many [1,-1]`, `many [1,[2]]`, `many {}`, `many [1,]`, `many [1 2]`,
	`pair ["a",true]`, `pair ["a"]`, `pair ["a",true,1]`, `pair ["a",1]`, `counts {}`, `counts {"b":1,"a":2,"𝔸":3,"ﬀ":4}`, `counts {"a":1,"a":2}`,
	`counts {"a":256}`, `counts {"a b":null}`, `ids {"1":true,"-5":false}`, `ids {"01":true}`, `ids {"x":true}`,
	`holders {"0x00112233445566778899aabbccddeeff00112233":5}`,
	`holders {"0x00112233445566778899aabbccddeeff00112233":5,"0x00112233445566778899AABBCCDDEEFF00112233":6}`,
	`member {"who":"0x00112233445566778899aabbccddeeff00112233","paid":5}`,
	`member {"note":"n","paid":"7","who":"0x00112233445566778899aabbccddeeff00112233"}`, `member {"paid":5}`,
	`member {"who":"0x00112233445566778899aabbccddeeff00112233","paid":5,"x":1}`,
	`member {"who":"0x00112233445566778899aabbccddeeff00112233","paid":5,"paid":5}`,
	`member {"who":"0x00112233445566778899aabbccddeeff00112233","paid":true}`, `member []`, `member null`,
	`members [{"who":"0x00112233445566778899aabbccddeeff00112233","paid":5},{"who":"0x","paid":5}]`,
	`members [{"who":"0x00112233445566778899aabbccddeeff00112233","paid":1.5}]`,
	`kind "good"`, `kind "bad \u2028"`, `kind "GOOD"`, `kind 1`, `level 10`, `level -1`, `level "10"`, `level 0`,
	`nested [{"a":[null,{"who":"0x00112233445566778899aabbccddeeff00112233","paid":5}]}]`, `nested [{"a":[null,{"who":"0x00"}]}]`,
	`nested [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]`,
}

// whole are payloads other than an object with v.
var corpusWhole = []string{``, `{}`, ` { "v" : 5 } `, `{"v":5}x`, `[5]`, `5`, `null`, `{"v":5,"w":1}`, `{"v":5,"v":5}`, `{"v":`, `{v:5}`, `{'v':5}`,
	"{\"v\":\"a\nb\"}", "\xa1\x61v\x05", "\xff", "\xef\xbb\xbf{\"v\":5}", `{"v":5,}`, `{"v":[[[[[[[[[[[[[[[[5]]]]]]]]]]]]]]]]}`}

func corpusCases() (cases []typedCase) {
	for _, text := range corpusPayloads {
		handler, value, _ := strings.Cut(text, " ")
		cases = append(cases, typedCase{Handler: handler, Payload: `{"v":` + value + `}`})
	}
	for _, payload := range corpusWhole {
		cases = append(cases, typedCase{Handler: "int", Payload: payload})
	}
	return cases
}

// The corpus is what the host says, on every Python.
func TestTypedValuesAreThoseOfTheCorpus(t *testing.T) {
	w := worldOn(t, shared)
	at := w.deploy(1, echoSource(corpusTypes))
	found, err := w.session.Inspect(w.actors[at].code)
	if err != nil {
		t.Fatal(err)
	}
	got := typedCorpus{Schema: found.Schema}
	for _, c := range corpusCases() {
		out, _ := w.call(t, at, c.Handler, c.Payload)
		if out.Status == types.StatusOK {
			wire := string(out.Output)
			c.Wire = &wire
		} else if out.Fault.Code != "bad_argument" {
			t.Errorf("%s %s: %s: %s", c.Handler, c.Payload, out.Fault.Code, out.Fault.Message)
		} else {
			path := pathOf(out.Fault.Message)
			c.Path, c.Message = &path, out.Fault.Message
		}
		if !validJSONText(c.Payload) {
			c.Payload = "0x" + fmt.Sprintf("%x", c.Payload)
		}
		got.Cases = append(got.Cases, c)
	}
	data, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(typedCorpusFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(typedCorpusFile, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(typedCorpusFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(data) {
		t.Errorf("%s is another: go test ./internal/environment/pyhost -run TypedValues -rewrite", typedCorpusFile)
	}
}

// pathOf is the path that a refusal begins with: nothing of the whole payload.
func pathOf(message string) string {
	word, _, _ := strings.Cut(message, " ")
	if word == "the" {
		return ""
	}
	return word
}

// validJSONText reports whether JSON can contain a payload as text.
func validJSONText(s string) bool {
	return strings.ToValidUTF8(s, "") == s && !strings.HasPrefix(s, "\xef\xbb\xbf")
}

// typedGen makes types and values of them at random, and writes values in the one form
// without the host.
type typedGen struct {
	*rand.Rand
}

// shape is a type: how Python writes it, a value of it as JSON in some form, and in the one.
type shape struct {
	python string
	make   func() (given, wire string)
	wrong  func() string // a value that does not fit
}

func (g *typedGen) digits(bits int, signed bool) string {
	n := new(big.Int)
	for range bits/32 + 1 {
		n.Lsh(n, 32).Or(n, big.NewInt(int64(g.Uint32())))
	}
	n.Mod(n, new(big.Int).Lsh(big.NewInt(1), uint(1+g.IntN(bits))))
	if signed && g.IntN(2) == 0 {
		n.Neg(n)
	}
	return n.String()
}

func (g *typedGen) integer(name string, bits int, signed, quoted bool) shape {
	return shape{name, func() (string, string) {
		d := g.digits(bits, signed)
		wire := d
		if quoted {
			wire = `"` + d + `"`
		}
		if n, _ := new(big.Int).SetString(d, 10); n.BitLen() <= 53 && g.IntN(2) == 0 && n.CmpAbs(big.NewInt(1<<53-1)) <= 0 {
			return d, wire
		}
		return `"` + d + `"`, wire
	}, func() string {
		return []string{"1.5", "null", `"x"`, "true", "{}", `"` + new(big.Int).Lsh(big.NewInt(1), uint(bits)).String() + `"`}[g.IntN(6)]
	}}
}

func (g *typedGen) text() shape {
	return shape{"str", func() (string, string) {
		var runes []rune
		for range g.IntN(8) {
			runes = append(runes, []rune("ab\"\\\n\x01é\u2028𝔸/\x7f")[g.IntN(11)])
		}
		return mustJSON(string(runes)), oneText(string(runes))
	}, func() string { return []string{"5", "null", "[]", `"\ud800"`}[g.IntN(4)] }}
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// oneText is the one form of a text.
func oneText(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			out.WriteString("\\" + string(r))
		case '\n':
			out.WriteString(`\n`)
		case 1:
			out.WriteString(`\u0001`)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func (g *typedGen) binary(name string, size int) shape {
	return shape{name, func() (string, string) {
		n := size
		if n == 0 {
			n = g.IntN(5)
		}
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(g.Uint32())
		}
		wire := fmt.Sprintf(`"0x%x"`, data)
		if g.IntN(2) == 0 {
			return fmt.Sprintf(`"0x%X"`, data), wire
		}
		return wire, wire
	}, func() string { return []string{`"0x0"`, `"zz"`, "5", "null"}[g.IntN(4)] }}
}

func (g *typedGen) atom() shape {
	switch g.IntN(9) {
	case 0:
		return g.integer("int", 255, true, true)
	case 1:
		return g.integer("u8", 8, false, false)
	case 2:
		return g.integer("u32", 32, false, false)
	case 3:
		return g.integer("u64", 64, false, true)
	case 4:
		return g.integer("Amount", 256, false, true)
	case 5:
		return shape{"bool", func() (string, string) {
			b := []string{"true", "false"}[g.IntN(2)]
			return b, b
		}, func() string { return []string{"0", `"true"`, "null"}[g.IntN(3)] }}
	case 6:
		return g.binary("bytes", 0)
	case 7:
		return g.binary("Address", 20)
	}
	return g.text()
}

// shape is a type at random.
func (g *typedGen) shape(depth int) shape {
	if depth == 0 {
		return g.atom()
	}
	inner := g.shape(depth - 1)
	switch g.IntN(5) {
	case 0:
		if strings.HasSuffix(inner.python, "None") {
			return inner
		}
		return shape{inner.python + " | None", func() (string, string) {
			if g.IntN(3) == 0 {
				return "null", "null"
			}
			return inner.make()
		}, func() string { return `{"no":"type of these"}` }}
	case 1:
		return shape{"list[" + inner.python + "]", func() (string, string) { return g.many("[", "]", "", inner) },
			func() string { return "[" + inner.wrong() + "]" }}
	case 2:
		other := g.atom()
		return shape{"tuple[" + inner.python + ", " + other.python + "]", func() (string, string) {
			a, b := inner.make()
			c, d := other.make()
			return "[ " + a + " ," + c + "]", "[" + b + "," + d + "]"
		}, func() string { return "[1]" }}
	case 3:
		return shape{"dict[str, " + inner.python + "]", func() (string, string) { return g.many("{", "}", "k", inner) },
			func() string { return `{"k":` + inner.wrong() + `}` }}
	}
	return inner
}

func (g *typedGen) many(open, end, key string, of shape) (given, wire string) {
	var all, ones []string
	for i := range g.IntN(4) {
		a, b := of.make()
		if key != "" {
			k := fmt.Sprintf(`"%s%d":`, key, i)
			a, b = k+a, k+b
		}
		all, ones = append(all, a), append(ones, b)
	}
	if key != "" {
		slices.Reverse(all)
	}
	return open + strings.Join(all, " , ") + end, open + strings.Join(ones, ",") + end
}

// A thousand calls of random types return in the one form, and with one wrong value are
// refused before the actor runs.
func TestAThousandTypedCallsComeBack(t *testing.T) {
	const seed, actors, calls = 41, 25, 40
	g := &typedGen{rand.New(rand.NewPCG(seed, 1))}
	w := worldOn(t, shared)
	for n := range actors {
		var all []shape
		var named [][2]string
		for i := range 4 {
			all = append(all, g.shape(g.IntN(4)))
			named = append(named, [2]string{fmt.Sprintf("f%d", i), all[i].python})
		}
		at := w.deploy(byte(1+n), echoSource(named))
		for range calls {
			i := g.IntN(len(all))
			given, wire := all[i].make()
			out, _ := w.call(t, at, named[i][0], `{"v":`+given+`}`)
			if out.Status != types.StatusOK || string(out.Output) != wire {
				t.Fatalf("seed %d: %s of %s: %v %q, want %q", seed, given, all[i].python, out.Fault, out.Output, wire)
			}
			wrong := all[i].wrong()
			out, _ = w.call(t, at, named[i][0], `{"v":`+wrong+`}`)
			if out.Status != types.StatusReverted || out.Fault.Code != "bad_argument" || !strings.HasPrefix(out.Fault.Message, "v") {
				t.Fatalf("seed %d: %s of %s: %s %v", seed, wrong, all[i].python, out.Status, out.Fault)
			}
		}
	}
}

const memberClub = `
from dataclasses import dataclass
from cowboy_sdk import actor, public, u64, List, Map
@dataclass
class Row:
    n: int
    tags: list[str]
@actor
class Books:
    total: int = 7
    rows: List[Row]
    by: Map[str, int] = Map(default=0)
    best: Row | None = None
    @public
    def add(self, n: int):
        self.total += n
    @public
    def push(self, n: int) -> int:
        self.rows.append(Row(n, []))
        return len(self.rows)
    @public
    def tag(self, i: int, tag: str):
        self.rows[i].tags.append(tag)
    @public
    def pop(self) -> int:
        return self.rows.pop().n
    @public
    def put(self, k: str, n: int):
        self.by[k] += n
    @public
    def drop(self, k: str):
        del self.by[k]
    @public
    def fail(self, n: int):
        self.total = n
        self.by["x"] = n
        self.rows.append(Row(n, []))
        raise ValueError("undone")
    @public
    def all(self) -> tuple[int, list[Row], list[tuple[str, int]]]:
        return self.total, [r for r in self.rows], [(k, self.by[k]) for k in ("a", "b", "x") if k in self.by]
`

// Typed state behaves as a Go model of it, over calls that fail too.
func TestTypedStateIsThatOfAModel(t *testing.T) {
	const seed = 7
	g := rand.New(rand.NewPCG(seed, 2))
	w := worldOn(t, shared)
	at := w.deploy(1, memberClub)
	type row struct {
		n    int
		tags []string
	}
	total, rows, by := 7, []row{}, map[string]int{}
	do := func(handler, payload string) program.Outcome {
		out, _ := w.call(t, at, handler, payload)
		return out
	}
	for step := range 300 {
		n, k := g.IntN(100)-50, string("ab"[g.IntN(2)])
		switch handler := []string{"add", "push", "tag", "pop", "put", "drop", "fail"}[g.IntN(7)]; handler {
		case "add":
			do(handler, fmt.Sprintf(`{"n":%d}`, n))
			total += n
		case "push":
			do(handler, fmt.Sprintf(`{"n":%d}`, n))
			rows = append(rows, row{n: n})
		case "tag":
			i := g.IntN(len(rows) + 1)
			out := do(handler, fmt.Sprintf(`{"i":%d,"tag":"t%d"}`, i, n))
			if ok := out.Status == types.StatusOK; ok != (i < len(rows)) {
				t.Fatalf("seed %d, step %d: tag %d of %d: %v", seed, step, i, len(rows), out.Fault)
			} else if ok {
				rows[i].tags = append(rows[i].tags, fmt.Sprintf("t%d", n))
			}
		case "pop":
			if out := do(handler, ""); (out.Status == types.StatusOK) != (len(rows) > 0) {
				t.Fatalf("seed %d, step %d: pop of %d: %v", seed, step, len(rows), out.Fault)
			} else if len(rows) > 0 {
				rows = rows[:len(rows)-1]
			}
		case "put":
			do(handler, fmt.Sprintf(`{"k":"%s","n":%d}`, k, n))
			by[k] += n
		case "drop":
			out := do(handler, fmt.Sprintf(`{"k":"%s"}`, k))
			if _, there := by[k]; there != (out.Status == types.StatusOK) {
				t.Fatalf("seed %d, step %d: drop %s: %v", seed, step, k, out.Fault)
			}
			delete(by, k)
		case "fail":
			do(handler, fmt.Sprintf(`{"n":%d}`, n))
		}
		var shown, kept []string
		for _, r := range rows {
			tags := []string{}
			for _, tag := range r.tags {
				tags = append(tags, `"`+tag+`"`)
			}
			shown = append(shown, fmt.Sprintf(`{"n":"%d","tags":[%s]}`, r.n, strings.Join(tags, ",")))
		}
		for _, key := range []string{"a", "b"} {
			if v, there := by[key]; there {
				kept = append(kept, fmt.Sprintf(`["%s","%d"]`, key, v))
			}
		}
		want := fmt.Sprintf(`["%d",[%s],[%s]]`, total, strings.Join(shown, ","), strings.Join(kept, ","))
		if got := do("all", ""); string(got.Output) != want {
			t.Fatalf("seed %d, step %d: %s (%v), want %s", seed, step, got.Output, got.Fault, want)
		}
	}
}

// Each is refused at deploy, with its line and a reason.
func TestTypedCodeIsRefusedAtDeploy(t *testing.T) {
	w := worldOn(t, shared)
	const head = "from cowboy_sdk import actor, public, Map, List\nfrom dataclasses import dataclass\nfrom typing import Any\n" +
		"@dataclass\nclass Loop:\n    x: list[Loop]\n@actor\nclass A:\n    n: int = 0\n    m: Map[str, int]\n" // ten lines
	for body, want := range map[string]string{
		"    @public\n    def f(self, x: float): pass":     "line 12: float is no type",
		"    @public\n    def f(self, x: Any): pass":       "line 12: Any is no type",
		"    @public\n    def f(self, x: int | str): pass": "line 12: a union of several types",
		"    @public\n    def f(self, x: set): pass":       "line 12: set is no type",
		"    @public\n    def f(self, *x: int): pass":      "line 12: f takes *, ** or / arguments",
		"    @public\n    def f(self, **x: int): pass":     "line 12: f takes *, ** or / arguments",
		"    @public\n    def f(self, x: int, y): pass":    "line 12: f is annotated in part: y has no type",
		"    @public\n    def f(self, x, y): pass":         "line 12: f cannot be called",
		"    @public\n    def f(self, x: Loop): pass":      "line 6: Loop has itself within it",
		"    @public\n    def f(self, ä: int): pass":       "line 12: an argument of f is called ä",
		"    @public\n    def f(self, _x: int): pass":      "line 12: an argument of f is called _x",
		"    @public\n    def f(self, x: int = g()): pass": "line 12: a default is written out",
		"    @public\n    def f(self, x: int = 'a'): pass": "line 12: the default is an integer",
		"    @public\n    def f(self, x: list): pass":      "line 12: list of what",
		"    @public\n    def f(self): self.total = 5":     "line 12: self.total ends with the message",
		"    @public\n    def f(self): self.total += 5":    "line 12: self.total ends with the message",
		"    @public\n    def f(self): self.m = {}":        "line 12: self.m is a Map",
		"    @public\n    def f(self): A.n = 1":            "line 12: A.n is state of an instance",
		"    def __init__(self): self.n = 1":               "line 11: self.n is state, and __init__ runs for each message",
		"    def f(self): pass\n    def f(self): pass":     "line 12: a second method f",
		"    def address(self): pass":                      "line 11: address cannot be called",
		"    x: set":                                       "line 11: set is no type",
		"    x: Map[bytes, int]":                           "line 11: the keys of a Map",
		"    storage: int = 0":                             "line 11: the attribute storage has the name",
	} {
		_, err := w.session.Inspect(codeOf(head + body + "\n"))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", body, err, want)
		}
	}
	for _, body := range []string{"    @public\n    def f(self): self._total = 5", "    def __init__(self): self.total = 5",
		"    def helper(self, x: float, y: set): pass", "    @public\n    def f(self, payload: bytes) -> bytes: return payload"} {
		if _, err := w.session.Inspect(codeOf(strings.Replace(head, "list[Loop]", "int", 1) + body + "\n")); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A wrong argument is refused before the module runs: it costs less than that.
func TestAWrongArgumentIsPaidAndRunsNothing(t *testing.T) {
	w := worldOn(t, shared)
	at := w.deploy(1, echoSource(corpusTypes))
	_, good := w.call(t, at, "u8", `{"v":5}`)
	out, used := w.call(t, at, "u8", `{"v":500}`)
	if out.Fault == nil || out.Fault.Code != "bad_argument" || used == 0 || used > good/5 {
		t.Errorf("%v for %d cycles; a good call takes %d", out.Fault, used, good)
	}
}
