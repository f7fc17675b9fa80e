package pyhost

import (
	"container/list"
	"errors"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// maxVerdictBytes bounds what a pool remembers of codes: their handlers, schemas and refusals.
const maxVerdictBytes = 16 << 20

// verdict is what a complete inspection says of a code: a description, or a refusal if it is not nil.
type verdict struct {
	code        types.Hash
	description program.Description
	refusal     *program.Refusal
}

// compileUnits is how much compiling the code takes. A limit below it has another verdict.
func (v *verdict) compileUnits() uint64 {
	if v.refusal != nil {
		return v.refusal.Units
	}
	return v.description.Units
}

// approximateSize is about how many bytes the verdict takes.
func (v *verdict) approximateSize() int {
	const each = 128 // of the records beside their texts
	total := each + len(v.description.Schema)
	for _, h := range v.description.Handlers {
		total += each + len(h.Name) + len(h.Doc)
	}
	if v.refusal != nil {
		total += each + len(v.refusal.Reason)
	}
	return total
}

// verdicts remembers what the inspections of a pool found. A verdict depends on nothing but the code
// and this Python, and the time of an inspection is the dearest part of a deploy. So all validators
// of a process, and each attempt at a deploy, take one. It forgets the verdicts that were not asked
// for the longest. It is safe for concurrent use.
//
// Spec: decision C18.
type verdicts struct {
	mu     sync.Mutex
	byCode map[types.Hash]*list.Element
	recent *list.List // of *verdict, the one asked for last first
	bytes  int
}

func newVerdicts() *verdicts {
	return &verdicts{byCode: map[types.Hash]*list.Element{}, recent: list.New()}
}

// findVerdict returns the verdict on a code whose inspection may do limit units of compiling, or nil.
func (v *verdicts) findVerdict(code types.Hash, limit uint64) *verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.byCode[code]
	if e == nil || e.Value.(*verdict).compileUnits() > limit {
		return nil
	}
	v.recent.MoveToFront(e)
	return e.Value.(*verdict)
}

// keepVerdict remembers what an inspection of a code returned that could do limit units of compiling. An
// error that is no refusal says nothing of the code, and a limit that was too low nothing of another.
func (v *verdicts) keepVerdict(code types.Hash, limit uint64, found program.Description, err error) {
	one := &verdict{code: code, description: found}
	if err != nil && !errors.As(err, &one.refusal) || one.compileUnits() > limit || code == (types.Hash{}) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byCode[code] != nil || one.approximateSize() > maxVerdictBytes {
		return
	}
	v.byCode[code] = v.recent.PushFront(one)
	v.bytes += one.approximateSize()
	for v.bytes > maxVerdictBytes {
		oldest := v.recent.Remove(v.recent.Back()).(*verdict)
		delete(v.byCode, oldest.code)
		v.bytes -= oldest.approximateSize()
	}
}

// inspectAnswer is what Inspect returns of the verdict.
func (v *verdict) inspectAnswer() (program.Description, error) {
	if v.refusal != nil {
		copied := *v.refusal
		return program.Description{}, &copied
	}
	return v.description, nil
}
