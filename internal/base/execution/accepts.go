package execution

import (
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

const (
	// MaxTemperature is the hottest that endpoints of models take, in thousandths.
	MaxTemperature = 2_000
	// bytesPerToken is what usage counts by (decision J19).
	bytesPerToken = 4
)

// Tokens are how many tokens texts count as: four bytes each, rounded up (J19).
func Tokens(texts ...string) uint64 {
	var bytes uint64
	for _, t := range texts {
		bytes += uint64(len(t))
	}
	return (bytes + bytesPerToken - 1) / bytesPerToken
}

// CheckNumbers says which number of a job no runner accepts, whatever it offers; nil
// where there is none. The chain takes such a job, and a draw for it is in vain: who
// makes jobs for people refuses it before.
func CheckNumbers(spec *push.JobSpec) *push.SpecError {
	if t := spec.JobType.EthSend; t != nil && t.Chain == 0 {
		return &push.SpecError{Field: "job_type.EthSend.chain", Detail: "it is 0, at least 1"}
	}
	if spec.JobType.Llm != nil {
		return checkLLM(spec.JobType.Llm, &spec.Bounds)
	}
	return nil
}

func checkLLM(job *push.Llm, bounds *push.Bounds) *push.SpecError {
	prompts := []string{job.Prompt}
	if job.SystemPrompt != nil {
		prompts = append(prompts, *job.SystemPrompt)
	}
	tokens := Tokens(prompts...)
	switch {
	case job.MaxTokens == 0:
		return &push.SpecError{Field: "job_type.Llm.max_tokens", Detail: "it is 0, at least 1"}
	case job.Temperature > MaxTemperature:
		return &push.SpecError{Field: "job_type.Llm.temperature",
			Detail: fmt.Sprintf("it is %s, not 0 to %s", fromThousandths(job.Temperature), fromThousandths(MaxTemperature))}
	case tokens > bounds.MaxInputTokens:
		return &push.SpecError{Field: "bounds.max_input_tokens",
			Detail: fmt.Sprintf("it is %d, and the prompts count as %d", bounds.MaxInputTokens, tokens)}
	}
	return nil
}

// fromThousandths is a number as people write it: 1125 is 1.125, and 2000 is 2.
func fromThousandths(n uint64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%03d", n/1000, n%1000), "0"), ".")
}
