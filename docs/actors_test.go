package docs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
)

// actorsPage is printed in parts: the code writes the text between two markers.
const actorsPage = "ACTORS.md"

// source reads a file of the Python host.
func source(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile("../python-host/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	exported   = regexp.MustCompile(`(?s)__all__ = \((.*?)\)\.split\(\)`)
	quotedText = regexp.MustCompile(`"([^"]*)"`)
	definition = regexp.MustCompile(`(?ms)^(?:def|class) (\w+)(?:\((.*?)\))?:\n((?:    """.*?"""))?`)
	aContext   = regexp.MustCompile(`(?s)def context\(\):.*?return (\{.*?\})`)
	aKey       = regexp.MustCompile(`"(\w+)":`)
	modules    = regexp.MustCompile(`(?s)MODULES = frozenset\((.*?)\.split`)
)

// names are the words of the strings in a piece of Python.
func names(piece string) (out []string) {
	for _, m := range quotedText.FindAllStringSubmatch(piece, -1) {
		out = append(out, strings.Fields(m[1])...)
	}
	return out
}

// reference lists the names that a module offers, each with the first sentence of
// its docstring. The docstring may be in that module or in others that it imports
// the name from.
func reference(t *testing.T, module, path string, others ...string) string {
	text := source(t, path)
	defined := text
	for _, other := range others {
		defined += source(t, other)
	}
	said := map[string]string{}
	for _, m := range definition.FindAllStringSubmatch(defined, -1) {
		about, _, _ := strings.Cut(strings.Trim(m[3], ` "`), "\n")
		call := m[1]
		if strings.Contains(m[0][:4], "def") {
			call += "(" + strings.Join(strings.Fields(m[2]), " ") + ")"
		}
		said[m[1]] = fmt.Sprintf("- `%s`  \n  %s\n", call, strings.TrimSpace(about))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "### %s\n\n", module)
	for _, name := range names(exported.FindStringSubmatch(text)[1]) {
		line := said[name]
		switch {
		case line == "" && also[name] != "":
			line = fmt.Sprintf("- `%s`  \n  %s\n", name, also[name])
		case strings.HasSuffix(line, "  \n  \n"):
			t.Errorf("%s.%s says nothing of itself", module, name)
		case line == "":
			t.Errorf("%s.%s is defined in no way this test knows: say in also what it is", module, name)
		}
		out.WriteString(line)
	}
	return out.String() + "\n"
}

// also is what is offered without a definition in the module itself.
var also = map[string]string{
	"OWNER": "For `callable_by`: who deployed the actor.", "SELF": "For `callable_by`: the actor itself.",
	"runtime": "`schedule_timer`, `set_timer` and their like, as CIP-6 names them.", "schedule_timer": "As `pvm_host.schedule_timer`.",
	"PriorityTier": "`ECONOMY`, `STANDARD`, `FAST` and `URGENT`: hints of how a timer is priced.",
	"runner":       "Jobs for runners: `cowboy_sdk.runner`, below.",
	"GBAContext":   "What `get_gas_bid` is told: heights in blocks, amounts in wei.",
	"TxFeeParams":  "What `get_gas_bid` answers, in wei a unit.",
	"u8":           "An integer from 0 to 255, in annotations. `u16`, `u32` and `u64` likewise.",
	"u16":          "An integer from 0 to 65535, in annotations.",
	"u32":          "An integer from 0 to 2^32-1, in annotations.",
	"u64":          "An integer from 0 to 2^64-1, in annotations.",
	"Amount":       "An integer from 0 to 2^256-1, in annotations: wei.",
	"Address":      "20 bytes, in annotations.",
	"Hash":         "32 bytes, in annotations.",
	"List":         "State of many elements, as in `members: List[Address]`: a key for each.",
	"Map":          "State of many entries, as in `log: Map[Address, int] = Map(default=0)`: a key for each.",
	"Bounds":       "Bounds of an integer or of a text's length, as in `Annotated[int, Bounds(0, 100)]`.",
	"Result":       "The outcome of a job, as in `result: Result[Quote]`: `ok`, `value`, `code`, `message`, `job_id`.",
}

func contextKeys(t *testing.T) string {
	found := aContext.FindStringSubmatch(source(t, "pvm_host/__init__.py"))
	var keys []string
	for _, m := range aKey.FindAllStringSubmatch(found[1], -1) {
		keys = append(keys, "`"+m[1]+"`")
	}
	return "Its keys: " + strings.Join(keys, ", ") + ".\n"
}

func imports(t *testing.T) string {
	all := names(modules.FindStringSubmatch(source(t, "host/check.py"))[1])
	all = slices.DeleteFunc(all, func(name string) bool { return name == "__future__" })
	slices.Sort(all)
	return "`" + strings.Join(all, "`, `") + "`.\n"
}

func limits(t *testing.T) string {
	defaults := params.Defaults()
	var out strings.Builder
	out.WriteString("| parameter | value | of |\n|---|---|---|\n")
	for _, row := range [][2]string{
		{"chain.max_code_bytes", "a file, in bytes"}, {"chain.max_state_key_bytes", "a key of state, in bytes"},
		{"chain.max_state_value_bytes", "a value of state, in bytes"}, {"chain.call_depth", "calls within calls"},
		{"chain.max_events_per_message", "events of a message"}, {"cip3.block_cycles_limit", "cycles of a block"},
		{"cip3.block_cells_limit", "cells of a block"}, {"cip5.max_cycles_per_fire", "cycles of a fire"},
		{"cip5.max_cells_per_fire", "cells of a fire"}, {"cip5.max_timers_per_actor", "pending timers of an actor"},
		{"cip5.max_ttl_blocks", "blocks that a timer may wait"}, {"cip1.lane_timer_cycles", "cycles of all fires of a block"},
	} {
		value, err := defaults.Get(row[0])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", row[0], value, row[1])
	}
	return out.String()
}

// The page of actors says what the code offers. After a change:
//
//	go test ./docs -run Actors -update
func TestActorsPageIsWhatTheCodeOffers(t *testing.T) {
	data, err := os.ReadFile(actorsPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for part, want := range map[string]string{
		"context": contextKeys(t), "imports": imports(t), "limits": limits(t),
		"reference": reference(t, "pvm_host", "pvm_host/__init__.py", "host/errors.py") + reference(t, "cowboy_sdk", "cowboy_sdk/__init__.py") +
			reference(t, "cowboy_sdk.runner", "cowboy_sdk/runner.py", "host/errors.py"),
	} {
		begin, end := "<!-- "+part+": go test ./docs -update -->\n", "<!-- end of "+part+" -->"
		before, rest, found := strings.Cut(text, begin)
		have, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s lacks the markers of %s", actorsPage, part)
		}
		if have != want && !*update {
			t.Errorf("the part %s is not what the code says; go test ./docs -run Actors -update writes it", part)
		}
		text = before + begin + want + end + after
	}
	kinds := regexp.MustCompile(`(?m)^KINDS = (.*)$`).FindStringSubmatch(source(t, "host/protocol.py"))
	for _, kind := range names(kinds[1]) {
		if !strings.Contains(text, "\n| `"+kind+"` |") {
			t.Errorf("the kind %q is told nowhere", kind)
		}
	}
	if *update {
		if err := os.WriteFile(actorsPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
