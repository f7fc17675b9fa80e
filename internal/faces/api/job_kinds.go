package api

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// jobType reads the fields of the request's kind into the fields of the wire.
func (f *form) jobType() (t push.JobType) {
	job := t.Choose(f.request.Kind)
	switch {
	case f.request.Kind == "":
		f.refuse("kind", "missing, want one of %s", strings.Join(push.JobKinds(), ", "))
		return t
	case job == nil:
		f.refuse("kind", "%q is none of %s", clip(f.request.Kind), strings.Join(push.JobKinds(), ", "))
		return t
	}
	wire := reflect.ValueOf(job).Elem()
	for _, field := range f.fields() {
		f.set(&field, push.FieldOf(wire, field.Wire))
	}
	return t
}

// fields lists the fields of the request's kind.
func (f *form) fields() (list []model.JobField) {
	for _, field := range model.JobFields() {
		if field.Kind == f.request.Kind {
			list = append(list, field)
		}
	}
	return list
}

// longest is the field that makes jobs of the kind long.
func (f *form) longest() string {
	for _, field := range f.fields() {
		if field.Long {
			return field.Name
		}
	}
	return "kind"
}

// set reads a field of the request into the field of the wire. The types of both say how.
func (f *form) set(field *model.JobField, wire reflect.Value) {
	given := reflect.ValueOf(f.request).Elem().FieldByIndex(field.Index)
	if field.Needed && given.IsZero() {
		f.refuse(field.Name, "a job of the kind %s needs it", f.request.Kind)
		return
	}
	value := given.Interface()
	switch into := wire.Addr().Interface().(type) {
	case *string:
		*into = f.text(field, value)
	case **string:
		*into = value.(*string)
	case *uint64:
		*into = f.number(field, value)
	case *[]byte:
		*into = f.payload(field, value.(string))
	case **types.Bytes:
		if text := value.(*string); text != nil {
			*into = new(types.Bytes(f.payload(field, *text)))
		}
	case *types.Hash:
		*into = types.Keccak([]byte(value.(string)))
	case *[][2]string:
		*into = f.pairs(field, value.([]string))
	default:
		panic(fmt.Sprintf("api: the field %s of a job does not read a %s", field.Name, wire.Type()))
	}
}

// text is a text, or one of JSON.
func (f *form) text(field *model.JobField, value any) string {
	if raw, is := value.(json.RawMessage); is {
		return f.object(field, raw)
	}
	if text := value.(string); text != "" {
		return text
	}
	return field.Otherwise
}

// number is a whole number, or the thousandths of one with decimals.
func (f *form) number(field *model.JobField, value any) uint64 {
	switch n := value.(type) {
	case *uint64:
		if n != nil {
			return *n
		}
		given, _ := strconv.ParseUint(field.Otherwise, 10, 64) // 0 without one
		return given
	case *float64:
		if n != nil {
			return f.thousandths(field.Name, strconv.FormatFloat(*n, 'f', -1, 64))
		}
		return f.thousandths(field.Name, field.Otherwise)
	}
	panic(fmt.Sprintf("api: unexpected type %T of the field %s of a job", value, field.Name))
}

// thousandths reads a number of at most three decimals.
func (f *form) thousandths(field, text string) uint64 {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", max(0, 3-len(part))), 10, 64)
	if err != nil || len(part) > 3 || n > math.MaxUint32 {
		f.refuse(field, "%s is not a number of at least 0 with at most three decimals", text)
	}
	return n
}

// payload reads bytes.
func (f *form) payload(field *model.JobField, text string) []byte {
	if field.As == "hex" && !strings.HasPrefix(text, "0x") {
		f.refuse(field.Name, "want 0x and hexadecimal digits")
	}
	return f.bytes(field.Name, text)
}

// pairs reads lines of NAME: VALUE.
func (f *form) pairs(field *model.JobField, lines []string) [][2]string {
	all := [][2]string{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			f.refuse(field.Name, "%q is not NAME: VALUE", clip(line))
		}
		all = append(all, [2]string{name, strings.TrimSpace(value)})
	}
	return all
}

// object reads a JSON object, or the text of one.
func (f *form) object(field *model.JobField, raw json.RawMessage) string {
	if len(raw) == 0 {
		return field.Otherwise
	}
	text := plainJSON(raw)
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		f.refuse(field.Name, "%s is not a JSON object", clip(string(text)))
	}
	return string(text)
}

// belongs refuses a field that belongs to another kind.
func (f *form) belongs() {
	r := f.request
	for _, field := range model.JobFields() {
		if field.Kind != "" && field.Kind != r.Kind && field.Given(r) {
			f.refuse(field.Name, "wrong kind: the field belongs to %s, and this job is %s", field.Kind, clip(r.Kind))
		}
	}
}

// enumerateKinds gives the schemas the kinds of the table.
func (s *Server) enumerateKinds() {
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	for _, name := range []string{"JobRequest", "Job"} {
		kind := schemas[name].Properties["kind"]
		for _, word := range push.JobKinds() {
			kind.Enum = append(kind.Enum, word)
		}
		schemas[name].PrecomputeMessages()
	}
}
