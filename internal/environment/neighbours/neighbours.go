// Package neighbours reports whether this machine has room for a network of containers
// in its table of neighbours (ARP). Linux has one for all of its containers, and drops
// packets without room there, packets of nodes and answers to the supervisor alike.
package neighbours

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// setting is the setting of Linux that bounds the table.
const setting = "net.ipv4.neigh.default.gc_thresh3"

// Crowded returns why the nodes in containers do not fit on this machine, nil if they
// do, or if the limit is unknown.
func Crowded(validators, runners int) error {
	text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(setting, ".", "/"))
	if err != nil {
		return nil
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || neededEntries(validators, runners) <= limit {
		return nil
	}
	return tooMany(validators, runners, limit)
}

// neededEntries is how many entries nodes take that all talk: a validator knows every node, a
// runner every validator, each its gateway, and the machine all of them.
func neededEntries(validators, runners int) int {
	nodes := validators + runners
	return validators*nodes + runners*(validators+1) + nodes
}

func tooMany(validators, runners, limit int) error {
	entries := neededEntries(validators, runners)
	return fmt.Errorf("%d containers need %d entries in this machine's table of neighbours, which holds %d: "+
		"run sudo sysctl -w %s=%d, or use fewer nodes, or processes", validators+runners, entries, limit, setting, roundUp(2*entries))
}

// roundUp is the power of two that is n or above.
func roundUp(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}
