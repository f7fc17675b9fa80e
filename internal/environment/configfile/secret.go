package configfile

import (
	"fmt"
	"strings"
)

// Lengths of a driver's secret, in bytes.
const (
	minSecret = 16
	maxSecret = 128
)

// CheckSecret returns why the setting driver, the secret of an outside supervisor, is
// invalid, or nil. The secret is not repeated.
func CheckSecret(secret string) error {
	if len(secret) < minSecret || len(secret) > maxSecret || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("a driver's secret has %d to %d letters, digits and signs of ASCII, and no blanks", minSecret, maxSecret)
	}
	return nil
}
