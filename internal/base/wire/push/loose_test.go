package push

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// library reads as this package does, as far as its options go: a decoder that
// shares no code with it.
// To it tags nest as well, which deep lets pass.
var library, deep = libraryUpTo(MaxDepth), libraryUpTo(65535)

func libraryUpTo(depth int) cbor.DecMode {
	mode, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, MaxNestedLevels: depth,
		UTF8: cbor.UTF8RejectInvalid, MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 20}.DecMode()
	if err != nil {
		panic(err)
	}
	return mode
}

// loosely writes a value that the library read in some other form: fields in any
// order, heads of any length.
func loosely(dst []byte, value any, chance *rand.Rand) []byte {
	head := func(major byte, n uint64) {
		sizes := []uint64{24, 1 << 8, 1 << 16, 1 << 32}
		least := 0
		for least < len(sizes) && n >= sizes[least] {
			least++
		}
		switch at := least + chance.IntN(len(sizes)+1-least); at {
		case 0:
			dst = append(dst, major<<5|byte(n))
		case 1:
			dst = append(dst, major<<5|24, byte(n))
		case 2:
			dst = binary.BigEndian.AppendUint16(append(dst, major<<5|25), uint16(n))
		case 3:
			dst = binary.BigEndian.AppendUint32(append(dst, major<<5|26), uint32(n))
		default:
			dst = binary.BigEndian.AppendUint64(append(dst, major<<5|27), n)
		}
	}
	switch v := value.(type) {
	case nil:
		return append(dst, 0xf6)
	case bool:
		if v {
			return append(dst, 0xf5)
		}
		return append(dst, 0xf4)
	case uint64:
		head(0, v)
	case []byte:
		head(2, uint64(len(v)))
		dst = append(dst, v...)
	case string:
		head(3, uint64(len(v)))
		dst = append(dst, v...)
	case cbor.Tag:
		head(6, v.Number)
		dst = loosely(dst, v.Content, chance)
	case []any:
		head(4, uint64(len(v)))
		for _, each := range v {
			dst = loosely(dst, each, chance)
		}
	case map[any]any:
		head(5, uint64(len(v)))
		var keys []string
		for key := range v {
			keys = append(keys, key.(string))
		}
		slices.Sort(keys)
		chance.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for _, key := range keys {
			dst = loosely(loosely(dst, key, chance), v[key], chance)
		}
	default:
		panic(fmt.Sprintf("the library read a %T", value))
	}
	return dst
}

// arbitrary fills a value with content that its frame may hold.
func arbitrary(t *rapid.T, v reflect.Value, tags reflect.StructTag) {
	if _, ok := v.Interface().(types.Wei); ok {
		w, _ := types.WeiOf(rapid.Uint64().Draw(t, "wei")).MulOk(rapid.SampledFrom([]uint64{0, 1, 2, 1 << 63}).Draw(t, "times"))
		v.Set(reflect.ValueOf(w))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, limitTag(tags, "most", 1<<(v.Type().Bits()-1))).Draw(t, "integer"))
	case reflect.String:
		if known, some := v.Interface().(wordType); some {
			v.SetString(rapid.SampledFrom(known.words()).Draw(t, "word"))
			return
		}
		v.SetString(rapid.StringN(0, 20, 40).Draw(t, "text"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			arbitrary(t, v.Elem(), tags)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 3).Draw(t, "length"), 3))
		for i := range v.Len() {
			arbitrary(t, v.Index(i), tags)
		}
	case reflect.Array:
		for i := range v.Len() {
			arbitrary(t, v.Index(i), tags)
		}
	case reflect.Struct:
		arbitraryStruct(t, v)
	}
}

func arbitraryStruct(t *rapid.T, v reflect.Value) {
	fields := fieldsOf(v.Type())
	if f, marked := v.Type().FieldByName("_"); marked && f.Type == typeChoice {
		at := v.Field(rapid.SampledFrom(fields).Draw(t, "choice").index)
		if at.Kind() == reflect.Bool {
			at.SetBool(true)
			return
		}
		at.Set(reflect.New(at.Type().Elem()))
		arbitrary(t, at.Elem(), "")
		return
	}
	for _, each := range fields {
		arbitrary(t, v.Field(each.index), v.Type().Field(each.index).Tag)
	}
	if version := v.FieldByName("Version"); version.IsValid() {
		version.SetUint(Version)
	}
}

func knownTypes() (all []Type) {
	for n := range kinds() {
		if Type(n).Known() {
			all = append(all, Type(n))
		}
	}
	return all
}

// Every frame is read back as it was sent, is written in the form of RFC 8949 §4.2,
// and is read alike in any order and length of heads.
func TestFramesAreReadInAnyFormAndWrittenInOne(t *testing.T) {
	canonical, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SampledFrom(knownTypes()).Draw(t, "type")
		v := reflect.New(kinds()[of].frame)
		arbitrary(t, v.Elem(), "")
		sent := v.Interface().(Frame)
		data, err := Encode(sent)
		if err != nil {
			t.Fatalf("%+v: %v", sent, err)
		}
		raw, err := cut(data)
		if err != nil || raw.Type != of {
			t.Fatalf("%x: %s, %v", data, raw.Type, err)
		}
		var tree any
		if err := library.Unmarshal(raw.Payload, &tree); err != nil {
			t.Fatalf("%x: %v", raw.Payload, err)
		}
		chance := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "form"), 0))
		for _, form := range [][]byte{raw.Payload, loosely(nil, bignums(tree), chance)} {
			read, err := Decode(Raw{of, form})
			if err != nil {
				t.Fatalf("%x: %v", form, err)
			}
			if again, err := Encode(read); err != nil || !bytes.Equal(again, data) {
				t.Fatalf("%x came back as %x, %v", data, again, err)
			}
		}
		if form, err := canonical.Marshal(tree); err != nil || !bytes.Equal(form, raw.Payload) {
			t.Fatalf("%x is not canonical, %x is: %v", raw.Payload, form, err)
		}
	})
}

// bignums puts back the tags of integers from 2^64 on, which the library reads as
// big integers.
func bignums(tree any) any {
	switch v := tree.(type) {
	case []any:
		for i := range v {
			v[i] = bignums(v[i])
		}
	case map[any]any:
		for key := range v {
			v[key] = bignums(v[key])
		}
	case big.Int:
		return cbor.Tag{Number: 2, Content: v.Bytes()}
	}
	return tree
}
