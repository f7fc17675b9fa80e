package push

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// form is the wire format of values of one type. Forms are made from types when the
// program starts: a struct is a map of its fields' names (tag cbor), a pointer is
// an Option, a struct that is a choice has one of its fields.
type form struct {
	what string // in words: what else than this is refused
	// read reads an item off the front of well-formed data.
	read func(data []byte, v reflect.Value) (rest []byte, err *misfit)
	// write appends the deterministic encoding. read refuses the encoding of a
	// value beyond its limits.
	write func(dst []byte, v reflect.Value) []byte
}

// misfit is an item that is not what its field is. Its path grows outward.
type misfit struct {
	path   string
	detail string
}

func (m *misfit) withPath(name string) *misfit {
	if m.path != "" {
		name += "." + m.path
	}
	return &misfit{name, m.detail}
}

func newMisfit(format string, args ...any) *misfit {
	return &misfit{detail: fmt.Sprintf(format, args...)}
}

// misfitOf refuses an item that begins with a head.
func (f *form) misfitOf(h head) *misfit { return newMisfit("%s; it is %s", h, f.what) }

// choice marks a struct as one of several: a unit variant, whose field is a bool,
// is its name as a text; one with content, whose field is a pointer, a map of one
// entry.
type choice struct{}

// wordType is a text of a known few.
type wordType interface{ words() []string }

var (
	typeWei    = reflect.TypeFor[types.Wei]()
	typeChoice = reflect.TypeFor[choice]()
)

// formOf makes the form of a type. The tags max of texts and lists, and most of
// integers, bound them. It panics for a type that no frame has.
func formOf(t reflect.Type, tags reflect.StructTag) *form {
	if t == typeWei {
		return amountForm()
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolForm()
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return integerForm(limitTag(tags, "most", math.MaxUint64>>(64-t.Bits())))
	case reflect.String:
		if known, some := reflect.Zero(t).Interface().(wordType); some {
			return wordForm(known.words())
		}
		return textForm(limitTag(tags, "max", math.MaxUint64))
	case reflect.Pointer:
		return optionForm(formOf(t.Elem(), tags))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return bytesForm()
		}
		return listForm(formOf(t.Elem(), tags), limitTag(tags, "entries", math.MaxUint64))
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return arrayForm(t.Len())
		}
		return tupleForm(formOf(t.Elem(), tags), t.Len())
	case reflect.Struct:
		if f, marked := t.FieldByName("_"); marked && f.Type == typeChoice {
			return choiceForm(t)
		}
		return structForm(t)
	}
	panic(fmt.Sprintf("push: no frame holds a %s", t))
}

// limitTag reads a limit off a field's tags.
func limitTag(tags reflect.StructTag, name string, otherwise uint64) uint64 {
	given, there := tags.Lookup(name)
	if !there {
		return otherwise
	}
	n, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("push: the tag %s is %q", name, given))
	}
	return n
}

// mustHead reads a head of data that is known to be well-formed.
func mustHead(data []byte) (head, []byte) {
	h, rest, err := cutHead(data)
	if err != nil {
		panic("push: an item was not checked: " + err.Error())
	}
	return h, rest
}

func boolForm() *form {
	f := &form{what: "true or false"}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if !h.isSimple(simpleFalse) && !h.isSimple(simpleTrue) {
			return nil, f.misfitOf(h)
		}
		v.SetBool(h.isSimple(simpleTrue))
		return rest, nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte { return codec.AppendBool(dst, v.Bool()) }
	return f
}

func integerForm(most uint64) *form {
	f := &form{what: fmt.Sprintf("an unsigned integer up to %d", most)}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major != unsigned {
			return nil, f.misfitOf(h)
		}
		if h.argument > most {
			return nil, newMisfit("%d; it is %s", h.argument, f.what)
		}
		v.SetUint(h.argument)
		return rest, nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte { return codec.AppendUnsigned(dst, v.Uint()) }
	return f
}

func textForm(most uint64) *form {
	f := &form{what: "a text"}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major != text {
			return nil, f.misfitOf(h)
		}
		if h.argument > most {
			return nil, newMisfit("a text of %d bytes, at most %d", h.argument, most)
		}
		v.SetString(string(rest[:h.argument]))
		return rest[h.argument:], nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte { return codec.AppendText(dst, v.String()) }
	return f
}

func wordForm(words []string) *form {
	f := textForm(math.MaxUint64)
	f.what = fmt.Sprintf("one of %q", words)
	readText := f.read
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		rest, err := readText(data, v)
		if err == nil && !slices.Contains(words, v.String()) {
			err = newMisfit("%q; it is %s", clipText([]byte(v.String())), f.what)
		}
		return rest, err
	}
	return f
}

// bytesForm is the form of a slice of bytes; nil is written as an empty one.
func bytesForm() *form {
	f := &form{what: "a byte string"}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major != byteString {
			return nil, f.misfitOf(h)
		}
		v.SetBytes(slices.Clone(rest[:h.argument:h.argument]))
		return rest[h.argument:], nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return codec.AppendBytes(dst, []byte{})
		}
		return codec.AppendBytes(dst, v.Bytes())
	}
	return f
}

func arrayForm(n int) *form {
	f := &form{what: fmt.Sprintf("a byte string of %d bytes", n)}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major != byteString || h.argument != uint64(n) {
			return nil, f.misfitOf(h)
		}
		reflect.Copy(v, reflect.ValueOf(rest[:n]))
		return rest[n:], nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte { return codec.AppendBytes(dst, v.Bytes()) }
	return f
}

// amountForm is the form of wei: an unsigned integer below 2^64, and from 2^64 on
// tag 2 without leading zeros.
func amountForm() *form {
	const bignum, short, long = 2, 8, 32 // bytes that an integer holds, and an amount
	f := &form{what: "an amount in wei, from 2^64 on tag 2"}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major == unsigned {
			v.Set(reflect.ValueOf(types.WeiOf(h.argument)))
			return rest, nil
		}
		if h.major != tag || h.argument != bignum {
			return nil, f.misfitOf(h)
		}
		h, rest = mustHead(rest)
		if h.major != byteString || h.argument <= short || h.argument > long || rest[0] == 0 {
			return nil, newMisfit("tag 2 with %s; it is 9 to 32 bytes, the first not 0", h)
		}
		w, _ := types.WeiFromBig(new(big.Int).SetBytes(rest[:h.argument]))
		v.Set(reflect.ValueOf(w))
		return rest[h.argument:], nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte {
		w := v.Interface().(types.Wei)
		return w.AppendCBOR(dst)
	}
	return f
}

func optionForm(of *form) *form {
	f := &form{what: of.what + ", or null"}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		if h, rest := mustHead(data); h.isSimple(simpleNull) {
			v.SetZero()
			return rest, nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return of.read(data, v.Elem())
	}
	f.write = func(dst []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return codec.AppendNull(dst)
		}
		return of.write(dst, v.Elem())
	}
	return f
}

func listForm(of *form, most uint64) *form {
	f := &form{what: "an array"}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major != array {
			return nil, f.misfitOf(h)
		}
		if h.argument > most {
			return nil, newMisfit("%s, at most %d", h, most)
		}
		list := reflect.MakeSlice(v.Type(), 0, int(h.argument)) // data is well-formed, so all items are present
		for i := range int(h.argument) {
			element := reflect.New(v.Type().Elem()).Elem()
			var err *misfit
			if rest, err = of.read(rest, element); err != nil {
				return nil, err.withPath(strconv.Itoa(i))
			}
			list = reflect.Append(list, element)
		}
		v.Set(list)
		return rest, nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte { return writeElements(dst, of, v) }
	return f
}

func tupleForm(of *form, n int) *form {
	f := &form{what: fmt.Sprintf("an array of %d", n)}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major != array || h.argument != uint64(n) {
			return nil, f.misfitOf(h)
		}
		for i := range n {
			var err *misfit
			if rest, err = of.read(rest, v.Index(i)); err != nil {
				return nil, err.withPath(strconv.Itoa(i))
			}
		}
		return rest, nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte { return writeElements(dst, of, v) }
	return f
}

func writeElements(dst []byte, of *form, v reflect.Value) []byte {
	dst = codec.AppendArray(dst, v.Len())
	for i := range v.Len() {
		dst = of.write(dst, v.Index(i))
	}
	return dst
}

// field is a field of a struct by the name it has on the wire.
type field struct {
	name  string
	key   []byte // the name, encoded
	index int
	unit  bool // of a choice: a variant without content
	form  *form
}

// fieldsOf lists the fields of a struct in the order in which they are written.
func fieldsOf(t reflect.Type) (fields []field) {
	for i := range t.NumField() {
		sf := t.Field(i)
		name, named := sf.Tag.Lookup("cbor")
		if !named {
			continue
		}
		fields = append(fields, field{name: name, key: codec.AppendText(nil, name), index: i, unit: sf.Type.Kind() == reflect.Bool,
			form: formOf(sf.Type, sf.Tag)})
	}
	slices.SortFunc(fields, func(a, b field) int { return bytes.Compare(a.key, b.key) })
	return fields
}

// withoutField is the fields but the one with a name.
func withoutField(fields []field, name string) []field {
	return slices.DeleteFunc(fields, func(f field) bool { return f.name == name })
}

// findField returns the field with a name, nil if there is none.
func findField(fields []field, name []byte) *field {
	for i := range fields {
		if fields[i].name == string(name) {
			return &fields[i]
		}
	}
	return nil
}

// structForms holds the forms made so far, one per type however many frames have it.
// They are all made when the program starts, by one goroutine.
var structForms = map[reflect.Type]*form{}

func structForm(t reflect.Type) *form {
	if f := structForms[t]; f != nil {
		return f
	}
	fields := fieldsOf(t)
	f := &form{what: "a map"}
	structForms[t] = f
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major != pairs {
			return nil, f.misfitOf(h)
		}
		seen := make([]bool, t.NumField())
		for range h.argument {
			key, after, _ := cutKey(rest)
			at := findField(fields, key)
			if at == nil {
				return nil, newMisfit("unknown field %q", clipText(key))
			}
			var err *misfit
			if rest, err = at.form.read(after, v.Field(at.index)); err != nil {
				return nil, err.withPath(at.name)
			}
			seen[at.index] = true
		}
		for _, each := range fields {
			if !seen[each.index] {
				return nil, newMisfit("the field %s is missing", each.name)
			}
		}
		return rest, nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte { return writeFields(dst, fields, v) }
	return f
}

func writeFields(dst []byte, fields []field, v reflect.Value) []byte {
	dst = codec.AppendMap(dst, len(fields))
	for _, each := range fields {
		dst = each.form.write(append(dst, each.key...), v.Field(each.index))
	}
	return dst
}

func choiceForm(t reflect.Type) *form {
	fields := fieldsOf(t)
	f := &form{what: "one of"}
	for _, each := range fields {
		f.what += " " + each.name
	}
	f.read = func(data []byte, v reflect.Value) ([]byte, *misfit) {
		h, rest := mustHead(data)
		if h.major == text {
			if at := findField(fields, rest[:h.argument]); at != nil && at.unit {
				v.Field(at.index).SetBool(true)
				return rest[h.argument:], nil
			}
			return nil, newMisfit("%q; it is %s", clipText(rest[:h.argument]), f.what)
		}
		if h.major != pairs || h.argument != 1 {
			return nil, f.misfitOf(h)
		}
		key, after, _ := cutKey(rest)
		at := findField(fields, key)
		if at == nil || at.unit {
			return nil, newMisfit("%q with content; it is %s", clipText(key), f.what)
		}
		if content, _ := mustHead(after); content.isSimple(simpleNull) {
			return nil, newMisfit("null; it is content").withPath(at.name)
		}
		rest, err := at.form.read(after, v.Field(at.index))
		if err != nil {
			return nil, err.withPath(at.name)
		}
		return rest, nil
	}
	f.write = func(dst []byte, v reflect.Value) []byte {
		for _, each := range fields {
			switch chosen := v.Field(each.index); {
			case chosen.IsZero():
			case each.unit:
				return append(dst, each.key...)
			default:
				return each.form.write(append(codec.AppendMap(dst, 1), each.key...), chosen)
			}
		}
		return codec.AppendNull(dst) // nothing was chosen, which read refuses
	}
	return f
}
