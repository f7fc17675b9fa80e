package command

import (
	"encoding/json"
	"fmt"

	"github.com/cowboyinc/devnet/client"
)

// WithEvent decodes the data of an event for its printer.
func WithEvent[T any](e client.Event, tell func(*T)) error {
	var form T
	if err := DecodeEvent(e, &form); err != nil {
		return err
	}
	tell(&form)
	return nil
}

// DecodeEvent decodes the data of an event.
func DecodeEvent(e client.Event, into any) error {
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("the event %s is not understood: %w", e.ID, err)
	}
	return nil
}
