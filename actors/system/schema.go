package system

import (
	"errors"
	"fmt"
	"slices"
)

// schema is a JSON Schema of the keywords below and no others: a validator that
// skipped a keyword would accept results that its author meant to refuse.
//
// Its author and the owner of a runner may be the same person, so the cost of
// checking a value must not grow with a keyword's own length.
type schema struct {
	kinds      []string        // of "type", sorted, without duplicates; empty: any
	enum       map[string]bool // the forms of its values; nil: any
	required   []string        // sorted, without duplicates
	names      []string        // of "properties", sorted
	properties []*schema
	closed     bool // "additionalProperties": false
	items      *schema
	limits     [6]*jsonDecimal // of schemaLimits
}

// schemaLimits are the keywords that bound a number, the characters of a text or
// the items of a list.
var schemaLimits = [6]string{"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}

var schemaKinds = []string{"null", "boolean", "number", "string", "array", "object", "integer"}

// parseSchema reads a schema. Its error is its author's fault.
func parseSchema(text string) (*schema, error) {
	v, err := parseJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	if v.exceedsLimits() {
		return nil, errNumber
	}
	return schemaOf(&v)
}

func schemaOf(v *jsonValue) (*schema, error) {
	if v.kind != jsonObject {
		return nil, errors.New("a schema is an object")
	}
	s := new(schema)
	for i, keyword := range v.names {
		if err := s.readKeyword(keyword, &v.items[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *schema) readKeyword(keyword string, v *jsonValue) (err error) {
	wrong := fmt.Errorf("the keyword %.80q has another form in a schema", keyword)
	if i := slices.Index(schemaLimits[:], keyword); i >= 0 {
		if v.kind != jsonNumber {
			return wrong
		}
		s.limits[i] = &v.number
		return nil
	}
	switch keyword {
	case "type":
		s.kinds, err = textsOf(v)
		for _, kind := range s.kinds {
			if !slices.Contains(schemaKinds, kind) {
				return wrong
			}
		}
		return err
	case "enum":
		if v.kind != jsonArray {
			return wrong
		}
		s.enum = make(map[string]bool, len(v.items))
		for i := range v.items {
			s.enum[string(v.items[i].appendForm(nil))] = true
		}
	case "required":
		s.required, err = textsOf(v)
		return err
	case "additionalProperties":
		if v.kind != jsonBool {
			return wrong
		}
		s.closed = !v.truth
	case "items":
		s.items, err = schemaOf(v)
		return err
	case "properties":
		if v.kind != jsonObject {
			return wrong
		}
		s.names = v.names
		for i := range v.items {
			property, err := schemaOf(&v.items[i])
			if err != nil {
				return err
			}
			s.properties = append(s.properties, property)
		}
	case "$schema", "title", "description": // they judge nothing
	default:
		return fmt.Errorf("the keyword %.80q is none of type, enum, required, properties, additionalProperties, items, minimum, maximum, "+
			"minLength, maxLength, minItems, maxItems, title, description", keyword)
	}
	return nil
}

// textsOf reads a text or a list of texts, which it sorts and frees of duplicates,
// since many values are compared with them.
func textsOf(v *jsonValue) (texts []string, err error) {
	items := []jsonValue{*v}
	if v.kind == jsonArray {
		items = v.items
	}
	for i := range items {
		if items[i].kind != jsonString {
			return nil, errors.New("a schema has texts in type and required")
		}
		texts = append(texts, items[i].text)
	}
	slices.Sort(texts)
	return slices.Compact(texts), nil
}

// allowsValue reports whether a value fits the schema.
func (s *schema) allowsValue(v *jsonValue) bool {
	if len(s.kinds) > 0 && !slices.ContainsFunc(s.kinds, v.hasType) {
		return false
	}
	if s.enum != nil && !s.enum[string(v.appendForm(nil))] {
		return false
	}
	switch v.kind {
	case jsonNumber:
		return s.isWithin(0, v.number)
	case jsonString:
		return s.isWithin(2, decimalOf(uint64(len([]rune(v.text)))))
	case jsonArray:
		return s.isWithin(4, decimalOf(uint64(len(v.items)))) &&
			(s.items == nil || !slices.ContainsFunc(v.items, func(one jsonValue) bool { return !s.items.allowsValue(&one) }))
	case jsonObject:
		return s.allowsObject(v)
	}
	return true
}

// hasType reports whether a value has a type by its name in a schema.
func (v *jsonValue) hasType(kind string) bool {
	return schemaKinds[v.kind] == kind || kind == "integer" && v.kind == jsonNumber && v.number.mantissa != nil && v.number.exponent >= 0
}

// isWithin reports whether a number keeps to the limits i and i + 1.
func (s *schema) isWithin(i int, n jsonDecimal) bool {
	least, most := s.limits[i], s.limits[i+1]
	if n.mantissa == nil {
		return least == nil && most == nil
	}
	return (least == nil || n.compareTo(*least) >= 0) && (most == nil || n.compareTo(*most) <= 0)
}

func (s *schema) allowsObject(v *jsonValue) bool {
	for _, name := range s.required {
		if v.memberByName(name) == nil {
			return false
		}
	}
	for i, name := range v.names {
		at, known := slices.BinarySearch(s.names, name)
		if known && !s.properties[at].allowsValue(&v.items[i]) || !known && s.closed {
			return false
		}
	}
	return true
}
