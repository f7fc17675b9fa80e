package executor

import (
	"time"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Limits of any job, whatever its own bounds say.
const (
	// MaxWall is the longest that work may take: what takes longer than an hour holds
	// up a place among max_concurrent_jobs for the whole day.
	MaxWall = time.Hour
	// MaxResultBytes is the maximum length of a result: a frame's room besides the
	// rest of its map.
	MaxResultBytes = push.MaxFrame - 1<<10
	// MaxMemory is the maximum memory of any job, in bytes: a larger number of MiB
	// bounds nothing.
	MaxMemory = 64 << 30
)

// ReturnBytes is the longest result that a job may have.
func ReturnBytes(spec *push.JobSpec) int {
	return int(min(spec.ResultSchema.MaxReturnBytes, MaxResultBytes))
}

// MemoryBytes is what a job may use of memory.
func MemoryBytes(spec *push.JobSpec) uint64 {
	return min(spec.Bounds.MaxMemoryMB, MaxMemory>>20) << 20
}

// NeedsMemory refuses a job whose memory is less than its program needs, in MiB: the program
// would fail, which costs its runner reputation.
func NeedsMemory(spec *push.JobSpec, leastMB uint64) *execution.Refusal {
	if spec.Bounds.MaxMemoryMB >= leastMB {
		return nil
	}
	return execution.Refuse(push.Unsupported, "its program needs max_memory_mb of %d or more", leastMB)
}

// AnswerBytes returns the maximum length of another party's answer that is kept for
// a job's result: the job's memory, and at most most.
func AnswerBytes(spec *push.JobSpec, most int) int {
	return int(min(MemoryBytes(spec), uint64(most)))
}

// wallTime is how long a job may take: by itself, and by its runner.
func wallTime(spec *push.JobSpec, most time.Duration) time.Duration {
	asked := time.Duration(min(spec.Bounds.MaxWallTimeSeconds, uint64(MaxWall/time.Second))) * time.Second
	return min(asked, most)
}

// Judge says what is wrong with a result. What the job's own bounds and form do not take is a
// *execution.Refusal: a stranger chooses them, after what the runner's work returns.
func Judge(spec *push.JobSpec, result []byte) error {
	if most := ReturnBytes(spec); len(result) > most {
		return execution.Refuse(push.Unsupported, "the result has %d bytes, and the job takes %d", len(result), most)
	}
	switch spec.ResultSchema.DataFormat {
	case push.FormatText:
		if !utf8.Valid(result) {
			return execution.Refuse(push.Unsupported, "the job takes text, and the result is not valid UTF-8")
		}
	case push.FormatJSON:
		if _, err := ParseJSON(result); err != nil {
			return execution.Refuse(push.Unsupported, "the job takes JSON, and the result is not valid JSON: %v", err)
		}
	}
	return nil
}
