package execution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

const (
	// MaxTemperature is the hottest that endpoints of models take, in thousandths.
	MaxTemperature = 2_000
	// Limits of an HTTP request's header: names of real services are short, and tokens
	// that they take are not.
	MaxHeaders     = 32
	MaxHeaderName  = 128     // bytes
	MaxHeaderValue = 4 << 10 // bytes
	// MaxTransaction is the longest transaction that nodes take without blobs, in bytes.
	MaxTransaction = 128 << 10
	// bytesPerToken is the number of bytes that usage counts as one token (decision J19).
	bytesPerToken = 4
)

// Tokens is the number of tokens in texts: four bytes each, rounded up (J19).
func Tokens(texts ...string) uint64 {
	var bytes uint64
	for _, t := range texts {
		bytes += uint64(len(t))
	}
	return (bytes + bytesPerToken - 1) / bytesPerToken
}

// methods lists the HTTP methods that a job may use.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Check returns why no runner, whatever its offer, accepts a job; nil for an acceptable
// job. The chain takes such a job, and its draws fail, so faces that submit jobs for
// people refuse it before.
func Check(spec *push.JobSpec) *push.SpecError {
	switch t := &spec.JobType; {
	case t.Llm != nil:
		return checkLLM(t.Llm, &spec.Bounds)
	case t.Http != nil:
		return checkHTTP(t.Http)
	case t.EthSend != nil:
		return checkEthSend(t.EthSend)
	}
	return nil
}

func checkHTTP(job *push.Http) *push.SpecError {
	wrong := func(field, detail string, args ...any) *push.SpecError {
		return &push.SpecError{Field: "job_type.Http." + field, Detail: fmt.Sprintf(detail, args...)}
	}
	switch {
	case !slices.Contains(methods, job.Method):
		return wrong("method", "%.20q is none of %s", job.Method, strings.Join(methods, ", "))
	case job.Body != nil && (job.Method == "GET" || job.Method == "HEAD"):
		return wrong("body", "a %s has none", job.Method)
	case len(job.Headers) > MaxHeaders:
		return wrong("headers", "there are %d, at most %d", len(job.Headers), MaxHeaders)
	}
	for _, h := range job.Headers {
		switch name, value := h[0], h[1]; {
		case name == "" || len(name) > MaxHeaderName || strings.Trim(strings.ToLower(name), headerName) != "":
			return wrong("headers", "invalid header name %.40q", name)
		case len(value) > MaxHeaderValue || strings.ContainsFunc(value, notPrinted):
			return wrong("headers", "%.40s has more than %d bytes, or others than printed ASCII", name, MaxHeaderValue)
		}
	}
	return nil
}

// headerName is what the name of a header has, in lower case.
const headerName = "abcdefghijklmnopqrstuvwxyz0123456789-_"

func notPrinted(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f }

func checkEthSend(job *push.EthSend) *push.SpecError {
	n := len(job.SignedTransaction)
	switch {
	case job.Chain == 0:
		return &push.SpecError{Field: "job_type.EthSend.chain", Detail: "0 is below the minimum 1"}
	case n == 0 || n > MaxTransaction:
		return &push.SpecError{Field: "job_type.EthSend.signed_transaction",
			Detail: fmt.Sprintf("%s, want 1 to %d", plural.Of(n, "byte"), MaxTransaction)}
	}
	if first := job.SignedTransaction[0]; first == 0 || first > 0x7f && first < 0xc0 {
		return &push.SpecError{Field: "job_type.EthSend.signed_transaction",
			Detail: fmt.Sprintf("invalid first byte 0x%02x of a transaction (EIP-2718)", first)}
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
		return &push.SpecError{Field: "job_type.Llm.max_tokens", Detail: "0 is below the minimum 1"}
	case job.Temperature > MaxTemperature:
		return &push.SpecError{Field: "job_type.Llm.temperature",
			Detail: fmt.Sprintf("%s is not between 0 and %s", fromThousandths(job.Temperature), fromThousandths(MaxTemperature))}
	case tokens > bounds.MaxInputTokens:
		return &push.SpecError{Field: "bounds.max_input_tokens",
			Detail: fmt.Sprintf("%d is too low: the prompts count as %d", bounds.MaxInputTokens, tokens)}
	}
	return nil
}

// fromThousandths is a number as people write it: 1125 is 1.125, and 2000 is 2.
func fromThousandths(n uint64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%03d", n/1000, n%1000), "0"), ".")
}
