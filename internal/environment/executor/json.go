package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/jsontext"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// MaxJSONDepth bounds the arrays and objects within one another, as on the wire.
const MaxJSONDepth = push.MaxDepth

// ParseJSON reads one JSON text (RFC 8259): UTF-8, no duplicate name in an object,
// at most MaxJSONDepth deep, no data after it. Numbers are json.Number, as they
// were written.
func ParseJSON(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("invalid UTF-8")
	}
	v, err := jsontext.Parse(data, MaxJSONDepth, jsontext.ReplaceHalves)
	if err != nil {
		return nil, describeJSONError(err, data)
	}
	return convertJSON(&v)
}

func describeJSONError(why error, data []byte) error {
	err, is := errors.AsType[*jsontext.Error](why)
	switch {
	case !is:
		return why
	case err.IsDeep:
		return fmt.Errorf("more than %d levels deep", MaxJSONDepth)
	case err.IsEnd(data):
		return errors.New("unexpected end")
	case err.What == jsontext.AfterEnd:
		return fmt.Errorf("unexpected data after the JSON value, at byte %d", err.At)
	}
	return fmt.Errorf("no JSON: %w", err)
}

// convertJSON makes a value of Go.
func convertJSON(v *jsontext.Value) (any, error) {
	switch v.Kind {
	case jsontext.Null:
		return nil, nil
	case jsontext.Bool:
		return v.Text == "true", nil
	case jsontext.Number:
		return json.Number(v.Text), nil
	case jsontext.Text:
		return v.Text, nil
	case jsontext.List:
		return convertItems(v.Items)
	}
	items, err := convertItems(v.Items)
	if err != nil {
		return nil, err
	}
	members := make(map[string]any, len(items))
	for i, name := range v.Names {
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("duplicate name %.40q", name)
		}
		members[name] = items[i]
	}
	return members, nil
}

func convertItems(from []jsontext.Value) ([]any, error) {
	items := make([]any, len(from))
	for i := range from {
		var err error
		if items[i], err = convertJSON(&from[i]); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// CanonicalJSON writes a value of ParseJSON: names sorted, no space, numbers as
// they were written. Runners that were answered the same value in another order
// have the same bytes to commit to.
func CanonicalJSON(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("executor: a value that was parsed cannot be written: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Extract returns what a JSON pointer (RFC 6901) leads to in a value of ParseJSON.
func Extract(v any, pointer string) (any, error) {
	if pointer == "" {
		return v, nil
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		name := strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch at := v.(type) {
		case map[string]any:
			inner, there := at[name]
			if !there {
				return nil, fmt.Errorf("%.80q leads nowhere: there is no %.40q", pointer, name)
			}
			v = inner
		case []any:
			i, err := strconv.ParseUint(name, 10, 31)
			if err != nil || strconv.FormatUint(i, 10) != name || i >= uint64(len(at)) {
				return nil, fmt.Errorf("%.80q not found: %.40q is not an index of an array of %d", pointer, name, len(at))
			}
			v = at[i]
		default:
			return nil, fmt.Errorf("%.80q not found: %.40q is below a value without parts", pointer, name)
		}
	}
	return v, nil
}

// Render makes a result of a JSON value: a text is itself where the job takes text
// or bytes; everything else, and everything where the job takes JSON, is canonical
// JSON.
func Render(v any, format push.DataFormat) []byte {
	if s, ok := v.(string); ok && format != push.FormatJSON {
		return []byte(s)
	}
	return CanonicalJSON(v)
}
