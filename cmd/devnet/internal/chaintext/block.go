// Package chaintext writes blocks, transactions, receipts, events, views and accounts for people.
package chaintext

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintBlock prints a block, what it executed, and which runners it shows present.
func PrintBlock(w io.Writer, b model.Block, present string, executed []model.Receipt, names *naming.Names) {
	terminal.PrintFacts(w, "height", terminal.Height(b.Height), "hash", b.Hash.String(), "parent", b.Parent.String(), "proposer",
		names.Of(b.Proposer),
		"time", time.UnixMilli(int64(b.TimestampMS)).UTC().Format(time.RFC3339Nano), "view", strconv.FormatUint(uint64(b.View), 10),
		"epoch", strconv.FormatUint(uint64(b.Epoch), 10), "state root", b.StateRoot.String(),
		"used", fmt.Sprintf("%d cycles (%d by timers), %d cells", b.CyclesUsed, b.TimerCyclesUsed, b.CellsUsed),
		"base fees", fmt.Sprintf("%s wei a cycle, %s a cell, timer lane %s", b.BaseFeeCycle, b.BaseFeeCell, b.BaseFeeLaneTimer),
		"deferred", timersOf(b.TimersDeferred), "expired", timersOf(b.TimersExpired), "unpaid", timersOf(b.TimersInsufficient),
		"passed over", passedOver(&b.Passed), "runners", present)
	if len(executed) > 0 {
		fmt.Fprintln(w)
		PrintExecutions(w, names, executed[:min(len(executed), maxShownExecuted)], false)
		if len(executed) > maxShownExecuted {
			fmt.Fprintln(w, "… and more: --json")
		}
	}
	PrintEvents(w, b.Events[:min(len(b.Events), maxShownEvents)])
	if more := len(b.Events) - maxShownEvents; more > 0 {
		fmt.Fprintf(w, "… and %d more events: --json\n", more)
	}
}

// passedOver lists the items that a proposer skipped because its host of programs
// failed or its time was over (decision C18).
func passedOver(p *model.Passed) string {
	var parts []string
	if len(p.Timers) > 0 {
		parts = append(parts, timersOf(p.Timers))
	}
	if n := len(p.Messages); n > 0 {
		parts = append(parts, plural.Of(n, "message"))
	}
	if n := len(p.Agents); n > 0 {
		parts = append(parts, plural.Of(n, "gas bidding agent"))
	}
	if n := len(p.Late); n > 0 {
		parts = append(parts, plural.Of(n, "late transaction"))
	}
	if len(parts) > 0 {
		parts = []string{"host_failed over " + strings.Join(parts, ", ")}
	}
	if len(p.Stopped) > 0 {
		parts = append(parts, "no time for more "+strings.Join(p.Stopped, ", "))
	}
	if p.Waiting > 0 {
		parts = append(parts, plural.Of(int(min(p.Waiting, 1<<31)), "item")+" left for another block")
	}
	return strings.Join(parts, "; ")
}

// timersOf counts timers and names the first of them.
func timersOf(ids []types.TimerID) string {
	if len(ids) == 0 {
		return ""
	}
	const few = 3
	text := terminal.Count(len(ids), "timer") + ":"
	for _, id := range ids[:min(few, len(ids))] {
		text += " " + words.Short(id.String())
	}
	if len(ids) > few {
		text += " …"
	}
	return text
}
