// Package execution is what a runner asks of its executor and what it is told, as
// plain values: the words that the runner's core and the environment's executors
// (env.Executor) have in common. Nothing of it travels or is of consensus.
package execution

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// ID names work that an executor is asked for once. A later draw of the same job
// is other work.
type ID struct {
	Job   types.Hash
	Drawn types.Height // the block_height of its JobAssignment
}

// What says what a Report tells.
type What uint8

// What a report tells. After Done or Failed nothing more comes of that work.
const (
	Progress What = iota
	Done
	Failed
)

// MaxDetail bounds the words of a report, in bytes: they go into a JobProgress.
const MaxDetail = push.MaxText

// Report is what an executor tells of work under way.
type Report struct {
	ID       ID
	What     What
	Fraction uint8  // of Progress: percent, greater than any before
	Detail   string // of Progress and Failed: words for people, of at most MaxDetail bytes
	Result   []byte // of Done: within the bounds of the job
}

// Refusal is why an executor does not take a job, before any work. It is what an
// ack with Reject says.
type Refusal struct {
	Reason push.RejectReason
	Detail string // at most MaxDetail bytes
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Reason, r.Detail) }

// Refuse makes a Refusal.
func Refuse(reason push.RejectReason, format string, args ...any) *Refusal {
	return &Refusal{reason, Clip(fmt.Sprintf(format, args...))}
}

// Clip cuts a text to MaxDetail bytes, at the border of a character.
func Clip(text string) string {
	if len(text) <= MaxDetail {
		return text
	}
	end := MaxDetail
	for end > 0 && text[end]&0xc0 == 0x80 {
		end--
	}
	return text[:end]
}
