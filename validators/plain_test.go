package validators

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// This file writes down plain data of any type, its unexported fields too, and reads
// it back: what a recorder of events could do.

// stateType is written by its content and its block's header, which are complete: a
// state is an immutable tree, with values that follow from it.
var stateType = reflect.TypeFor[*ledger.State]()

// impure returns the parts of a type that are not plain data.
func impure(t reflect.Type) []string { return impureIn(t, map[reflect.Type]bool{}) }

func impureIn(t reflect.Type, seen map[reflect.Type]bool) (faults []string) {
	if seen[t] || t == stateType {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr, reflect.Map:
		return []string{t.String() + " is not plain data"}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return impureIn(t.Elem(), seen)
	case reflect.Interface:
		if len(variants[t]) == 0 {
			return []string{"nobody knows what a " + t.String() + " may be"}
		}
		for _, one := range variants[t] {
			faults = append(faults, impureIn(one, seen)...)
		}
	case reflect.Struct:
		if p := t.PkgPath(); p == "sync" || p == "sync/atomic" {
			return []string{t.String() + " is not plain data"}
		}
		for i := range t.NumField() {
			faults = append(faults, impureIn(t.Field(i).Type, seen)...)
		}
	}
	return faults
}

// holdsState reports whether values of a type hold a state, of which a copy has other
// pointers.
func holdsState(t reflect.Type) bool { return holds(t, map[reflect.Type]bool{}) }

func holds(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == stateType {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holds(t.Elem(), seen)
	case reflect.Struct:
		return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return holds(f.Type, seen) })
	}
	return false
}

// genesisState is the state that samples hold.
var genesisState = sync.OnceValue(func() *ledger.State {
	key := crypto.DeriveKey(1, "v0")
	g := &ledger.Genesis{ChainID: 1, Timestamp: 1,
		Validators: types.ValidatorSet{Members: []types.Validator{{Address: key.Address(), PublicKey: key.PublicKey()}}}}
	state, _, err := g.State()
	if err != nil {
		panic(err)
	}
	return state
})

// fill makes a value out of a seed: every pointer points, every list has something.
func fill(v reflect.Value, seed uint64) { filler{rand.New(rand.NewPCG(seed, 0))}.fill(v) }

type filler struct{ *rand.Rand }

func (r filler) fill(v reflect.Value) {
	switch {
	case v.Type() == stateType:
		v.Set(reflect.ValueOf(genesisState()))
		return
	case v.CanInt():
		v.SetInt(r.Int64() >> (64 - v.Type().Bits()))
		return
	case v.CanUint():
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString(fmt.Sprint(r.Uint64()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(2), 4))
		r.each(v)
	case reflect.Array:
		r.each(v)
	case reflect.Interface:
		all := variants[v.Type()]
		one := reflect.New(all[r.IntN(len(all))]).Elem()
		r.fill(one)
		v.Set(one)
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(field(v, i))
		}
	default:
		panic("validators: no sample of " + v.Type().String())
	}
}

func (r filler) each(v reflect.Value) {
	for i := range v.Len() {
		r.fill(v.Index(i))
	}
}

// field returns a field of an addressable struct, to be read and set even if it is
// unexported.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

// write appends the record of an addressable value.
func write(to []byte, v reflect.Value) []byte {
	switch {
	case v.Type() == stateType:
		return writeState(to, v.Interface().(*ledger.State))
	case v.CanInt():
		return binary.AppendVarint(to, v.Int())
	case v.CanUint():
		return binary.AppendUvarint(to, v.Uint())
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(to, 1)
		}
		return append(to, 0)
	case reflect.String:
		return append(binary.AppendUvarint(to, uint64(v.Len())), v.String()...)
	case reflect.Pointer:
		if v.IsNil() {
			return append(to, 0)
		}
		return write(append(to, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(to, 0)
		}
		to = binary.AppendUvarint(to, uint64(v.Len())+1)
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			to = write(to, v.Index(i))
		}
		return to
	case reflect.Interface:
		if v.IsNil() {
			return append(to, 0)
		}
		copied := reflect.New(v.Elem().Type()).Elem()
		copied.Set(v.Elem())
		return write(append(to, byte(1+slices.Index(variants[v.Type()], v.Elem().Type()))), copied)
	case reflect.Struct:
		for i := range v.NumField() {
			to = write(to, field(v, i))
		}
		return to
	}
	panic("validators: nothing writes down " + v.Type().String())
}

// read sets an addressable value to what its record says, and returns what follows.
func read(from []byte, v reflect.Value) []byte {
	switch {
	case v.Type() == stateType:
		return readState(from, v)
	case v.CanInt():
		n, size := binary.Varint(from)
		v.SetInt(n)
		return from[size:]
	case v.CanUint():
		n, size := binary.Uvarint(from)
		v.SetUint(n)
		return from[size:]
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(from[0] == 1)
		return from[1:]
	case reflect.String:
		n, size := binary.Uvarint(from)
		v.SetString(string(from[size:][:n]))
		return from[size+int(n):]
	case reflect.Pointer:
		if from[0] == 0 {
			return from[1:]
		}
		v.Set(reflect.New(v.Type().Elem()))
		return read(from[1:], v.Elem())
	case reflect.Slice:
		n, size := binary.Uvarint(from)
		from = from[size:]
		if n == 0 {
			return from
		}
		v.Set(reflect.MakeSlice(v.Type(), int(n)-1, int(n)-1))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			from = read(from, v.Index(i))
		}
		return from
	case reflect.Interface:
		if from[0] == 0 {
			return from[1:]
		}
		one := reflect.New(variants[v.Type()][from[0]-1]).Elem()
		from = read(from[1:], one)
		v.Set(one)
		return from
	case reflect.Struct:
		for i := range v.NumField() {
			from = read(from, field(v, i))
		}
		return from
	}
	panic("validators: nothing reads " + v.Type().String())
}

// kept is what is written of a state.
type kept struct {
	Content []ledger.Change
	Header  types.Header
}

func writeState(to []byte, s *ledger.State) []byte {
	if s == nil {
		return append(to, 0)
	}
	k := kept{Header: field(reflect.ValueOf(s).Elem(), headerField).Interface().(types.Header)}
	s.Scan(nil, nil, func(key, value []byte) bool {
		k.Content = append(k.Content, ledger.Change{Key: slices.Clone(key), Value: slices.Clone(value)})
		return true
	})
	return write(append(to, 1), reflect.ValueOf(&k).Elem())
}

func readState(from []byte, v reflect.Value) []byte {
	if from[0] == 0 {
		return from[1:]
	}
	var k kept
	from = read(from[1:], reflect.ValueOf(&k).Elem())
	state, err := ledger.Restore(k.Content, &types.Block{Header: k.Header})
	if err != nil {
		panic(err)
	}
	v.Set(reflect.ValueOf(state))
	return from
}

// headerField is where a state has its block's header.
var headerField = func() int {
	f, ok := stateType.Elem().FieldByName("header")
	if !ok {
		panic("validators: a state has no header any more")
	}
	return f.Index[0]
}()
