package hosts

import (
	"fmt"
	"os"
	"strings"
)

// compose is the network in containers. Who made it owns what they write. Only this
// machine reaches the HTTP APIs from outside.
func (n *Network) compose() string {
	var b strings.Builder
	b.WriteString("# A Cowboy network, a container a node; each validator's HTTP API is on a port of this machine.\nservices:\n")
	for _, v := range n.Validators {
		n.service(&b, v.Name, "validator", nil)
		fmt.Fprintf(&b, "      - ./%s:/devnet/%s:ro\n", genesisFile, genesisFile)
		fmt.Fprintf(&b, "      - ./%s/%s:/devnet/%s/%s\n", homesDir, v.Name, homesDir, v.Name)
		fmt.Fprintf(&b, "    ports:\n      - \"%s:%d\"\n", v.API, Port)
	}
	for i, r := range n.Runners {
		n.service(&b, r.Name, "runner", []string{n.Validators[i%len(n.Validators)].Name})
	}
	return b.String()
}

// service writes what every node has; volumes come last, for more of them.
func (n *Network) service(b *strings.Builder, name, kind string, after []string) {
	fmt.Fprintf(b, "  %s:\n    image: %q\n    hostname: %s\n    user: \"%d:%d\"\n", name, n.plan.Image, name, os.Getuid(), os.Getgid())
	fmt.Fprintf(b, "    command: [\"devnet\", \"node\", %q, \"--config\", \"/devnet/%s\"]\n", kind, settingsFile(name))
	b.WriteString("    restart: unless-stopped\n    stop_grace_period: 40s\n")
	for _, other := range after {
		fmt.Fprintf(b, "    depends_on: [%q]\n", other)
	}
	fmt.Fprintf(b, "    volumes:\n      - ./%s:/devnet/%s:ro\n", settingsFile(name), settingsFile(name))
	fmt.Fprintf(b, "      - ./%s:/devnet/%s:ro\n", keyFile(name), keyFile(name))
}
