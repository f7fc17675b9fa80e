package types

// JobKind is what a job is, by the number that the chain keeps it under (CIP-11
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
