package docs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// A way is a way to run a network, as README.md names it.
type way struct {
	name    string
	can     network.Capability
	script  bool   // a scenario gives the orders; otherwise HTTP does
	methods string // the file with more verbs, as methods; "" for none
}

var ways = []way{
	{"`devnet up`", network.Live, false, ""},
	{"`devnet up --processes`", network.Live, false, ""},
	{"`docker compose`", network.Alone, false, ""},
	{"Swarm, Kubernetes", network.Alone, false, ""},
	{"`devnet run`", network.Simulated, true, ""},
	{"`devnet run --backend live`", network.Live, true, ""},
	{"`devnet run --backend processes`", network.Live, true, ""},
	{"`devnet run --backend docker`", network.Live, true, ""},
	{"a Go or Python test", network.Simulated, false, ""},
	{"a Go test with `Live()`", network.Live, false, ""},
	{"`Run` of testcontainers", network.Live, false, ""},
	{"`RunCluster` of testcontainers", network.Alone, false, "testcontainers/cluster.go"},
}

// has reports whether a way takes a fault verb, by the tables of verbs and of capabilities.
func (w way) has(v *fault.Verb) bool {
	if w.method(v.Name) {
		return true
	}
	shown := w.script || !v.Hidden || v == fault.Heal // which has a separate path
	return shown && w.can&network.NeededBy(v) != 0
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

// column is a column of the matrix: what the same ways can do.
type column struct {
	names []string
	has   func(way) bool
}

// columns are the verbs of faults and the other capabilities, in the order of their tables.
func columns() (all []*column) {
	add := func(name string, has func(way) bool) {
		for _, c := range all {
			if !slices.ContainsFunc(ways, func(w way) bool { return c.has(w) != has(w) }) {
				c.names = append(c.names, name)
				return
			}
		}
		all = append(all, &column{[]string{name}, has})
	}
	ofFaults := network.Capability(0)
	for _, v := range fault.Verbs() {
		ofFaults |= network.NeededBy(v)
		add("`"+v.Name+"`", func(w way) bool { return w.has(v) })
	}
	faults := all
	all = nil
	for _, row := range network.Rows {
		if ofFaults&row.Is == 0 {
			add(row.Name, func(w way) bool { return w.can&row.Is != 0 })
		}
	}
	return append(faults, all...)
}

// matrix is the table of README.md. Ways that do the same have one row.
func matrix() string {
	var head, rule, notes strings.Builder
	for _, c := range columns() {
		if verb := c.names[0][0] == '`'; len(c.names) == 1 || !verb {
			fmt.Fprintf(&head, " %s |", strings.Join(c.names, ", "))
		} else {
			fmt.Fprintf(&head, " %s … |", c.names[0])
			fmt.Fprintf(&notes, "\n- %s … includes %s.", c.names[0], strings.Join(c.names[1:], ", "))
		}
		rule.WriteString("---|")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| way to run |%s\n|---|%s\n", head.String(), rule.String())
	cell := map[bool]string{true: " yes |", false: " – |"}
	var rows []string // of cells, each once
	named := map[string][]string{}
	for _, w := range ways {
		row := ""
		for _, c := range columns() {
			row += cell[c.has(w)]
		}
		if named[row] == nil {
			rows = append(rows, row)
		}
		named[row] = append(named[row], w.name)
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |%s\n", strings.Join(named[row], ", "), row)
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
}
