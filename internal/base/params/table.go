package params

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Type is how a parameter's value is written.
type Type string

// The types of values.
const (
	Integer Type = "integer" // of 64 bits, unsigned
	Amount  Type = "amount"  // in wei, of 256 bits, unsigned; a decimal integer
	Flag    Type = "flag"    // true or false
	Word    Type = "word"    // one of Words
)

// Info describes one parameter to people and tools.
type Info struct {
	Key     string   `json:"key"`
	Class   Class    `json:"class"`
	Tier    string   `json:"tier,omitempty"` // of governance, as a draft names it (decision G1)
	Type    Type     `json:"type"`
	Default string   `json:"default"`
	Min     string   `json:"min,omitempty"` // inclusive; of integers and amounts
	Max     string   `json:"max,omitempty"` // inclusive
	Words   []string `json:"words,omitempty"`
	// Later says that chains of the oldest format lack it. State holds it only if it is not its
	// default, so that the root of an old genesis stays (decision C12).
	Later bool `json:"-"`
	// Begins is the value that a new genesis states; "": none, and it has the default.
	Begins string `json:"-"`
}

// entry is a parameter and where Params holds it.
type entry struct {
	Info
	field    int
	min, max types.Wei // of integers and amounts
}

// table is all parameters, and their defaults.
type table struct {
	entries  []entry        // sorted by key
	byKey    map[string]int // positions in entries
	defaults Params
}

// readTable builds the table from the tags when it is first asked for. A tag that cannot
// be read, or a default out of its range, stops the program there. So does a change of what
// homes of the oldest format were made with.
var readTable = memo.OnNeed(func() *table {
	fields, first := reflect.TypeFor[Params](), firstDefaults(oldest)
	t := &table{entries: make([]entry, 0, fields.NumField())}
	for i := range fields.NumField() {
		e := newEntry(fields.Field(i), i)
		e.Later = !first.takeKey(&e)
		t.entries = append(t.entries, e)
	}
	if len(first) > 0 {
		panic(fmt.Sprintf("params: homes of the oldest format were made with parameters that are gone: %v", first))
	}
	t.indexKeys()
	for i := range t.entries {
		e := &t.entries[i]
		if !e.setFrom(&t.defaults, e.Default) {
			panic(fmt.Sprintf("params: the default is refused: %v", e.refuseValue(e.Default)))
		}
		if with := t.defaults; e.Begins != "" && !e.setFrom(&with, e.Begins) {
			panic(fmt.Sprintf("params: new chains begin with %s = %q, which is refused", e.Key, e.Begins))
		}
	}
	return t
})

// readEntries is the entries of the table.
func readEntries() []entry { return readTable().entries }

// indexKeys sorts the table, and enters its keys.
func (t *table) indexKeys() {
	slices.SortFunc(t.entries, func(a, b entry) int { return strings.Compare(a.Key, b.Key) })
	t.byKey = make(map[string]int, len(t.entries))
	for i := range t.entries {
		if _, taken := t.byKey[t.entries[i].Key]; taken {
			panic(fmt.Sprintf("params: two fields are %s", t.entries[i].Key))
		}
		t.byKey[t.entries[i].Key] = i
	}
}

func newEntry(f reflect.StructField, index int) entry {
	e := entry{field: index, Info: Info{Key: f.Tag.Get("param"), Class: Class(f.Tag.Get("class")), Default: f.Tag.Get("default")}}
	if group, name, found := strings.Cut(e.Key, "."); !found || group == "" || name == "" {
		panic(fmt.Sprintf("params: field %s has the key %q, not <group>.<name>", f.Name, e.Key))
	}
	if e.Class != Genesis && e.Class != NextBlock && e.Class != NextEpoch {
		panic(fmt.Sprintf("params: %s has the class %q", e.Key, e.Class))
	}
	e.Tier = f.Tag.Get("tier")
	e.Begins = f.Tag.Get("begins")
	if e.Class == Genesis {
		e.Tier = TierGenesis
	}
	if !slices.Contains([]string{TierGenesis, Tier0, Tier2, Tier3, TierOf0And2, NoTier}, e.Tier) {
		panic(fmt.Sprintf("params: %s has the tier %q", e.Key, e.Tier))
	}
	switch {
	case f.Type == reflect.TypeFor[types.Wei]():
		e.Type = Amount
		e.readRange(f.Tag, types.MaxWei)
	case f.Type.Kind() == reflect.Uint64:
		e.Type = Integer
		e.readRange(f.Tag, types.WeiOf(1<<64-1))
	case f.Type.Kind() == reflect.Bool:
		e.Type = Flag
	case f.Type.Kind() == reflect.String:
		e.Type = Word
		e.Words = strings.Split(f.Tag.Get("oneof"), ",")
	default:
		panic(fmt.Sprintf("params: %s is a %s, which no parameter is", e.Key, f.Type))
	}
	return e
}

// readRange reads the range, 0 to greatest where the tag does not say.
func (e *entry) readRange(tag reflect.StructTag, greatest types.Wei) {
	e.min, e.max = e.readLimit(tag, "min", types.Wei{}), e.readLimit(tag, "max", greatest)
	if e.max.Less(e.min) || greatest.Less(e.max) {
		panic(fmt.Sprintf("params: %s has the range %s to %s", e.Key, e.min, e.max))
	}
	e.Min, e.Max = e.min.String(), e.max.String()
}

func (e *entry) readLimit(tag reflect.StructTag, name string, otherwise types.Wei) types.Wei {
	text, given := tag.Lookup(name)
	if !given {
		return otherwise
	}
	limit, err := types.ParseWei(text)
	if err != nil {
		panic(fmt.Sprintf("params: %s of %s: %v", name, e.Key, err))
	}
	return limit
}

// Defaults returns every parameter as the specs and decisions define it.
func Defaults() Params { return readTable().defaults }

// Keys describes every parameter, sorted by key.
func Keys() []Info {
	entries := readEntries()
	infos := make([]Info, len(entries))
	for i := range entries {
		infos[i] = entries[i].Info
		infos[i].Words = slices.Clone(infos[i].Words)
	}
	return infos
}

// Lookup describes one parameter. The error of an unknown key names those most
// like it.
func Lookup(key string) (Info, error) {
	e, err := findEntry(key)
	if err != nil {
		return Info{}, err
	}
	info := e.Info
	info.Words = slices.Clone(info.Words)
	return info, nil
}

// StateKey returns the key at actor 0x09 that holds a parameter:
// system:<group>:<name>.
func StateKey(key string) string {
	group, name, _ := strings.Cut(key, ".")
	return "system:" + group + ":" + name
}

func findEntry(key string) (*entry, error) {
	t := readTable()
	if i, known := t.byKey[key]; known {
		return &t.entries[i], nil
	}
	if len(key) > maxKeyBytes {
		key = key[:maxKeyBytes] + "…"
	}
	if likely := nearestKeys(key); len(likely) > 0 {
		return nil, fmt.Errorf("unknown parameter %q; did you mean %s?", key, strings.Join(likely, " or "))
	}
	return nil, fmt.Errorf("unknown parameter %q; `devnet params` lists them all", key)
}

// describeValues says what values a parameter takes.
func (e *entry) describeValues() string {
	switch e.Type {
	case Flag:
		return "true or false"
	case Word:
		return "one of " + strings.Join(e.Words, ", ")
	case Amount:
		if e.max == types.MaxWei {
			return "an amount in wei from " + e.Min + " to 2^256-1"
		}
		return "an amount in wei from " + e.Min + " to " + e.Max
	}
	if e.max == types.WeiOf(1<<64-1) {
		return "an integer from " + e.Min + " to 2^64-1"
	}
	return "an integer from " + e.Min + " to " + e.Max
}

func (e *entry) fieldIn(p *Params) reflect.Value { return reflect.ValueOf(p).Elem().Field(e.field) }

func (e *entry) textIn(p *Params) string {
	v := e.fieldIn(p)
	switch e.Type {
	case Integer:
		return strconv.FormatUint(v.Uint(), 10)
	case Amount:
		return v.Interface().(types.Wei).String()
	case Flag:
		return strconv.FormatBool(v.Bool())
	}
	return v.String()
}
