package params

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// MaxValueBytes bounds the encoding of one value: an amount of 256 bits, or a
// word.
const MaxValueBytes = 64

// Get returns a value as text: a decimal integer, true or false, or a word.
func (p *Params) Get(key string) (string, error) {
	e, err := findEntry(key)
	if err != nil {
		return "", err
	}
	return e.textIn(p), nil
}

// Set reads a value as Get writes it. The error says what the parameter takes;
// p is then as it was. Check enforces rules between parameters.
func (p *Params) Set(key, value string) error {
	e, err := findEntry(key)
	if err != nil {
		return err
	}
	if !e.setFrom(p, value) {
		return e.refuseValue(value)
	}
	return nil
}

func (e *entry) refuseValue(value string) error {
	if len(value) > MaxValueBytes {
		value = value[:MaxValueBytes] + "…"
	}
	return fmt.Errorf("%s: %q is not %s", e.Key, value, e.describeValues())
}

// setFrom reports whether value is one of the parameter's.
func (e *entry) setFrom(p *Params, value string) bool {
	switch e.Type {
	case Flag:
		if value != "true" && value != "false" {
			return false
		}
		e.fieldIn(p).SetBool(value == "true")
	case Word:
		if !slices.Contains(e.Words, value) {
			return false
		}
		e.fieldIn(p).SetString(value)
	case Integer:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil || !e.isWithin(types.WeiOf(n)) {
			return false
		}
		e.fieldIn(p).SetUint(n)
	case Amount:
		w, err := types.ParseWei(value)
		if err != nil || !e.isWithin(w) {
			return false
		}
		*e.fieldIn(p).Addr().Interface().(*types.Wei) = w
	}
	return true
}

func (e *entry) isWithin(w types.Wei) bool { return !w.Less(e.min) && !e.max.Less(w) }

// isValid reports whether p holds a value that Set would take.
func (e *entry) isValid(p *Params) bool {
	v := e.fieldIn(p)
	switch e.Type {
	case Integer:
		return e.isWithin(types.WeiOf(v.Uint()))
	case Amount:
		return e.isWithin(*v.Addr().Interface().(*types.Wei))
	case Word:
		return slices.Contains(e.Words, v.String())
	}
	return true
}

// Encode returns the canonical CBOR of one value, as state holds it.
func (p *Params) Encode(key string) ([]byte, error) {
	e, err := findEntry(key)
	if err != nil {
		return nil, err
	}
	return codec.Marshal(e.fieldIn(p).Interface()), nil
}

// Decode sets a value from its canonical CBOR. The error is the sender's fault;
// p is then as it was.
func (p *Params) Decode(key string, data []byte) error {
	e, err := findEntry(key)
	if err != nil {
		return err
	}
	after := *p
	if err := codec.Unmarshal(data, MaxValueBytes, e.fieldIn(&after).Addr().Interface()); err != nil {
		return fmt.Errorf("%s takes %s: %w", key, e.describeValues(), err)
	}
	if !e.isValid(&after) {
		return e.refuseValue(e.textIn(&after))
	}
	*p = after
	return nil
}

// Load returns the parameters in force, where read returns the value at a key
// of actor 0x09's state, or nil. A parameter missing in state has its default.
func Load(read func(stateKey string) []byte) (Params, error) {
	p, entries := Defaults(), readEntries()
	for i := range entries {
		data := read(StateKey(entries[i].Key))
		if data == nil {
			continue
		}
		if err := p.Decode(entries[i].Key, data); err != nil {
			return Params{}, fmt.Errorf("params in state: %w", err)
		}
	}
	return p, nil
}

// Overrides are values by key, as a configuration or a scenario gives them.
type Overrides map[string]string

// Apply sets all overrides and checks the whole, or changes nothing. Its error
// names every override that is wrong, sorted by key.
func (p *Params) Apply(o Overrides) error {
	after := *p
	var wrong []error
	for _, key := range slices.Sorted(maps.Keys(o)) {
		wrong = append(wrong, after.Set(key, o[key]))
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	if err := after.Check(); err != nil {
		return err
	}
	*p = after
	return nil
}

// Changed returns the values that are not their defaults: what genesis and the
// home need to write down.
func (p *Params) Changed() Overrides {
	changed, entries := make(Overrides), readEntries()
	for i := range entries {
		if text := entries[i].textIn(p); text != entries[i].Default {
			changed[entries[i].Key] = text
		}
	}
	return changed
}
