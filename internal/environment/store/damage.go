package store

import "fmt"

// DamagedError says that a file is not as it was written: a disk that flipped
// bits, a file that was cut short or overwritten. Nothing of it is to be used.
type DamagedError struct {
	Path   string
	Detail string // what is wrong, and where
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Path, e.Detail) }
