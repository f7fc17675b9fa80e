package push

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const (
	// MaxTemperature is the hottest that endpoints of models take, in thousandths.
	MaxTemperature = 2_000
	// Limits of an HTTP request's header: names of real services are short, and tokens
	// that they take are not.
	MaxHeaders     = 32
	MaxHeaderName  = 128     // bytes
	MaxHeaderValue = 4 << 10 // bytes
	// MaxTransaction is the longest transaction that nodes take without blobs, in bytes. A blob alone has as many.
	MaxTransaction = 128 << 10
	// blobType is the first byte of a transaction with blobs (EIP-4844).
	blobType = 3
	// bytesPerToken is the number of bytes that usage counts as one token (decision J19).
	bytesPerToken = 4
)

// JobKind is the kind of a job, by the number that the chain keeps it under (CIP-11
// §9.4).
type JobKind uint8

// The kinds of jobs (CIP-2).
const (
	JobLLM JobKind = 1 + iota
	JobHTTP
	JobMCP
	JobEthSend
	JobCustom
)

// jobKinds is the table of kinds, in the order in which faces list them. The name is a
// capability, a word of the command line, of scripts and of the API, and a table of a
// runner's settings. JobType, settings and the API's fields follow it.
var jobKinds = []struct {
	number JobKind
	name   string
	of     func(*JobType) request // what a job of the kind asks for; nil of another kind
}{
	{JobCustom, "custom", func(t *JobType) request { return fieldsIfKind(t.Custom) }},
	{JobHTTP, "http", func(t *JobType) request { return fieldsIfKind(t.Http) }},
	{JobLLM, "llm", func(t *JobType) request { return fieldsIfKind(t.Llm) }},
	{JobMCP, "mcp", func(t *JobType) request { return fieldsIfKind(t.Mcp) }},
	{JobEthSend, "ethsend", func(t *JobType) request { return fieldsIfKind(t.EthSend) }},
}

// JobType is a job of one kind.
type JobType struct {
	_       choice
	Llm     *Llm     `cbor:"Llm"`
	Http    *Http    `cbor:"Http"`
	Mcp     *Mcp     `cbor:"Mcp"`
	EthSend *EthSend `cbor:"EthSend"`
	Custom  *Custom  `cbor:"Custom"`
}

// request is what a job of one kind asks for.
type request interface {
	// subject is a runner's name for it, of a kind of which runners offer parts: a model, a
	// host or a server; otherwise "".
	subject() string
	// text has what distinguishes it from others of its kind.
	text() string
	// accept returns why no runner accepts it, within the job's bounds.
	accept(*Bounds) *SpecError
}

// fieldsIfKind is nil of a kind that is another than the job's.
func fieldsIfKind[T any, P interface {
	*T
	request
}](job P) request {
	if job == nil {
		return nil
	}
	return job
}

// chosenRequest returns what the job asks for, and its kind; nil and 0 if none was chosen.
func (t *JobType) chosenRequest() (request, JobKind) {
	for i := range jobKinds {
		if job := jobKinds[i].of(t); job != nil {
			return job, jobKinds[i].number
		}
	}
	return nil, 0
}

// Choose makes the job one of the kind of that name, and returns its struct, which is to
// be filled; nil for an unknown name.
func (t *JobType) Choose(kind string) any {
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		if name, of := v.Type().Field(i).Tag.Lookup("cbor"); of && strings.ToLower(name) == kind {
			v.Field(i).Set(reflect.New(v.Field(i).Type().Elem()))
			return v.Field(i).Interface()
		}
	}
	return nil
}

// FieldOf is the field of a kind's struct that has a name on the wire. It panics if there
// is none.
func FieldOf(job reflect.Value, name string) reflect.Value {
	for i := range job.NumField() {
		if job.Type().Field(i).Tag.Get("cbor") == name {
			return job.Field(i)
		}
	}
	panic(fmt.Sprintf("push: a %s has no field %q", job.Type(), name))
}

// Kind returns the type's number; 0 if none was chosen.
func (t *JobType) Kind() JobKind {
	_, number := t.chosenRequest()
	return number
}

// Subject is what a runner must name that names models, domains, servers or executors;
// "" of a kind without them.
func (t *JobType) Subject() string {
	if job, _ := t.chosenRequest(); job != nil {
		return job.subject()
	}
	return ""
}

// Text is what a job asks for, as tests match it with their answers and faces show it. It
// has method and URL of http, and model and prompt of llm. It has server, tool and
// arguments of mcp, and the bytes of custom and ethsend.
func (t *JobType) Text() string {
	if job, _ := t.chosenRequest(); job != nil {
		return job.text()
	}
	return ""
}

// Acceptable returns why no runner, whatever its offer, accepts a job; nil for an
// acceptable job. The chain takes such a job, and its draws fail, so faces that submit
// jobs for people refuse it before.
func (s *JobSpec) Acceptable() *SpecError {
	if job, _ := s.JobType.chosenRequest(); job != nil {
		return job.accept(&s.Bounds)
	}
	return nil
}

// JobKinds lists the names of the kinds, in the order in which faces list them.
func JobKinds() []string {
	names := make([]string, len(jobKinds))
	for i := range jobKinds {
		names[i] = jobKinds[i].name
	}
	return names
}

// String is the name of the kind; "" of none.
func (k JobKind) String() string {
	for i := range jobKinds {
		if jobKinds[i].number == k {
			return jobKinds[i].name
		}
	}
	return ""
}

// ParseJobKind is the kind of that name.
func ParseJobKind(name string) (JobKind, error) {
	for i := range jobKinds {
		if jobKinds[i].name == name {
			return jobKinds[i].number, nil
		}
	}
	return 0, fmt.Errorf("there is no kind of jobs %.20q: they are %s", name, plural.List(slices.Sorted(slices.Values(JobKinds())), "and"))
}

// Llm asks a language model.
type Llm struct {
	Model        string  `cbor:"model"`
	Prompt       string  `cbor:"prompt"`
	SystemPrompt *string `cbor:"system_prompt"`
	Temperature  uint64  `cbor:"temperature"` // in thousandths
	MaxTokens    uint64  `cbor:"max_tokens"`
}

func (job *Llm) subject() string { return job.Model }
func (job *Llm) text() string    { return job.Model + " " + job.Prompt }

func (job *Llm) accept(bounds *Bounds) *SpecError {
	prompts := []string{job.Prompt}
	if job.SystemPrompt != nil {
		prompts = append(prompts, *job.SystemPrompt)
	}
	tokens := Tokens(prompts...)
	switch {
	case job.MaxTokens == 0:
		return &SpecError{Field: "job_type.Llm.max_tokens", Detail: "0 is below the minimum 1"}
	case job.Temperature > MaxTemperature:
		return &SpecError{Field: "job_type.Llm.temperature",
			Detail: fmt.Sprintf("%s is not between 0 and %s", fromThousandths(job.Temperature), fromThousandths(MaxTemperature))}
	case tokens > bounds.MaxInputTokens:
		return &SpecError{Field: "bounds.max_input_tokens",
			Detail: fmt.Sprintf("%d is too low: the prompts count as %d", bounds.MaxInputTokens, tokens)}
	}
	return nil
}

// fromThousandths is a number as people write it: 1125 is 1.125, and 2000 is 2.
func fromThousandths(n uint64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%03d", n/1000, n%1000), "0"), ".")
}

// Tokens is the number of tokens in texts: four bytes each, rounded up (J19).
func Tokens(texts ...string) uint64 {
	var bytes uint64
	for _, t := range texts {
		bytes += uint64(len(t))
	}
	return (bytes + bytesPerToken - 1) / bytesPerToken
}

// Http sends a request.
type Http struct {
	URL        string       `cbor:"url"`
	Method     string       `cbor:"method"`
	Headers    [][2]string  `cbor:"headers"` // names with their values
	Body       *types.Bytes `cbor:"body"`
	Extraction *string      `cbor:"extraction"` // a JSON pointer into the answer
}

func (job *Http) subject() string { return HostOf(job.URL) }
func (job *Http) text() string    { return job.Method + " " + job.URL }

// methods lists the HTTP methods that a job may use.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func (job *Http) accept(*Bounds) *SpecError {
	wrong := func(field, detail string, args ...any) *SpecError {
		return &SpecError{Field: "job_type.Http." + field, Detail: fmt.Sprintf(detail, args...)}
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
		case len(value) > MaxHeaderValue || strings.ContainsFunc(value, isControl):
			return wrong("headers", "%.40s has more than %d bytes, or others than printed ASCII", name, MaxHeaderValue)
		}
	}
	return nil
}

// headerName is what the name of a header has, in lower case.
const headerName = "abcdefghijklmnopqrstuvwxyz0123456789-_"

func isControl(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f }

// HostOf returns the host of a URL with a scheme, in lower case and without port;
// "" if it has none.
func HostOf(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, "[") { // an IPv6 address
		host, _, closed := strings.Cut(rest[1:], "]")
		if !closed {
			return ""
		}
		return strings.Map(lowerASCII, host)
	}
	host, _, _ := strings.Cut(rest, ":")
	return strings.Map(lowerASCII, host)
}

// lowerASCII is a letter of ASCII in its small form; names of hosts have no others that
// two tables could write differently.
func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// Mcp calls a tool of a server.
type Mcp struct {
	Server    string `cbor:"server"`
	Tool      string `cbor:"tool"`
	Arguments string `cbor:"arguments"` // JSON
}

func (job *Mcp) subject() string           { return job.Server }
func (job *Mcp) text() string              { return job.Server + " " + job.Tool + " " + job.Arguments }
func (job *Mcp) accept(*Bounds) *SpecError { return nil }

// EthSend sends a transaction that is signed already.
type EthSend struct {
	Chain             uint64 `cbor:"chain"`
	SignedTransaction []byte `cbor:"signed_transaction"`
}

func (job *EthSend) subject() string { return "" }
func (job *EthSend) text() string    { return string(job.SignedTransaction) }

func (job *EthSend) accept(*Bounds) *SpecError {
	n := len(job.SignedTransaction)
	switch {
	case job.Chain == 0:
		return &SpecError{Field: "job_type.EthSend.chain", Detail: "0 is below the minimum 1"}
	case n == 0 || n > MaxTransaction:
		why := ""
		if n > 0 && job.SignedTransaction[0] == blobType {
			why = ": no job sends a transaction with its blobs"
		}
		return &SpecError{Field: "job_type.EthSend.signed_transaction",
			Detail: fmt.Sprintf("%s, want 1 to %d%s", plural.Of(n, "byte"), MaxTransaction, why)}
	}
	if first := job.SignedTransaction[0]; first == 0 || first > 0x7f && first < 0xc0 {
		return &SpecError{Field: "job_type.EthSend.signed_transaction",
			Detail: fmt.Sprintf("invalid first byte 0x%02x of a transaction (EIP-2718)", first)}
	}
	return nil
}

// Custom runs what an executor of a name can do.
type Custom struct {
	ExecutorHash types.Hash `cbor:"executor_hash"` // keccak256 of the name
	Params       []byte     `cbor:"params"`
}

func (job *Custom) subject() string           { return job.ExecutorHash.String() }
func (job *Custom) text() string              { return string(job.Params) }
func (job *Custom) accept(*Bounds) *SpecError { return nil }
