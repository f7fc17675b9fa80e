package docs

import (
	"fmt"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
)

// parameterRow is a row of the table of parameters of DECISIONS.md: key, class and default.
var parameterRow = regexp.MustCompile("(?m)^\\| `(cip[0-9]+\\.[a-z_]+)` \\| ([a-z]+) \\| ([^|]*?) \\|$")

// defaultValue begins the cell of a default: the value, in backquotes or not, before its unit and citation.
var defaultValue = regexp.MustCompile("^`?([a-z0-9,-]+)`?( CBY)?( |$)")

// readDefault is the default that a cell of the table states, as `devnet params` writes it.
func readDefault(cell string) string {
	m := defaultValue.FindStringSubmatch(cell)
	if m == nil {
		return cell
	}
	value := strings.ReplaceAll(m[1], ",", "")
	if m[2] != "" {
		value += strings.Repeat("0", 9)
	}
	return value
}

// compareParameters lists where the table of a text differs from the parameters of jobs and runners.
func compareParameters(text string, all []params.Info) (wrong []string) {
	stated := map[string][]string{}
	for _, m := range parameterRow.FindAllStringSubmatch(text, -1) {
		stated[m[1]] = m[2:]
	}
	for _, p := range all {
		group, _, _ := strings.Cut(p.Key, ".")
		cells, found := stated[p.Key]
		delete(stated, p.Key)
		switch {
		case !found && (group == "cip2" || group == "cip11"):
			wrong = append(wrong, fmt.Sprintf("%s is in no row", p.Key))
		case found && cells[0] != string(p.Class):
			wrong = append(wrong, fmt.Sprintf("%s has the class %s, the row says %s", p.Key, p.Class, cells[0]))
		case found && readDefault(cells[1]) != p.Default:
			wrong = append(wrong, fmt.Sprintf("%s has the default %s, the row says %s", p.Key, p.Default, cells[1]))
		}
	}
	for key := range stated {
		wrong = append(wrong, fmt.Sprintf("%s is no parameter", key))
	}
	slices.Sort(wrong)
	return wrong
}

func decisionsText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("DECISIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDecisionsStateTheParametersOfJobsAndRunners(t *testing.T) {
	for _, w := range compareParameters(decisionsText(t), params.Keys()) {
		t.Error("docs/DECISIONS.md, parameters of jobs and runners: " + w)
	}
}

func TestParameterRowsThatDifferAreReported(t *testing.T) {
	all := []params.Info{
		{Key: "cip2.min_stake", Class: params.NextBlock, Default: "10000000000000"},
		{Key: "cip11.push", Class: params.NextBlock, Default: "hot"},
		{Key: "cip11.max_runners", Class: params.NextBlock, Default: "65504"},
		{Key: "cip1.lane", Class: params.NextBlock, Default: "1"},
	}
	rows := "| `cip2.min_stake` | block | 10,000 CBY ([J3]) |\n| `cip11.push` | block | `hot` ([J11]) |\n| `cip11.max_runners` | block | 65,504 |\n"
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"10,000 CBY", "10,001 CBY", "cip2.min_stake has the default 10000000000000, the row says 10,001 CBY ([J3])"},
		{"10,000 CBY", "10,000", "cip2.min_stake has the default 10000000000000, the row says 10,000 ([J3])"},
		{"`hot`", "`off`", "cip11.push has the default hot, the row says `off` ([J11])"},
		{"block | 65,504", "epoch | 65,504", "cip11.max_runners has the class block, the row says epoch"},
		{"| `cip11.max_runners` | block | 65,504 |\n", "", "cip11.max_runners is in no row"},
		{"`cip11.push`", "`cip11.pull`", "cip11.pull is no parameter; cip11.push is in no row"},
	} {
		if got := strings.Join(compareParameters(strings.Replace(rows, c.from, c.to, 1), all), "; "); got != c.want {
			t.Errorf("%q in place of %q: %q, want %q", c.to, c.from, got, c.want)
		}
	}
}

const paramsFolder = "internal/base/params/"

// fieldSelection is a field that a source selects.
var fieldSelection = regexp.MustCompile(`\.([A-Z]\w*)`)

// unreadFields lists the fields of a struct that are not among the selected names.
func unreadFields(of reflect.Type, selected map[string]bool) (unread []string) {
	for i := range of.NumField() {
		if name := of.Field(i).Name; !selected[name] {
			unread = append(unread, name)
		}
	}
	return unread
}

// TestEachParameterIsRead fails for a parameter that can be set and has no effect.
func TestEachParameterIsRead(t *testing.T) {
	selected := map[string]bool{}
	if err := read(checkout(), func(file, text string) {
		folder, name := path.Split(file)
		if path.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") && (folder != paramsFolder || name == "params.go" || name == "steps.go") {
			for _, m := range fieldSelection.FindAllStringSubmatch(text, -1) {
				selected[m[1]] = true
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range unreadFields(reflect.TypeFor[params.Params](), selected) {
		t.Errorf("nothing reads params.Params.%s: it can be set, and has no effect", name)
	}
	type planted struct{ MinSubset, NobodyReads uint64 }
	if got := unreadFields(reflect.TypeFor[planted](), selected); !slices.Equal(got, []string{"NobodyReads"}) {
		t.Errorf("the fields that nothing reads are %v, want NobodyReads", got)
	}
}
