// Package codec is the one encoding of everything that is hashed, signed,
// stored or sent between nodes: deterministic CBOR, RFC 8949 §4.2 (decision
// C11).
//
// Marshal always writes the canonical form. Unmarshal reads nothing else: it
// encodes what it read and refuses input that differs, that is longer than the
// caller allows, or that nests deeper than MaxDepth.
package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/fxamacker/cbor/v2"
)

// Limits of every decoder, so that no input can exhaust memory.
const (
	MaxDepth    = 32      // nesting of arrays and maps
	MaxElements = 131_072 // elements of one array, pairs of one map
)

// Errors of Unmarshal. All of them mean that the sender is at fault.
var (
	ErrTooLong      = errors.New("codec: input is too long")
	ErrMalformed    = errors.New("codec: input is malformed")
	ErrNotCanonical = errors.New("codec: input is not in canonical form")
)

var (
	encoder = mustSucceed(cbor.CoreDetEncOptions().EncMode())
	decoder = mustSucceed(decOptions(cbor.ExtraDecErrorUnknownField).DecMode())
	partial = mustSucceed(decOptions(cbor.ExtraDecErrorNone).DecMode())
	whole   = mustSucceed(cbor.DecOptions{IndefLength: cbor.IndefLengthForbidden, MaxNestedLevels: 65535,
		MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DecMode()) // for a RawMessage: the highest possible limits
)

func decOptions(extra cbor.ExtraDecErrorCond) cbor.DecOptions {
	return cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		MaxNestedLevels:   MaxDepth,
		MaxArrayElements:  MaxElements,
		MaxMapPairs:       MaxElements,
		ExtraReturnErrors: extra,
		UTF8:              cbor.UTF8RejectInvalid,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive, // {"Kind"} is not {"kind"}
	}
}

// RawMessage is one CBOR value, kept as it was written.
type RawMessage = cbor.RawMessage

// Marshal returns the canonical form of v. It panics when v holds something
// that has none (a channel, a function): that is a bug of ours, never input.
func Marshal(v any) []byte { return Append(nil, v) }

// Append appends the canonical form of v to dst. It panics as Marshal does.
func Append(dst []byte, v any) []byte {
	if err := useEncoding(v, func(form []byte) { dst = append(dst, form...) }); err != nil {
		panic(fmt.Sprintf("codec: %T cannot be encoded: %v", v, err))
	}
	return dst
}

// Unmarshal decodes the canonical form of at most limit bytes into v.
func Unmarshal(data []byte, limit int, v any) error {
	if len(data) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(data), limit)
	}
	if err := decoder.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	same := false
	if err := useEncoding(v, func(form []byte) { same = bytes.Equal(form, data) }); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if !same {
		return ErrNotCanonical
	}
	return nil
}

// UnmarshalLoose decodes valid CBOR of at most limit bytes that need not be
// canonical: what people and foreign runners write.
func UnmarshalLoose(data []byte, limit int, v any) error {
	if len(data) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(data), limit)
	}
	if err := decoder.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// UnmarshalFirst decodes the first item of a sequence, as UnmarshalLoose does, and leaves
// the others unread.
func UnmarshalFirst(data []byte, limit int, v any) error {
	if len(data) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(data), limit)
	}
	if _, err := decoder.UnmarshalFirst(data, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// UnmarshalPartial decodes the fields that v names and leaves the rest unread:
// for looking at a map before its type is known. It does not check that accepted
// data is canonical.
func UnmarshalPartial(data []byte, limit int, v any) error {
	if len(data) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(data), limit)
	}
	if err := partial.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

func mustSucceed[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
