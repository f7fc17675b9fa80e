package api

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// jobType reads the fields of the request's kind into the fields of the wire.
func (f *form) jobType() (t push.JobType) {
	job := t.Choose(f.request.Kind)
	switch {
	case f.request.Kind == "":
		f.refuseField("kind", "missing, want one of %s", strings.Join(push.JobKinds(), ", "))
		return t
	case job == nil:
		f.refuseField("kind", "%q is none of %s", clipText(f.request.Kind), strings.Join(push.JobKinds(), ", "))
		return t
	}
	wire := reflect.ValueOf(job).Elem()
	for _, field := range f.fieldsOfKind() {
		f.setField(&field, push.FieldOf(wire, field.Wire))
	}
	return t
}

// fieldsOfKind lists the fields of the request's kind.
func (f *form) fieldsOfKind() (list []model.JobField) {
	for _, field := range model.JobFields() {
		if field.Kind == f.request.Kind {
			list = append(list, field)
		}
	}
	return list
}

// longestField is the field that makes jobs of the kind long.
func (f *form) longestField() string {
	for _, field := range f.fieldsOfKind() {
		if field.Long {
			return field.Name
		}
	}
	return "kind"
}

// setField reads a field of the request into the field of the wire. The types of both say how.
func (f *form) setField(field *model.JobField, wire reflect.Value) {
	given := reflect.ValueOf(f.request).Elem().FieldByIndex(field.Index)
	if field.Needed && given.IsZero() {
		f.refuseField(field.Name, "a job of the kind %s needs it", f.request.Kind)
		return
	}
	value := given.Interface()
	switch into := wire.Addr().Interface().(type) {
	case *string:
		*into = f.textOf(field, value)
	case **string:
		*into = value.(*string)
	case *uint64:
		*into = f.numberOf(field, value)
	case *[]byte:
		*into = f.payloadOf(field, value.(string))
	case **types.Bytes:
		if text := value.(*string); text != nil {
			*into = new(types.Bytes(f.payloadOf(field, *text)))
		}
	case *types.Hash:
		*into = types.Keccak([]byte(value.(string)))
	case *[][2]string:
		*into = f.headerPairs(field, value.([]string))
	default:
		panic(fmt.Sprintf("api: the field %s of a job does not read a %s", field.Name, wire.Type()))
	}
}

// textOf is a text, or one of JSON.
func (f *form) textOf(field *model.JobField, value any) string {
	if raw, is := value.(json.RawMessage); is {
		return f.objectText(field, raw)
	}
	if text := value.(string); text != "" {
		return text
	}
	return field.Otherwise
}

// numberOf is a whole number, or the thousandths of one with decimals.
func (f *form) numberOf(field *model.JobField, value any) uint64 {
	switch n := value.(type) {
	case *uint64:
		if n != nil {
			return *n
		}
		given, _ := strconv.ParseUint(field.Otherwise, 10, 64) // 0 without one
		return given
	case *float64:
		if n != nil {
			return f.thousandthsOf(field.Name, strconv.FormatFloat(*n, 'f', -1, 64))
		}
		return f.thousandthsOf(field.Name, field.Otherwise)
	}
	panic(fmt.Sprintf("api: unexpected type %T of the field %s of a job", value, field.Name))
}

// thousandthsOf reads a number of at most three decimals.
func (f *form) thousandthsOf(field, text string) uint64 {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", max(0, 3-len(part))), 10, 64)
	if err != nil || len(part) > 3 || n > math.MaxUint32 {
		f.refuseField(field, "%s is not a number of at least 0 with at most three decimals", text)
	}
	return n
}

// payloadOf reads bytes.
func (f *form) payloadOf(field *model.JobField, text string) []byte {
	if field.As == "hex" && !strings.HasPrefix(text, "0x") {
		f.refuseField(field.Name, "want 0x and hexadecimal digits")
	}
	return f.bytesOf(field.Name, text)
}

// headerPairs reads lines of NAME: VALUE.
func (f *form) headerPairs(field *model.JobField, lines []string) [][2]string {
	all := [][2]string{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			f.refuseField(field.Name, "%q is not NAME: VALUE", clipText(line))
		}
		all = append(all, [2]string{name, strings.TrimSpace(value)})
	}
	return all
}

// objectText reads a JSON object, or the text of one.
func (f *form) objectText(field *model.JobField, raw json.RawMessage) string {
	if len(raw) == 0 {
		return field.Otherwise
	}
	text := plainJSON(raw)
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		f.refuseField(field.Name, "%s is not a JSON object", clipText(string(text)))
	}
	return string(text)
}

// refuseForeignFields refuses a field that belongs to another kind.
func (f *form) refuseForeignFields() {
	r := f.request
	for _, field := range model.JobFields() {
		if field.Kind != "" && field.Kind != r.Kind && field.Given(r) {
			f.refuseField(field.Name, "wrong kind: the field belongs to %s, and this job is %s", field.Kind, clipText(r.Kind))
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
