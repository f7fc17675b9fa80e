package oracle

// jobKind is the kind of a job, by its number (CIP-2).
type jobKind uint8

// The kinds of jobs, by the wire's numbers.
const (
	jobLLM jobKind = 1 + iota
	jobHTTP
	jobMCP
	jobEthSend
	jobCustom
)

// jobKinds is the table of kinds: the wire's name, the capability, and the prefix of
// capabilities of runners that do a part of the kind.
var jobKinds = []struct {
	number                 jobKind
	wire, capability, part string
}{
	{jobLLM, "Llm", "llm", "model:"},
	{jobHTTP, "Http", "http", "domain:"},
	{jobMCP, "Mcp", "mcp", "server:"},
	{jobEthSend, "EthSend", "ethsend", ""},
	{jobCustom, "Custom", "custom", "executor:"},
}
