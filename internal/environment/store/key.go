package store

import (
	"errors"
	"fmt"
)

// MaxKeyBytes is the longest key of a Store: what bbolt takes.
const MaxKeyBytes = 32768

// ErrKey says that a key is empty or longer than MaxKeyBytes.
var ErrKey = errors.New("store: key must be of 1 to 32768 bytes")

// CheckKey judges a key to be written, so that every Store takes the same.
func CheckKey(key []byte) error {
	if len(key) == 0 || len(key) > MaxKeyBytes {
		return fmt.Errorf("%w: it has %d", ErrKey, len(key))
	}
	return nil
}
