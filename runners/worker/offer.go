package worker

import (
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Offer is what a runner can do, in the words of the registry (the wire's JobSpec
// section): the kinds custom, http, llm, mcp and ethsend; model:NAME, domain:NAME and
// server:NAME, without which it takes any; tee:NAME. What it does not know it passes
// over.
type Offer struct {
	Capabilities []string
	Entitlements []string
}

// kinds are the capabilities that a job of a kind asks for, and the prefix of those
// that say which of them.
var kinds = [...]struct {
	kind   types.JobKind
	name   string
	prefix string
}{
	{types.JobLLM, "llm", "model:"},
	{types.JobHTTP, "http", "domain:"},
	{types.JobMCP, "mcp", "server:"},
	{types.JobEthSend, "ethsend", ""},
	{types.JobCustom, "custom", ""},
}

// refuses says why a job cannot be done here, "" where it can.
func (o *Offer) refuses(spec *push.JobSpec) (why push.RejectReason, detail string) {
	if err := spec.Check(); err != nil {
		return push.BadSpec, err.Error()
	}
	for _, k := range kinds {
		if k.kind != spec.JobType.Kind() {
			continue
		}
		if !slices.Contains(o.Capabilities, k.name) {
			return push.Unsupported, "no capability " + k.name
		}
		if k.prefix != "" && !o.takes(k.prefix, subject(spec)) {
			return push.Unsupported, "no capability " + k.prefix + subject(spec)
		}
	}
	if spec.Verification.TEERequired && !o.has("tee:") {
		return push.Unsupported, "no trusted execution"
	}
	if pool := spec.RequiredRunnerPool; pool != nil && !slices.Contains(o.Entitlements, *pool) {
		return push.MissingEntitlement, "no entitlement " + *pool
	}
	return "", ""
}

// has reports whether there is a capability with a prefix.
func (o *Offer) has(prefix string) bool {
	return slices.ContainsFunc(o.Capabilities, func(c string) bool { return strings.HasPrefix(c, prefix) })
}

// takes reports whether one with a prefix names something, or none has the prefix.
func (o *Offer) takes(prefix, name string) bool {
	return !o.has(prefix) || slices.Contains(o.Capabilities, prefix+name)
}

// subject is what of its kind a job asks for: a model, a host, a server.
func subject(spec *push.JobSpec) string {
	switch t := &spec.JobType; {
	case t.Llm != nil:
		return t.Llm.Model
	case t.Http != nil:
		return host(t.Http.URL)
	case t.Mcp != nil:
		return t.Mcp.Server
	}
	return ""
}

// host is that of a URL, in small letters; "" where there is none. The executor
// judges the URL itself, and asks of the same host.
func host(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	if strings.HasPrefix(rest, "[") { // an IPv6 address
		address, _, _ := strings.Cut(rest[1:], "]")
		return strings.ToLower(address)
	}
	name, _, _ := strings.Cut(rest, ":")
	return strings.ToLower(name)
}
