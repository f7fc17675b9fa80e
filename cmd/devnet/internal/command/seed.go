package command

import (
	"fmt"
	"strconv"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// ParseSeed reads what --seed was given.
func ParseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, failure.NewUsage("Give a whole number from 0 to 2^64 - 1.", "--seed: invalid seed %q", text)
	}
	return seed, nil
}

// ParseCount reads what a flag was given: the number of some things, from 1 to most.
func ParseCount(flag, things, text string, most uint64) (uint64, error) {
	count, err := strconv.ParseUint(text, 10, 64)
	if err != nil || count == 0 || count > most {
		return 0, failure.NewUsage(fmt.Sprintf("Give a number from 1 to %d.", most), "--%s: invalid number of %s %q", flag, things, text)
	}
	return count, nil
}
