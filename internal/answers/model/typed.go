package model

import "encoding/json"

// Typed is what bytes mean by the schema of their actor, as JSON in the one form. A member
// is absent if its bytes have no type, or do not fit it. The bytes stay next to it.
type Typed struct {
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"The payload: an object of the arguments."`
	Returned  json.RawMessage `json:"returned,omitempty" doc:"The output."`
	Attribute string          `json:"attribute,omitempty" doc:"The key, like log[\"0x…\"], members[3] or len(members)."`
	Value     json.RawMessage `json:"value,omitempty" doc:"The value under the key, or the data of an event."`
	Old       json.RawMessage `json:"old,omitempty" doc:"The value before."`
}
