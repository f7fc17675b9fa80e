package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// reference is the reference of all builtins as Markdown, printed from the
// tables that bind them. docs/SCENARIOS.md holds it between markers.
func reference() string {
	var b strings.Builder
	b.WriteString("### Functions\n\n")
	verbsTo(&b, "", tables().global)
	b.WriteString("### Network\n\nThe result of `network(…)`. Without parentheses:\n\n")
	for _, f := range tables().networkFields {
		fmt.Fprintf(&b, "- **`net.%s`**: %s\n", f.name, f.doc)
	}
	b.WriteString("\nVerbs:\n\n")
	verbsTo(&b, "net.", tables().network)
	b.WriteString("### Validators\n\nThe type of `net.validators[0]` and `net.validator(\"v0\")`. Verbs:\n\n")
	verbsTo(&b, "v.", tables().validator)
	b.WriteString("### Runners\n\nThe type of `net.runners[0]`, `net.runner(\"r0\")` and the members of `job.committee`. Verbs, of those " +
		"that the devnet runs itself:\n\n")
	verbsTo(&b, "r.", tables().runner)
	b.WriteString("### Jobs\n\nThe result of `net.submit_job(…)` and `net.job(id)`. Verbs:\n\n")
	verbsTo(&b, "job.", tables().job)
	b.WriteString(
		"### Fields\n\nThe names come from JSON over HTTP, but since replaces from, a reserved word of Starlark. Bytes, hashes and " +
			"addresses are `bytes`, amounts whole numbers of wei, missing values `None`.\n\n")
	for _, shown := range []struct {
		kind  string
		value any
	}{
		{"account", model.Account{}}, {"block", model.Block{}}, {"receipt", model.Receipt{}}, {"timer", model.Timer{}},
		{"story entry", model.StoryEntry{}}, {"lane", model.LaneBlock{}},
		{"validator", model.Validator{}}, {"runner", model.Runner{}}, {"job", model.Job{}}, {"job event", model.JobEvent{}},
		{"draw", model.JobDraw{}},
		{"presence event", model.PresenceEvent{}}, {"runner event", model.RunnerEvent{}}, {"result", model.ReadResult{}}, {"fault", shownFault{}},
	} {
		fmt.Fprintf(&b, "- **%s**: %s\n", shown.kind, strings.Join(fieldNames(reflect.TypeOf(shown.value)), ", "))
	}
	fmt.Fprintf(&b, "- **actor**: %s\n", strings.Join(actorFields, ", "))
	b.WriteString("\n### Kinds of arguments\n\n")
	for _, k := range kindOrder {
		if used(k) && k != "names" {
			fmt.Fprintf(&b, "- **%s**: %s\n", k, kinds[k].doc)
		}
	}
	fmt.Fprintf(&b,
		"\n### Limits\n\nA script takes at most %d steps, and its process at most %d MiB of heap. One step may take %v, apart from waiting "+
			"for the network. A file has at most %d KiB, and a script at most %d of them.\n",
		MaxSteps, MaxMemory>>20, MaxStepTime, MaxScriptBytes>>10, MaxFiles)
	return broken(b.String())
}

// maxColumns is where broken breaks a line.
const maxColumns = 138

// broken breaks the long lines of a Markdown text at spaces outside code. It indents the
// further lines of an item.
func broken(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := ""
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "  ") {
			indent = "  "
		}
		var done strings.Builder
		for at := breakOf(line); at > 0; at = breakOf(line) {
			done.WriteString(line[:at] + "\n")
			line = indent + line[at+1:]
		}
		lines[i] = done.String() + line
	}
	return strings.Join(lines, "\n")
}

// breakOf is the last space at which a line may be broken so that it fits, and 0
// where it fits or there is none.
func breakOf(line string) int {
	if utf8.RuneCountInString(line) <= maxColumns {
		return 0
	}
	best, columns, code := 0, 0, false
	for at, r := range line {
		switch {
		case r == '`':
			code = !code
		case r == ' ' && !code && columns > 2 && columns <= maxColumns && strings.TrimSpace(line[at:]) != "":
			best = at
		}
		columns++
	}
	return best
}

func verbsTo(b *strings.Builder, prefix string, verbs []*verb) {
	for _, v := range verbs {
		fmt.Fprintf(b, "- **`%s%s`**  \n  %s\n", prefix, v, v.doc)
	}
	b.WriteString("\n")
}

// used says whether a signature names a kind.
func used(kind string) bool {
	for _, verbs := range [][]*verb{tables().global, tables().network, tables().validator, tables().runner, tables().job} {
		for _, v := range verbs {
			for _, p := range v.params {
				if p.kind == kind {
					return true
				}
			}
		}
	}
	return false
}

func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			names = append(names, fieldNames(f.Type)...)
		} else if name := scriptName(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}
