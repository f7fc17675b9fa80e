package scenario

import (
	"fmt"
	"time"
)

// maxBlockTime is the maximum of the parameter chain.block_time_ms.
const maxBlockTime = time.Hour

// Pace is how a network makes blocks: one each block time, or whenever there is
// something to do (decision C7).
type Pace struct {
	BlockTime time.Duration // whole milliseconds, 0 to an hour; with Auto DefaultBlockTime, for patience
	Auto      bool
}

// DefaultBlockTime is one second (decision C7).
const DefaultBlockTime = time.Second

// ParsePace reads a block time as scripts and the command line name it: a time
// like "100ms", or "auto". Its error says what was wanted, and what came.
func ParsePace(text string) (Pace, error) {
	if text == "auto" {
		return Pace{DefaultBlockTime, true}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxBlockTime || d%time.Millisecond != 0 {
		return Pace{}, fmt.Errorf(`a time in whole milliseconds, at most 1h, like "1s" or "100ms", or "auto"; got %q`, text)
	}
	return Pace{d, false}, nil
}
