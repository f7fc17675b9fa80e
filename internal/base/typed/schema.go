package typed

import (
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Version is the version of schemas that this package reads.
const Version = 1

// The limits of a schema: those that a deploy holds to, and for the rest what a page shows.
const (
	MaxSchemaBytes = 64 << 10
	maxSchemaDepth = 64 // of JSON, where each level of a type takes up to four
	maxTypeDepth   = 16 // of types within each other, those they name included
	maxTypes       = 64
	maxHandlers    = 256
	maxArguments   = 32
	maxFields      = 64 // of a record
	maxMembers     = 256
	maxState       = 256
	maxName        = 64      // bytes
	maxDoc         = 4 << 10 // bytes
)

// Schema is what an actor's annotations say.
type Schema struct {
	Hash     types.Hash // of the document that it was read from
	Actor    string     // the class; "" for bare functions
	Doc      string
	Types    []Named // by name
	Handlers []Handler
	Events   []string // records that the actor emits
	State    []Attribute
}

// Named is a record or an enum of the actor's file.
type Named struct {
	Name   string
	Doc    string
	Fields []Field  // of a record
	Values []Member // of an enum; none for a record
}

// IsEnum reports whether it is an enum.
func (n *Named) IsEnum() bool { return len(n.Values) > 0 }

// Member is a value of an enum: Value is a string, or a *big.Int that fits a JSON number.
type Member struct {
	Name  string
	Value any
}

// Field is a field of a record, or an argument.
type Field struct {
	Name     string
	Type     Type
	Optional bool // it has a default
	Default  any  // of an optional type: its value, as Decode returns values
	// Begins is the default in a form that can only be compared: an integer in digits is the
	// number. "" without one.
	Begins string
}

// Handler is a function of the actor.
type Handler struct {
	Name      string
	Doc       string
	Raw       bool // it takes and returns bytes
	Chain     bool // only the chain calls it
	Arguments []Field
	Returns   *Type // nil: nothing
}

// Form is how a type is written.
type Form byte

// The forms of types.
const (
	Integer Form = iota
	Bool
	Text
	Binary
	OptionalForm
	ListForm
	TupleForm
	DictForm
	NamedForm
)

// Type is the type of a value.
type Type struct {
	Form Form
	Name string   // of an atom its word, like Amount; of a record or an enum its name
	Low  *big.Int // of an integer, the bounds that it has
	High *big.Int
	Size int // of Binary: its bytes, 0 for any number
	Min  int // of Text with bounds: its characters
	Max  int // of Text: 0 for any number
	Of   []Type
}

// Number reports whether an integer is written as a number, and not as digits in quotes.
func (t *Type) Number() bool {
	return t.Form == Integer && t.Low.CmpAbs(safe) <= 0 && t.High.CmpAbs(safe) <= 0
}

// Bounded reports whether it is an integer with its own bounds.
func (t *Type) Bounded() bool { return t.Form == Integer && t.Name == "" }

// safe is 2^53 - 1: a number beyond it may have lost digits on its way.
var safe = allOnes(53)

// allOnes is 2^n - 1.
func allOnes(n uint) *big.Int {
	return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1))
}

// atoms are the types that are a word.
var atoms = []Type{
	{Name: "int", Low: new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 255)), High: allOnes(255)},
	{Name: "u8", Low: new(big.Int), High: allOnes(8)},
	{Name: "u16", Low: new(big.Int), High: allOnes(16)},
	{Name: "u32", Low: new(big.Int), High: allOnes(32)},
	{Name: "u64", Low: new(big.Int), High: allOnes(64)},
	{Name: "Amount", Low: new(big.Int), High: allOnes(256)},
	{Name: "bool", Form: Bool},
	{Name: "str", Form: Text},
	{Name: "bytes", Form: Binary},
	{Name: "Address", Form: Binary, Size: len(types.Address{})},
	{Name: "Hash", Form: Binary, Size: len(types.Hash{})},
}

// Handler is the handler of a name, nil if none has it.
func (s *Schema) Handler(name string) *Handler {
	for i := range s.Handlers {
		if s.Handlers[i].Name == name {
			return &s.Handlers[i]
		}
	}
	return nil
}

// Init returns the handler that a deploy runs: init, or else deploy. It is nil if there is
// neither.
func (s *Schema) Init() *Handler {
	if h := s.Handler("init"); h != nil {
		return h
	}
	return s.Handler("deploy")
}

// Migrate returns the handler that an upgrade runs, with the arguments of the upgrade. The
// chain gives old: Hash. It is nil if there is none.
func (s *Schema) Migrate() *Handler {
	h := s.Handler("migrate")
	if h == nil {
		return nil
	}
	given := *h
	given.Arguments = slices.DeleteFunc(slices.Clone(h.Arguments), func(f Field) bool { return f.Name == "old" && f.Type.Name == "Hash" })
	return &given
}

// Type is the record or enum of a name, nil if none has it.
func (s *Schema) Type(name string) *Named {
	for i := range s.Types {
		if s.Types[i].Name == name {
			return &s.Types[i]
		}
	}
	return nil
}
