package main

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/pyhost"
)

// foundByOwnTests are what CPython's own tests found first, with their relatives.
var foundByOwnTests = []sequence{
	{"bytearray(b'xyz')", []string{`re.sub(b"y", b"a", q)`, `re.sub(b"q", b"a", q)`, `re.subn(b"y", b"a", q)`,
		`re.sub(b"y", bytearray(b"a"), q)`,
		`re.split(b"y", q)`, `re.findall(b"y", q)`, `re.search(b"y", q).group()`, `re.compile(b"y").sub(b"", q)`}},
	{"1", []string{"Slotted()", "Slotted(1)", "Slotted(1, 2).y", "Slotted(x=1, y=2)", "Slotted(1, 2) == Slotted(1, 2)"}},
	{"1", []string{"dataclasses.fields(Point)[0].name", "dataclasses.fields(Point)[0].type"}},
	{"[3, 1, 2]", []string{"heapq.heappush(q, 0)", "heapq.heappop(q)", "heapq.heapreplace(q, 9)", "heapq.heappushpop(q, 0)",
		"heapq.heapify(q)"}},
	{"1", []string{"on_contents(typing.Mapping)"}},
	{"1", []string{"on_contents(typing.List[int])"}},
	{"1", []string{"on_contents(typing.Generic[typing.TypeVar('T')])"}},
	{"[]", []string{"heapq.heappop(q)", "heapq.heapreplace(q, 1)", "heapq.heappushpop(q, 1)", "heapq.heapify(q)", "heapq.heappush(q, 1)"}},
	{"[Grows(3), Grows(1)]", []string{"heapq.heappush(q, Grows(0, q))"}},
	{"[Grows(3), Grows(1)]", []string{"heapq.heappushpop(q, Grows(9, q))"}},
	{"[Grows(3), Grows(1), Grows(2)]", []string{"heapq.heapreplace(q, Grows(9, q))"}},
	{"bytearray(b',')", []string{"q.join([b'a', b'b'])", "q.join(emptied(q))", "q", "q.join(iter([b'a']))"}},
	{"1", []string{"bytes(Index(3))", "bytearray(Index(2))", "bytes(Index(-1))", "bytes([Index(65), 66])", "bytes([Index(300), Index(1)])",
		"bytes([Index(1), 'a'])", "bytes([True, Num.TWO, 3])", "bytes((Index(65), 66))", "bytes(Index('a'))", "bytes([1, 256])"}},
	{"1", []string{"bytes(Bytes(b'ab'))", "bytearray(Bytes(b'ab'))", "bytes(Bytes(3))", "bytes(Bytes([1]))",
		"int.from_bytes(Bytes(b'ab'), 'big')",
		"int.from_bytes(Bytes(7), 'big')", "int.from_bytes([1, 2], 'big')", "int.from_bytes(5, 'big')"}},
	{"1", []string{"changing(bytes, lambda q: q.clear(), 2)", "changing(bytearray, lambda q: q.clear(), 2)",
		"changing(bytes, lambda q: len(q) < 9 and q.append(q[0]), 1)", "changing(bytearray, lambda q: len(q) < 9 and q.append(q[0]), 1)",
		"changing(bytes, lambda q: q.append(300), 1)"}},
	{"Loose(1)", []string{"getattr(q, 1)"}},
	{"Loose(1)", []string{"getattr(q, S('a'))", "getattr(q, S('zz'), 3)", "hasattr(q, Word.HELLO)", "setattr(q, Word.HELLO, 2)", "q.hello",
		"delattr(q, S('hello'))", "delattr(q, S('hello'))", "operator.attrgetter(S('a'))(q)"}},
	{"list[int]", []string{"q == list[int]", "q == list[str]", "q != list[str]", "q == list", "q is list", "q([1])", "str(q)",
		"{q: 1}[list[int]]",
		"[q].index(list[int])", "dict[str, q]", "tuple[int, ...]", "collections.deque[Point]", "set[None]", "list[list[int]] == list[q]",
		"q | None == None | q", "functools.reduce(operator.or_, [q, str]) == str | q", "callable(q)"}},
	{"1", []string{"int[3]", "str[str]", "range[int]", "bool[1]", "list[int]"}},
	{"1", []string{"isinstance([], list[int])"}},
	{"1", []string{"issubclass(list, list[int])"}},
	{"1", []string{"isinstance([], int | list[int])"}},
	{"1", []string{"isinstance(1, (str, list[int]))"}},
	{"int | str", []string{"q == int | str", "q == str | int", "q == int | bytes", "q != int | bytes", "{q: 1}[str | int]",
		"isinstance('a', q)",
		"q == int", "q | int == q", "str(q)", "int | int is int", "str | None", "int | list[str] | None | int", "(q | Point) == (Point | q)",
		"isinstance(None, q | None)", "None | q"}},
	{"1", []string{"7 | (int | str)", "int | 7", "(int | str) | 7", "int | (str, int)", "(str,) | (int | str)", "list[int] | 7",
		"7 | list[int]", "'x' | (int | str)", "int | 'x'", "True | (int | None)", "[] | (int | str)", "(int | str) | {}",
		"{} | list[int]", "Loose(1) | int", "None | (int | str)", "(int | str) | None", "operator.or_(1 << 999, int | str)",
		"functools.reduce(operator.or_, [int, 7])"}},
	{"Row(1)", []string{"isinstance(q, Has)"}},
	{"Row(1)", []string{"issubclass(Row, Has)"}},
	{"Row(1)", []string{"issubclass(Row, (int, Has))"}},
	{"Row(1)", []string{"matched(q)"}},
	{"1", []string{"typing.List[int] == typing.List[str]"}},
	{"1", []string{"typing.NoReturn != typing.Never"}},
	{"1", []string{"{typing.Any: 1, typing.Never: 2}"}},
	{"1", []string{"list[typing.Any] == list[typing.Never]"}},
	{"1", []string{"callable(int | typing.List[int])", "isinstance(typing.cast(typing.List[int], [1]), list)"}},
	{"Perm", []string{"str(q)", "[q, Bits, Colour, Num, Word]", "f'{q}'", "f'{Colour}'"}},
	{"1", []string{"type('A', (), {})"}},
	{"1", []string{"struct.unpack('b', 0)"}},
	{"Told('a')", []string{"str(q)", "repr(q)", "f'{q}'", "'%s' % q", "[q]", "ascii(Told('\u00e9'))"}},
	{"Told(S('a'))", []string{"str(q)"}},
	{"1", []string{"collections.defaultdict(min)"}},
	{"1", []string{"collections.defaultdict(operator.itemgetter(1))"}},
	{"1", []string{"collections.defaultdict(int)", "collections.defaultdict(list)"}},
	{"S('sub')", []string{"format(q, 's')", "format(q, '<')", "f'{q:s}'", "f'{q:<2}'", "f'{q:<9}'", "format(q, '.2')", "format(q, '')",
		"'{:s}'.format(q)", "'{0:s}{1}'.format(q, '')", "'{1}{0:s}'.format(q, '')", "'{:s} '.format(q)",
		"'%s' % q", "format(Word.HELLO, 's')", "f'{Word.HELLO:s}'", "type(f'{q:s}') is S"}},
	{"b'k'", []string{"hmac.new(q, b'm', hashlib.sha256).hexdigest()", "hmac.new(q, b'm', 'sha3_256').hexdigest()"}},
	{"Told(Word.HELLO)", []string{"[q]", "f'{q} {q}'", "str(q) == 'hello'", "ascii(q)"}},
}

// refusedInOrder are calls of which several arguments may be wrong: the first that CPython looks at names the error. q is 5.
var refusedInOrder = []string{
	"itertools.islice(q, -1)", "itertools.islice(q, 0, 1, 0)", "itertools.islice(q, 2)", "itertools.islice(q, 'a', 1)",
	"itertools.tee(q, -1)", "itertools.tee(q, 0)", "itertools.tee(q)", "collections.deque(q, -1)", "heapq.nsmallest('a', q)",
	"heapq.nlargest(None, q)", "enumerate(q, 'a')", "itertools.accumulate(q, 7)", "itertools.repeat(q, 'a')",
	"itertools.combinations(q, -1)", "itertools.combinations(q, 'a')", "itertools.permutations(q, 'a')",
	"itertools.product(q, repeat=-1)", "itertools.zip_longest(q, q)", "zip(q, strict=1)", "map(q, q)", "filter(q, q)",
	"itertools.cycle(q)", "itertools.chain(q)", "itertools.takewhile(q, q)", "functools.reduce(q, q)", "functools.reduce(q, [])",
	"sorted(q, key=q)", "sum(q, 'a')", "min(q, key=q)", "max(q, default=q)", "dict.fromkeys(q, q)", "set(q)", "bytes([q], 'a')",
	"list(itertools.islice([1, 2, 3], 1, None, 2))", "[list(i) for i in itertools.tee([1, 2])]",
}

// notChanged are values whose items cannot be set: CPython looks at a number that is no index before it says so.
var notChanged = []string{"'ab'", "b'a'", "(1,)", "range(3)", "{1}", "frozenset({1})", "{}.keys()", "{1: 2}.values()", "5", "None", "True",
	"Pair(1, [2])", "Own(1)", "iter([])", "S('a')", "I(1)", "zip()", "Row(1)", "Num.ONE", "D(1)", "len", "int"}

// Decision C22: an error is that of the argument which CPython looks at first. The last generated check that differed was the
// first of these, among 100,000.
func TestC22ArgumentsAreJudgedInOrder(t *testing.T) {
	var all []sequence
	for _, call := range refusedInOrder {
		all = append(all, sequence{"5", []string{call}})
	}
	for _, value := range notChanged {
		for _, key := range []string{"2**64", "-2**63 - 1", "1", "'a'", "True"} {
			all = append(all, sequence{value, []string{"; q[" + key + "] = 1"}}, sequence{value, []string{"; del q[" + key + "]"}})
		}
	}
	for _, call := range []string{`re.sub("c$", "\\2", q)`, `re.sub("c", "a", q)`, `re.sub("c", q, "c")`, `re.sub("(", "\\2", q)`,
		`re.compile("x").subn("\\9", q, 4)`, `re.sub(q, q, q)`, `re.sub("a", "\\q", q)`, `re.sub("a", b"\\1", q)`} {
		all = append(all, sequence{"[1]", []string{call}})
	}
	found, err := judgeSequences(firstInstalled(t), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found.silent {
		t.Error(s)
	}
	t.Log(found.refused)
}

// Decision C22: the name of a function of ours is CPython's, or is refused: what is behind it has names of its own.
func TestC22FunctionsBearTheNamesOfPython(t *testing.T) {
	var all []sequence
	for _, function := range []string{"str.join", "bytes.hex", "list.append", "dict.get", "dict.fromkeys", "int.from_bytes", "bytes.fromhex",
		"str.maketrans", "min", "max", "sum", "sorted", "print", "divmod", "len", "getattr", "iter", "pow", "round", "[].append",
		"'a'.join", "{}.update", "itertools.islice", "itertools.chain", "itertools.chain.from_iterable", "itertools.cycle",
		"itertools.combinations", "functools.reduce", "functools.cmp_to_key", "functools.partial(min)", "functools.partial",
		"operator.itemgetter", "operator.itemgetter(1)", "operator.attrgetter('a')", "operator.methodcaller('a')", "operator.add",
		"operator.lt", "abc.abstractmethod", "json.dumps", "json.loads", "re.compile", "re.sub", "re.compile('a').match", "math.gcd",
		"math.isqrt", "heapq.heappush", "heapq.merge", "bisect.bisect_left", "collections.namedtuple", "collections.Counter",
		"collections.deque([]).append", "dataclasses.dataclass", "dataclasses.replace", "hashlib.sha256", "hashlib.sha3_256",
		"hashlib.blake2b", "hashlib.new", "struct.pack",
		"base64.b64encode", "string.capwords", "enum.auto",
		"enum.unique", "Decimal(1).quantize", "Point(1, 2).__init__", "Num.ONE.__add__"} {
		all = append(all, sequence{"1", []string{function + ".__name__"}})
	}
	found, err := judgeSequences(firstInstalled(t), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found.silent {
		t.Error(s)
	}
	t.Log(found.refused)
}

// Decision C22: what CPython's own tests found stays found.
func TestC22WhatOwnTestsFound(t *testing.T) {
	found, err := judgeSequences(firstInstalled(t), foundByOwnTests)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found.silent {
		t.Error(s)
	}
	wanted := map[string]int{"an attribute": 1 /* the type of a field */, "a class on a built-in type": 2, "a class by a call": 1,
		"a native size": 1, "a Protocol": 4, "a name of typing": 4, "a text": 2 /* of a function */}
	if keepsNoSeparator(found.version) {
		wanted["other: BufferError: "] = 1
	}
	if !maps.Equal(found.refused, wanted) {
		t.Errorf("refused are %v", found.refused)
	}
}

// keepsNoSeparator reports whether a CPython lets a bytearray change while it is what its join puts between: the versions before
// 3.11.7, and 3.12.0 (python/cpython#112625). The host refuses that on each, as later ones do.
func keepsNoSeparator(version string) bool {
	switch pyhost.Minor(version) {
	case "3.11":
		patch, err := strconv.Atoi(strings.TrimPrefix(version, "3.11."))
		return err == nil && patch < 7
	case "3.12":
		return version == "3.12.0"
	}
	return false
}
