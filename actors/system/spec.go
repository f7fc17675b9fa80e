package system

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Limits of a spec besides those of parameters.
const (
	maxChecks       = 16    // of StructuredMatch: each is a look at every result
	maxPointers     = 16    // of one Equal
	maxPointerBytes = 1_024 // of each JSON pointer: the wire's limit of free text
)

// CodeUnsupportedMode refuses a job of the mode EconomicBond (decision J23).
const CodeUnsupportedMode = "unsupported_mode"

// UnsupportedMode says why.
const UnsupportedMode = "EconomicBond is not built, since no draft says what the bond is; the mode None asks one runner too"

// parseSpec reads a submitted spec and judges it. A fault belongs to the submitter.
func (b *InBlock) parseSpec(data []byte, submitter types.Address) (*push.JobSpec, *types.Fault) {
	if uint64(len(data)) > b.Params.MaxSpecBytes {
		return nil, newFault("spec_too_long", "a job of %d bytes, at most %d", len(data), b.Params.MaxSpecBytes)
	}
	spec, err := push.ParseOrder(data, submitter, b.Height)
	if err != nil {
		return nil, newFault("malformed", "the payload must be a JobSpec without submitter and submitted_at: %v", err)
	}
	if spec.Verification.Mode == push.EconomicBond {
		return nil, newFault(CodeUnsupportedMode, "%s", UnsupportedMode)
	}
	if wrong := CheckSpec(spec, b.Params); wrong != nil {
		return nil, newFault("bad_spec", "%v", wrong)
	}
	return spec, nil
}

// CheckSpec returns why a spec makes no valid job: a field exceeds parameters or
// limits, or results could not be judged; nil for a valid spec. The bytes that it
// has are not judged here.
//
// Spec: CIP-2, decision J19.
func CheckSpec(s *push.JobSpec, p *params.Params) *push.SpecError {
	var wrong *push.SpecError
	if errors.As(s.Check(), &wrong) {
		return wrong
	}
	refuse := func(field, format string, args ...any) *push.SpecError {
		return &push.SpecError{Field: field, Detail: fmt.Sprintf(format, args...)}
	}
	most := mostResult(p)
	v := &s.Verification
	switch {
	case s.TimeoutBlocks > p.MaxTimeoutBlocks:
		return refuse("timeout_blocks", "%d is above the maximum %d", s.TimeoutBlocks, p.MaxTimeoutBlocks)
	case v.Runners > p.MaxCommittee:
		return refuse("verification.runners", "there are %d, at most %d", v.Runners, p.MaxCommittee)
	case s.ResultSchema.MaxReturnBytes == 0 || s.ResultSchema.MaxReturnBytes > most:
		return refuse("result_schema.max_return_bytes", "%d is not between 1 and %d", s.ResultSchema.MaxReturnBytes, most)
	case s.Callback != nil && (s.Callback.Handler == "" || len(s.Callback.Handler) > types.MaxNameBytes):
		return refuse("callback.handler", "%d bytes, want 1 to %d", len(s.Callback.Handler), types.MaxNameBytes)
	case s.JobType.Http != nil && !ofWeb(s.JobType.Http.URL):
		return refuse("job_type.Http.url", "not an http or https URL with a host: write https://host/path")
	case v.Field != nil && len(*v.Field) > maxPointerBytes:
		return refuse("verification.field", "%d bytes, at most %d", len(*v.Field), maxPointerBytes)
	case len(v.Checks) > maxChecks:
		return refuse("verification.checks", "there are %d, at most %d", len(v.Checks), maxChecks)
	}
	for i, check := range v.Checks {
		field := fmt.Sprintf("verification.checks.%d", i)
		if tooMuch(check) {
			return refuse(field, "at most %d pointers, of at most %d bytes each, and %d permille", maxPointers, maxPointerBytes, permille)
		}
		if check.Schema == nil {
			continue
		}
		if _, err := parseSchema(*check.Schema); err != nil {
			return refuse(field, "%v", err)
		}
	}
	return nil
}

// tooMuch reports whether a check is beyond the limits.
func tooMuch(c push.Check) bool {
	long := func(pointer string) bool { return len(pointer) > maxPointerBytes }
	return c.Equal != nil && (len(*c.Equal) > maxPointers || slices.ContainsFunc(*c.Equal, long)) ||
		c.Tolerance != nil && (long(c.Tolerance.Pointer) || c.Tolerance.Permille > permille) ||
		c.Range != nil && long(c.Range.Pointer)
}

// mostResult is the longest result that a job may ask for: one that its
// transaction can bring into the cells that runners have of a block.
func mostResult(p *params.Params) uint64 {
	const frame = 1_024 // bytes around a result in its transaction
	return min(p.MaxResultBytes, uint64(RunnerCells(p).Sub(frame)))
}

// RunnerCells is how many cells of a block runner transactions may take, which are
// free: half of them, so that they and who pays leave one another room.
func RunnerCells(p *params.Params) types.Cells { return p.CellsLimit / 2 }

// ofWeb reports whether a URL is one that runners request.
func ofWeb(url string) bool {
	scheme, _, _ := strings.Cut(url, "://")
	return (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) && push.HostOf(url) != ""
}

// SpecOf returns the spec of an open job, or nil.
func SpecOf(s actors.Reader, id types.Hash) *push.JobSpec {
	data := RawSpecOf(s, id)
	if data == nil {
		return nil
	}
	spec := new(push.JobSpec)
	if err := codec.Unmarshal(data, maxRecordBytes, spec); err != nil {
		panic(fmt.Sprintf("system: the spec of job %s does not decode: %v", id, err))
	}
	return spec
}

// RawSpecOf returns the canonical bytes of an open job's spec, or nil.
func RawSpecOf(s actors.Reader, id types.Hash) []byte {
	spec, _ := actors.StorageOf(s, types.DispatcherAddress, keySpec(id))
	return spec
}
