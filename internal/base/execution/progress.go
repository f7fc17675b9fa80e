package execution

import (
	"fmt"
	"strings"
)

// Gauge is the progress of work that was reported last, in percent. It only rises, so that
// any program has at most 100 reports.
type Gauge struct{ told uint8 }

// Rise makes the report of a fraction in percent, which counts as 100 above that. It
// returns false where the fraction does not exceed the last one. The words are made
// what a JobProgress takes (Words).
func (g *Gauge) Rise(id ID, fraction uint8, detail string) (Report, bool) {
	fraction = min(fraction, 100)
	if fraction <= g.told {
		return Report{}, false
	}
	g.told = fraction
	return Report{ID: id, What: Progress, Fraction: fraction, Detail: Words(detail)}, true
}

// Check says why a fraction in percent cannot be told next: it is between 1 and 100, and
// exceeds the last.
func (g *Gauge) Check(fraction uint8) error {
	if fraction < 1 || fraction > 100 {
		return fmt.Errorf("progress of %d: want a whole percent from 1 to 100", fraction)
	}
	if fraction <= g.told {
		return fmt.Errorf("progress of %d: want more than %d, which was told before", fraction, g.told)
	}
	return nil
}

// Words makes a program's text one line of valid UTF-8 without control characters, of at
// most MaxDetail bytes.
func Words(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || 0x7f <= c && c <= 0x9f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	return Clip(strings.TrimSpace(text))
}

// Given is the progress or the result of a job of the executor manual, from a person or a
// script.
type Given struct {
	Percent uint8  `json:"percent,omitempty"` // 1 to 100: how far it is; 0: Result ends the job
	Detail  string `json:"detail,omitempty"`  // words with Percent
	Result  []byte `json:"result,omitempty"`
}

// Field names the field of the request that is wrong where g is refused.
func (g Given) Field() string {
	if g.Percent > 0 {
		return "percent"
	}
	return "result"
}
