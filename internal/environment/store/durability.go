// Package store names what the stores of a node promise; its subdirectories
// keep the promise: log (votes and block bodies), bolt (finalized state), and
// mem (both, in memory).
package store

import "fmt"

// Durability says what a write that has returned survives.
type Durability uint8

// The two durabilities.
const (
	// Process survives the end of the process, kill -9 included, and not that
	// of the machine.
	Process Durability = iota
	// Disk survives a loss of power as well: every write is synced.
	Disk
)

func (d Durability) String() string {
	if d == Disk {
		return "disk"
	}
	return "process"
}

// MarshalText writes the word that UnmarshalText reads.
func (d Durability) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "process" or "disk".
func (d *Durability) UnmarshalText(text []byte) error {
	switch string(text) {
	case "process":
		*d = Process
	case "disk":
		*d = Disk
	default:
		return fmt.Errorf("durability %.20q is neither process nor disk", text)
	}
	return nil
}
