package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

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
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := parseValue(d, MaxJSONDepth)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("unexpected end")
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("unexpected data after the JSON value, at byte %d", d.InputOffset())
	}
	return v, nil
}

// parseValue reads the next value, with depth more levels.
func parseValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, structured := token.(json.Delim)
	switch {
	case !structured:
		return token, nil
	case depth == 0:
		return nil, fmt.Errorf("more than %d levels deep", MaxJSONDepth)
	case open == '[':
		return parseArray(d, depth-1)
	}
	return parseObject(d, depth-1)
}

func parseArray(d *json.Decoder, depth int) (any, error) {
	items := []any{}
	for d.More() {
		item, err := parseValue(d, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.Token()
	return items, err
}

func parseObject(d *json.Decoder, depth int) (any, error) {
	members := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the decoder lets pass no other
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("duplicate name %.40q", name)
		}
		if members[name], err = parseValue(d, depth); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return members, err
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
