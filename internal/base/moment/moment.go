// Package moment names a moment of a run, so that one name serves the command line, the HTTP API and
// scripts.
//
//	h57                 the block of height 57 became final, of the network that is meant
//	lane.star@6:h57     the same, of the run of lane.star with seed 6
//	lane.star@6:18231   after step 18,231 of that run: each step is one of a role of a node
//	lane.star@6:end     after the script's last line
//
// A script may have any name: what follows its last @ is read as a seed and a place.
package moment

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Kind says by what a moment is found in its run.
type Kind uint8

// The kinds of moments.
const (
	AtEnd    Kind = iota // of the script
	AtHeight             // a block became final
	AtStep
)

// end is the place of the end of a script.
const end = "end"

// maxShown bounds a message's quotation, in bytes.
const maxShown = 60

// Moment is a moment of a run.
type Moment struct {
	Script string // the path as it was given; "": the network that is meant
	Seed   uint64 // of the run; 0 without a script
	Kind   Kind
	Height types.Height // from 1 on; 0 but for AtHeight
	Step   uint64       // from 1 on; 0 but for AtStep
}

// End is the end of a script's run.
func End(script string, seed uint64) Moment { return Moment{Script: script, Seed: seed} }

// Step is the moment after a step of a run.
func Step(script string, seed, step uint64) Moment {
	return Moment{Script: script, Seed: seed, Kind: AtStep, Step: step}
}

// Parse reads a moment. Its error says what to type.
func Parse(text string) (Moment, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		height, err := parseHeight(text)
		if err != nil {
			return Moment{}, newFormatError(text, err.Error())
		}
		return Moment{Kind: AtHeight, Height: height}, nil
	}
	m := Moment{Script: text[:at]}
	seed, place, found := strings.Cut(text[at+1:], ":")
	switch {
	case m.Script == "":
		return Moment{}, newFormatError(text, "the script's name is missing before @")
	case !found:
		return Moment{}, newFormatError(text, "a place is missing: SCRIPT@SEED:PLACE")
	}
	var err error
	if m.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
		return Moment{}, newFormatError(text, fmt.Sprintf("%.20q is no seed, which is a whole number below 2^64", seed))
	}
	if err := m.readPlace(place); err != nil {
		return Moment{}, newFormatError(text, err.Error())
	}
	return m, nil
}

// readPlace reads what follows the seed.
func (m *Moment) readPlace(text string) (err error) {
	switch {
	case text == end:
		return nil
	case strings.HasPrefix(text, "h"):
		m.Kind = AtHeight
		m.Height, err = parseHeight(text)
		return err
	}
	m.Kind = AtStep
	if m.Step, err = strconv.ParseUint(text, 10, 64); err != nil || m.Step == 0 {
		return fmt.Errorf("%.20q is no step, which is a whole number from 1 on", text)
	}
	return nil
}

// parseHeight reads h and a height.
func parseHeight(text string) (types.Height, error) {
	digits, is := strings.CutPrefix(text, "h")
	height, err := strconv.ParseUint(digits, 10, 64)
	if !is || err != nil || height == 0 {
		return 0, fmt.Errorf("%.20q is no height, which is h and a whole number from 1 on", text)
	}
	return types.Height(height), nil
}

// newFormatError says what is wrong with a text, and what to type.
func newFormatError(text, what string) error {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return fmt.Errorf("%q is no moment: %s. Type h57 for a height, SCRIPT@6:h57 for one of a run with seed 6, "+
		"SCRIPT@6:18231 for a step of it, or SCRIPT@6:end", text, what)
}

// String is the name of the moment, as Parse reads it.
func (m Moment) String() string {
	if m.Script == "" {
		return m.placeWords()
	}
	return fmt.Sprintf("%s@%d:%s", m.Script, m.Seed, m.placeWords())
}

// placeWords is the place in the run.
func (m Moment) placeWords() string {
	switch m.Kind {
	case AtHeight:
		return "h" + strconv.FormatUint(uint64(m.Height), 10)
	case AtStep:
		return strconv.FormatUint(m.Step, 10)
	}
	return end
}
