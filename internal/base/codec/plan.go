package codec

import (
	"bytes"
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// plan appends the canonical form of a value of one type. The value is
// addressable. It panics where the value has no form.
//
// The library writes arrays of bytes byte by byte through reflection, and most
// encoded values are addresses, hashes and signatures. Plans are made once per
// type. For an unknown type they call the library, so the output never depends on
// the writer.
type plan func(dst []byte, v reflect.Value) []byte

var (
	plans sync.Map // reflect.Type → plan

	typeAppender  = reflect.TypeFor[Appender]()
	typeMarshaler = reflect.TypeFor[cbor.Marshaler]()
	typeBinary    = reflect.TypeFor[encoding.BinaryMarshaler]()
	typeRaw       = reflect.TypeFor[RawMessage]()
	typeBig       = reflect.TypeFor[big.Int]()
)

// appendValue appends the canonical form of v.
func appendValue(dst []byte, v any) []byte {
	value := reflect.ValueOf(v)
	switch {
	case !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil():
		return append(dst, simpleNull)
	case value.Kind() == reflect.Pointer:
		value = value.Elem()
		return planOf(value.Type())(dst, value)
	}
	addressable := reflect.New(value.Type()).Elem()
	addressable.Set(value)
	return planOf(value.Type())(dst, addressable)
}

// planOf returns the plan of a type. A type that holds itself looks its own
// plan up when it is used.
func planOf(t reflect.Type) plan {
	if known, ok := plans.Load(t); ok {
		return known.(plan)
	}
	plans.Store(t, plan(func(dst []byte, v reflect.Value) []byte { return planOf(t)(dst, v) }))
	made := makePlan(t)
	plans.Store(t, made)
	return made
}

func makePlan(t reflect.Type) plan {
	pointer := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		return planPointer(t)
	case pointer.Implements(typeAppender):
		return func(dst []byte, v reflect.Value) []byte { return v.Addr().Interface().(Appender).AppendCBOR(dst) }
	case t == typeRaw:
		return appendRaw
	case pointer.Implements(typeMarshaler) || pointer.Implements(typeBinary) || t == typeBig || t.PkgPath() == typeRaw.PkgPath():
		return byLibrary
	}
	switch t.Kind() {
	case reflect.Bool:
		return appendBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return appendInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(dst []byte, v reflect.Value) []byte { return appendHead(dst, majorUnsigned, v.Uint()) }
	case reflect.String:
		return func(dst []byte, v reflect.Value) []byte { return AppendText(dst, v.String()) }
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return appendByteString
		}
		return planElements(t)
	case reflect.Struct:
		return planStruct(t)
	}
	return byLibrary
}

// byLibrary leaves a value to the library.
func byLibrary(dst []byte, v reflect.Value) []byte {
	data, err := encoder.Marshal(v.Interface())
	if err != nil {
		panic(encodingError{err})
	}
	return append(dst, data...)
}

// encodingError is what a plan panics with.
type encodingError struct{ error }

func planPointer(t reflect.Type) plan {
	target := planOf(t.Elem())
	return func(dst []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(dst, simpleNull)
		}
		return target(dst, v.Elem())
	}
}

// appendRaw appends a value that was encoded before, if it is one.
func appendRaw(dst []byte, v reflect.Value) []byte {
	raw := v.Bytes()
	if len(raw) == 0 {
		return append(dst, simpleNull)
	}
	if err := whole.Wellformed(raw); err != nil {
		panic(encodingError{err})
	}
	return append(dst, raw...)
}

func appendBool(dst []byte, v reflect.Value) []byte { return AppendBool(dst, v.Bool()) }

func appendInt(dst []byte, v reflect.Value) []byte {
	n := v.Int()
	if n < 0 {
		return appendHead(dst, majorNegative, uint64(^n))
	}
	return appendHead(dst, majorUnsigned, uint64(n))
}

func appendByteString(dst []byte, v reflect.Value) []byte {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return append(dst, simpleNull)
	}
	return append(appendHead(dst, majorBytes, uint64(v.Len())), v.Bytes()...)
}

func planElements(t reflect.Type) plan {
	element, slice := planOf(t.Elem()), t.Kind() == reflect.Slice
	return func(dst []byte, v reflect.Value) []byte {
		if slice && v.IsNil() {
			return append(dst, simpleNull)
		}
		n := v.Len()
		dst = appendHead(dst, majorArray, uint64(n))
		for i := range n {
			dst = element(dst, v.Index(i))
		}
		return dst
	}
}

// plannedField is a field of a struct.
type plannedField struct {
	index int
	name  []byte // its key, encoded; not written in an array
	plan  plan
}

// planStruct plans structs without embedded fields and without options but
// toarray. The library writes all others.
func planStruct(t reflect.Type) plan {
	array := false
	var fields []plannedField
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("cbor")
		if f.Name == "_" && tag == ",toarray" {
			array = true
			continue
		}
		if f.Anonymous {
			return byLibrary
		}
		if !f.IsExported() {
			continue
		}
		if !ok || tag == "" {
			tag = f.Tag.Get("json")
		}
		name, _, options := strings.Cut(tag, ",")
		if options || tag == "-" {
			return byLibrary
		}
		if name == "" {
			name = f.Name
		}
		fields = append(fields, plannedField{i, append(appendHead(nil, majorText, uint64(len(name))), name...), planOf(f.Type)})
	}
	head := appendHead(nil, majorArray, uint64(len(fields)))
	if !array {
		head = appendHead(nil, majorMap, uint64(len(fields)))
		slices.SortFunc(fields, func(a, b plannedField) int { return bytes.Compare(a.name, b.name) })
		if len(slices.CompactFunc(slices.Clone(fields), func(a, b plannedField) bool { return bytes.Equal(a.name, b.name) })) < len(fields) {
			return byLibrary
		}
	}
	return func(dst []byte, v reflect.Value) []byte {
		dst = append(dst, head...)
		for i := range fields {
			f := &fields[i]
			if !array {
				dst = append(dst, f.name...)
			}
			dst = f.plan(dst, v.Field(f.index))
		}
		return dst
	}
}

// scratch is where values are encoded before their length is known.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch bounds a buffer that is kept.
const maxScratch = 1 << 20

// useEncoding calls use with the canonical form of v, which is gone afterwards.
func useEncoding(v any, use func(data []byte)) (err error) {
	buffer := scratch.Get().(*[]byte)
	defer func() {
		if value := recover(); value != nil {
			failed, ok := value.(encodingError)
			if !ok {
				panic(value)
			}
			err = fmt.Errorf("%w", failed.error)
		}
		if cap(*buffer) <= maxScratch {
			scratch.Put(buffer)
		}
	}()
	*buffer = appendValue((*buffer)[:0], v)
	use(*buffer)
	return nil
}
