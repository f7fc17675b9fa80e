package executor

import (
	"fmt"
	"time"
	"unicode/utf8"

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

// AnswerBytes returns the maximum length of another party's answer that is kept for
// a job's result: the job's memory, and at most most.
func AnswerBytes(spec *push.JobSpec, most int) int {
	return int(min(MemoryBytes(spec), uint64(most)))
}

// wall is how long a job may take: by itself, and by its runner.
func wall(spec *push.JobSpec, most time.Duration) time.Duration {
	asked := time.Duration(min(spec.Bounds.MaxWallTimeSeconds, uint64(MaxWall/time.Second))) * time.Second
	return min(asked, most)
}

// Judge says what is wrong with a result.
func Judge(spec *push.JobSpec, result []byte) error {
	if most := ReturnBytes(spec); len(result) > most {
		return fmt.Errorf("the result has %d bytes, and the job takes %d", len(result), most)
	}
	switch spec.ResultSchema.DataFormat {
	case push.FormatText:
		if !utf8.Valid(result) {
			return fmt.Errorf("the job takes text, and the result is not valid UTF-8")
		}
	case push.FormatJSON:
		if _, err := ParseJSON(result); err != nil {
			return fmt.Errorf("the job takes JSON, and the result is not valid JSON: %w", err)
		}
	}
	return nil
}
