// Package profiletext writes what the lines of an execution took.
package profiletext

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// lineUse is what a line took, in all calls of an execution.
type lineUse struct {
	hits           uint64
	cycles, called types.Cycles
}

// byLine adds up what the lines of each code took.
func byLine(t *model.Trace) map[types.Hash]map[int]lineUse {
	found := map[types.Hash]map[int]lineUse{}
	eachCall(t.Call, func(c *model.TraceCall) {
		if found[c.Code] == nil {
			found[c.Code] = map[int]lineUse{}
		}
		for _, l := range c.Lines {
			u := found[c.Code][l.Line]
			found[c.Code][l.Line] = lineUse{u.hits + l.Hits, u.cycles + l.Cycles, u.called + l.Called}
		}
	})
	return found
}

// eachCall visits a call and those within it.
func eachCall(c *model.TraceCall, visit func(*model.TraceCall)) {
	if c == nil {
		return
	}
	visit(c)
	for i := range c.Steps {
		eachCall(c.Steps[i].Call, visit)
	}
}

// Print prints what each line of code took in an execution.
func Print(w io.Writer, t *model.Trace) {
	uses := byLine(t)
	for _, source := range t.Sources {
		lines := uses[source.Code]
		if len(lines) == 0 {
			continue
		}
		var all types.Cycles
		for _, u := range lines {
			all += u.cycles
		}
		name := cmp.Or(source.Name, words.Short(source.Code.String()))
		fmt.Fprintf(w, "\n%s: %s cycles by line, calls included\n", words.Printable(name), words.Grouped(uint64(all)))
		fmt.Fprintln(w, "    cycles    %   hits  line")
		text := strings.Split(source.Text, "\n")
		for _, line := range slices.Sorted(maps.Keys(lines)) {
			u := lines[line]
			if u.cycles == 0 && u.hits == 0 {
				continue
			}
			what := "the host's own"
			number := ""
			if line >= 1 && line <= len(text) {
				number, what = fmt.Sprint(line), strings.TrimRight(text[line-1], " \t\r")
			}
			row := fmt.Sprintf("%10s %3d%% %6s %5s  %s", words.Grouped(uint64(u.cycles)), 100*u.cycles/max(all, 1), words.Grouped(u.hits), number,
				what)
			fmt.Fprintln(w, words.Clipped(words.Printable(row), words.Columns))
		}
	}
	if len(t.Sources) == 0 {
		fmt.Fprintln(w, "\nNo program ran.")
	}
}

// Fold returns a profile in the format of flame graphs: a line for each stack, its
// frames with ; between them, and its own cycles.
func Fold(t *model.Trace) string {
	stacks := map[string]types.Cycles{}
	whole := t.Receipt.Cycles
	if t.Call != nil {
		whole -= min(whole, t.Call.Cycles)
		foldCall(t.Call, "", stacks)
	}
	stacks[t.Receipt.Origin] += whole
	var out strings.Builder
	for _, stack := range slices.SortedFunc(maps.Keys(stacks), cmp.Compare[string]) {
		if cycles := stacks[stack]; cycles > 0 {
			fmt.Fprintf(&out, "%s %d\n", stack, cycles)
		}
	}
	return out.String()
}

func foldCall(c *model.TraceCall, above string, stacks map[string]types.Cycles) {
	name := cmp.Or(c.Name, words.Short(c.Actor.String()))
	path := above + frameName(name+"."+c.Handler)
	var told types.Cycles
	for _, l := range c.Lines {
		at := path
		if l.Stack != "" {
			at += ";" + strings.ReplaceAll(l.Stack, " ", "_") + fmt.Sprintf(":%d", l.Line)
		}
		own := l.Cycles - min(l.Called, l.Cycles)
		stacks[at] += own
		told += own
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.What != "call_actor" {
			continue
		}
		cost := s.Cycles
		if s.Call != nil {
			cost -= min(cost, s.Call.Cycles)
			foldCall(s.Call, path+";", stacks)
			told += s.Call.Cycles
		}
		stacks[path+";call_actor"] += cost
		told += cost
	}
	stacks[path] += c.Cycles - min(told, c.Cycles) // all for a program without lines, otherwise the cycles after its last line
}

// frameName is a name that a line of folded stacks may hold.
func frameName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ';' || r == ' ' || r == '\n' {
			return '_'
		}
		return r
	}, words.Printable(name))
}
