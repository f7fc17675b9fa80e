package docs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// A way is a way to run a network, as README.md names it.
type way struct {
	name      string
	script    bool   // a scenario gives the orders; otherwise HTTP does
	simulated bool   // virtual time, disks and clocks
	whole     bool   // one process orders all nodes
	methods   string // the file with more verbs, as methods; "" for none
}

var ways = []way{
	{"`devnet up`", false, false, true, ""},
	{"`devnet up --processes`", false, false, true, ""},
	{"`docker compose`", false, false, false, ""},
	{"Swarm, Kubernetes", false, false, false, ""},
	{"`devnet run`", true, true, true, ""},
	{"`devnet run --backend live`", true, false, true, ""},
	{"`devnet run --backend processes`", true, false, true, ""},
	{"`devnet run --backend docker`", true, false, true, ""},
	{"Go test, Python test", false, true, true, ""},
	{"Go test, `Live()`", false, false, true, ""},
	{"testcontainers, `Run`", false, false, true, ""},
	{"testcontainers, `RunCluster`", false, false, false, "testcontainers/cluster.go"},
}

// has reports whether a way takes a fault verb, by the table of verbs. A network
// whose nodes are ordered one by one takes faults of nodes only
// (box.origin.elsewhere).
func (w way) has(v *fault.Verb) bool {
	switch {
	case v.NotLive != "" && !w.simulated:
		return false
	case w.script || w.method(v.Name):
		return true
	case v.Name == "heal": // has a separate path
		return w.whole
	case v.Hidden:
		return false
	}
	return w.whole || v.OfNode()
}

// method reports whether the file of a way has a method named after a verb.
func (w way) method(verb string) bool {
	if w.methods == "" {
		return false
	}
	source, err := os.ReadFile("../" + w.methods)
	if err != nil {
		panic(err)
	}
	return strings.Contains(string(source), ") "+strings.ToUpper(verb[:1])+verb[1:]+"(")
}

// orders are all orders other than faults, each with the code that refuses it
// elsewhere.
var orders = []struct {
	name, code string
	has        func(way) bool
}{
	{"pause, time travel", "internal/worlds/box.origin.elsewhere", func(w way) bool { return w.whole }},
	{"a validator joins, leaves", "internal/worlds/box.origin.elsewhere", func(w way) bool { return w.whole }},
	{"snapshot of a running network", "devnettest.live.snapshot", func(w way) bool { return w.simulated }},
}

// families are the fault verbs that the same ways take, in the order of the table.
func families() (all [][]*fault.Verb) {
	like := func(a, b *fault.Verb) bool {
		return !slices.ContainsFunc(ways, func(w way) bool { return w.has(a) != w.has(b) })
	}
	verbs := fault.Verbs()
	for i := range verbs {
		v := &verbs[i]
		at := slices.IndexFunc(all, func(f []*fault.Verb) bool { return like(f[0], v) })
		if at < 0 {
			all = append(all, []*fault.Verb{v})
			continue
		}
		all[at] = append(all[at], v)
	}
	return all
}

// matrix is the table of README.md.
func matrix() string {
	var head, rule, notes strings.Builder
	for _, family := range families() {
		var names []string
		for _, v := range family {
			names = append(names, "`"+v.Name+"`")
		}
		if len(names) == 1 {
			fmt.Fprintf(&head, " %s |", names[0])
		} else {
			fmt.Fprintf(&head, " %s … |", names[0])
			fmt.Fprintf(&notes, "\n- %s … includes %s.", names[0], strings.Join(names[1:], ", "))
		}
		rule.WriteString("---|")
	}
	for _, o := range orders {
		fmt.Fprintf(&head, " %s |", o.name)
		rule.WriteString("---|")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| way to run |%s\n|---|%s\n", head.String(), rule.String())
	cell := map[bool]string{true: " yes |", false: " – |"}
	for _, w := range ways {
		fmt.Fprintf(&b, "| %s |", w.name)
		for _, family := range families() {
			b.WriteString(cell[w.has(family[0])])
		}
		for _, o := range orders {
			b.WriteString(cell[o.has(w)])
		}
		b.WriteString("\n")
	}
	return b.String() + notes.String() + "\n\n"
}

var matrixPart = regexp.MustCompile(`(?s)(<!-- matrix: .*?-->\n)(.*?)(<!-- end of matrix -->)`)

// The matrix of README.md follows from the tables in code.
func TestTheMatrixOfTheReadme(t *testing.T) {
	page := "../README.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := matrixPart.FindSubmatch(text)
	if found == nil {
		t.Fatal("README.md has no part between <!-- matrix: … --> and <!-- end of matrix -->")
	}
	if *update {
		text = matrixPart.ReplaceAllFunc(text, func([]byte) []byte {
			return []byte(string(found[1]) + matrix() + string(found[3]))
		})
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(found[2]) != matrix() {
		t.Errorf("the matrix differs from the tables in code; write it by: go test ./docs -run Matrix -update\n%s", matrix())
	}
	sources := newSources(checkout())
	for _, o := range orders {
		if why := sources.code(o.code); why != "" {
			t.Errorf("the code that refuses %q: %s", o.name, why)
		}
	}
}

// A newcomer reads the README in a minute.
func TestTheReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 130 {
		t.Errorf("README.md has %d lines, at most 130: move details to docs", n)
	}
}
