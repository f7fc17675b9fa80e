package oracle

import "strings"

// jobKind is the kind of a job, by its name on the wire (CIP-2).
type jobKind string

// The kinds with a separate price, or of which runners offer parts.
const (
	jobLLM    jobKind = "Llm"
	jobHTTP   jobKind = "Http"
	jobMCP    jobKind = "Mcp"
	jobCustom jobKind = "Custom"
)

// partPrefix has the prefix of capabilities of runners that do a part of a kind.
var partPrefix = map[jobKind]string{jobLLM: "model:", jobHTTP: "domain:", jobMCP: "server:", jobCustom: "executor:"}

// capabilityName is what runners of the kind offer: the wire's name in lower case.
func (k jobKind) capabilityName() string { return strings.ToLower(string(k)) }
