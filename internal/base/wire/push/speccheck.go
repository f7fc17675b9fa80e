package push

import (
	"fmt"
	"strings"
)

// SpecError is what a job asks for that no job can: its submitter's fault. The
// chain refuses it, and a runner rejects it as BadSpec.
type SpecError struct{ Field, Detail string }

func (e *SpecError) Error() string { return "CIP-2: " + e.Field + ": " + e.Detail }

// Check refuses, with a *SpecError, a spec whose fields are what they are by type
// and make no job together. Rules of parameters are not judged here: size, and the
// upper bounds of committee and timeout.
//
// Spec: CIP-2, decision J19.
func (s *JobSpec) Check() error {
	for _, each := range []struct {
		field string
		zero  bool
		why   string
	}{
		{"bounds.max_input_tokens", s.Bounds.MaxInputTokens == 0, "CIP-2 bounds every job"},
		{"bounds.max_output_tokens", s.Bounds.MaxOutputTokens == 0, "CIP-2 bounds every job"},
		{"bounds.max_wall_time_seconds", s.Bounds.MaxWallTimeSeconds == 0, "a runner would have no time"},
		{"bounds.max_memory_mb", s.Bounds.MaxMemoryMB == 0, "a runner would have no memory"},
		{"bounds.max_retries", s.Bounds.MaxRetries == 0, "CIP-2 bounds every job; 1 draws again once"},
		{"max_price", s.MaxPrice.IsZero(), "no runner works for nothing"},
		{"timeout_blocks", s.TimeoutBlocks == 0, "no block would be left for a result"},
	} {
		if each.zero {
			return &SpecError{each.field, "must not be 0: " + each.why}
		}
	}
	if s.JobType.Kind() == 0 {
		return &SpecError{"job_type", "none was chosen"}
	}
	if http := s.JobType.Http; http != nil && http.Extraction != nil && !isJSONPointer(*http.Extraction) {
		return &SpecError{"job_type.Http.extraction", "not a JSON pointer"}
	}
	if s.Verification.Runners > 1 && s.TimeoutBlocks < 2 {
		return &SpecError{"timeout_blocks", "a committee commits and reveals: at least 2"}
	}
	return s.Verification.checkVerification()
}

// committeeBounds returns the smallest and the largest committee of a mode, 0 for any.
func (m Mode) committeeBounds() (least, most uint64) {
	switch m {
	case None, EconomicBond:
		return 1, 1
	case StructuredMatch, Deterministic:
		return 2, 0
	}
	return 3, 0
}

func (v *Verification) checkVerification() error {
	least, most := v.Mode.committeeBounds()
	switch {
	case v.Runners < least || most > 0 && v.Runners > most:
		return &SpecError{"verification.runners", fmt.Sprintf("verification %s takes %s, not %d", v.Mode, committeeWords(least, most), v.Runners)}
	case v.Threshold != nil && (*v.Threshold < 1 || *v.Threshold > v.Runners):
		return &SpecError{"verification.threshold", fmt.Sprintf("%d is not between 1 and %d, the number of runners", *v.Threshold, v.Runners)}
	case v.Field != nil && v.Mode != MajorityVote:
		return &SpecError{"verification.field", "only the mode MajorityVote takes a field"}
	case v.Field != nil && !isJSONPointer(*v.Field):
		return &SpecError{"verification.field", "not a JSON pointer"}
	case len(v.Checks) > 0 && v.Mode != StructuredMatch:
		return &SpecError{"verification.checks", "only the mode StructuredMatch takes checks"}
	case len(v.Checks) == 0 && v.Mode == StructuredMatch:
		return &SpecError{"verification.checks", "StructuredMatch needs one"}
	}
	for i := range v.Checks {
		if detail := v.Checks[i].whyWrong(); detail != "" {
			return &SpecError{fmt.Sprintf("verification.checks.%d", i), detail}
		}
	}
	return nil
}

// committeeWords says how many runners a mode takes, by the bounds of its committee.
func committeeWords(least, most uint64) string {
	if least == most {
		return "one runner" // no mode has another greatest
	}
	return fmt.Sprintf("%d or more runners", least)
}

// whyWrong says what is wrong with a check, "" for nothing.
func (c *Check) whyWrong() string {
	switch {
	case c.Equal != nil:
		if len(*c.Equal) == 0 {
			return "Equal names no field"
		}
		for _, p := range *c.Equal {
			if !isJSONPointer(p) {
				return fmt.Sprintf("%q is not a JSON pointer", clipText([]byte(p)))
			}
		}
	case c.Tolerance != nil && !isJSONPointer(c.Tolerance.Pointer):
		return fmt.Sprintf("%q is not a JSON pointer", clipText([]byte(c.Tolerance.Pointer)))
	case c.Range != nil && !isJSONPointer(c.Range.Pointer):
		return fmt.Sprintf("%q is not a JSON pointer", clipText([]byte(c.Range.Pointer)))
	case c.Range != nil && c.Range.Min > c.Range.Max:
		return fmt.Sprintf("no number is from %d to %d", c.Range.Min, c.Range.Max)
	}
	return ""
}

// isJSONPointer reports whether a text is a JSON pointer (RFC 6901): empty for the whole
// value, otherwise steps that each begin with a slash, and ~ only before 0 or 1.
func isJSONPointer(p string) bool {
	if p != "" && p[0] != '/' {
		return false
	}
	for rest := p; ; {
		at := strings.IndexByte(rest, '~')
		if at < 0 {
			return true
		}
		rest = rest[at+1:]
		if rest == "" || rest[0] != '0' && rest[0] != '1' {
			return false
		}
	}
}
