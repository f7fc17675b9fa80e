// Package timertext writes timers, their story and the lane for people.
package timertext

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintTerms prints the timer's request, and its status.
func PrintTerms(w io.Writer, s *model.TimerStory, actor string) {
	t := &s.Timer
	payer, due, watches, gba, bid := "the actor", terminal.Height(t.Height), "", "", ""
	if t.FeePayer != t.Actor {
		payer = t.FeePayer.String()
		if t.Sponsor != nil {
			payer += ", within the sponsor of transaction " + t.Sponsor.String()
		}
	}
	if t.Watch != nil {
		key := cmp.Or(words.Value(t.Watch.Key), "the empty key")
		due = "" // no height makes it so
		watches = fmt.Sprintf("%s of %s, from height %s on", key, t.Watch.Actor, terminal.Height(t.Height))
	}
	if t.GBA != nil {
		gba = t.GBA.String()
	}
	if !t.Bid.IsZero() {
		bid = words.CBY(t.Bid) + ", locked"
	}
	terminal.PrintFacts(w, "timer", t.ID.String(), "actor", actor, "handler", words.Printable(t.Handler), "payload", words.Value(t.Payload),
		"status", statusLine(s), "due", due, "watches", watches, "expires at", terminal.Height(t.ExpiresAt),
		"gas limit", gasLimit(t.GasLimit), "max fee", perCycle(t.MaxFeePerCycle), "max tip", perCycle(t.MaxPriorityFeePerCycle),
		"bid", bid, "gas bidder", gba, "fee payer", payer)
}

// gasLimit is the stated limit of a fire, or the words for the default.
func gasLimit(stated *types.Cycles) string {
	if stated == nil {
		return "the cap at its fire"
	}
	return words.Grouped(uint64(*stated)) + " cycles"
}

func perCycle(w *types.Wei) string {
	if w == nil {
		return "not stated"
	}
	return words.GroupedWei(*w) + " wei a cycle"
}

// statusLine returns the timer's status in one line.
func statusLine(s *model.TimerStory) string {
	t := &s.Timer
	late := ""
	if t.Deferrals > 0 {
		late = fmt.Sprintf(", %s late", terminal.Count(t.Deferrals, "block"))
	}
	if t.EndedAt != nil {
		text := fmt.Sprintf("%s in block %s%s", t.Status, terminal.Height(*t.EndedAt), late)
		if t.Status != string(types.TimerFired) {
			return text
		}
		text += ", for " + words.CBY(t.FeePaid)
		if at := slices.IndexFunc(s.Story, func(e model.StoryEntry) bool { return e.Kind == model.StoryFired && e.Paid != nil }); at >= 0 {
			if ended := s.Story[at].Paid.Status; ended != string(types.StatusOK) {
				text += "; its handler failed: " + ended
			}
		}
		return text
	}
	text := "pending"
	waits := t.Watch != nil && !slices.ContainsFunc(s.Story, func(e model.StoryEntry) bool { return e.Kind == model.StoryTriggered })
	if t.Tier != nil && !waits {
		text += " in the " + tierName(*t.Tier)
	}
	if t.Deferrals > 0 {
		return text + late + ": " + t.Reason
	}
	if waits {
		return text + ", until what it watches changes"
	}
	if t.Height > s.Height {
		return fmt.Sprintf("%s, due in %s", text, terminal.Count(t.Height-s.Height, "block"))
	}
	return text
}

// PrintStory prints what happened, a line for each thing or for each row of blocks in
// which the same happened.
func PrintStory(w io.Writer, s *model.TimerStory) {
	var wide int
	for i := range s.Story {
		wide = max(wide, len([]rune(entrySpan(&s.Story[i]))))
	}
	for i := range s.Story {
		e := &s.Story[i]
		if ends := e.Kind == s.Timer.Status; ends && s.Next != nil {
			fmt.Fprintf(w, "%-*s  …  %s\n", wide, "", self.ReplaceName(fmt.Sprintf("devnet timer show %s --from %d", s.Timer.ID, *s.Next)))
		}
		when := entrySpan(e)
		fmt.Fprintf(w, "%s%s  %s\n", when, strings.Repeat(" ", wide-len([]rune(when))), entryWords(e))
		if e.Paid != nil {
			printSettlement(w, e.Paid, wide+4)
		}
	}
	if s.Next != nil && s.Timer.EndedAt == nil {
		fmt.Fprintf(w, "%-*s  …  %s\n", wide, "", self.ReplaceName(fmt.Sprintf("devnet timer show %s --from %d", s.Timer.ID, *s.Next)))
	}
}

// tierName is what the scheduler's page calls a tier of the calendar.
func tierName(tier string) string {
	if tier == "epoch" {
		return "epoch queue"
	}
	return tier
}

func entrySpan(e *model.StoryEntry) string {
	if e.From == e.To {
		return "block " + terminal.Height(e.From)
	}
	return fmt.Sprintf("blocks %s–%s", terminal.Height(e.From), terminal.Height(e.To))
}

func entryWords(e *model.StoryEntry) string {
	switch e.Kind {
	case model.StoryScheduled:
		return fmt.Sprintf("scheduled, into the %s, expires at %s", tierName(e.Tier), terminal.Height(*e.ExpiresAt))
	case model.StoryMoved:
		return fmt.Sprintf("moved from the %s to the %s", tierName(e.TierFrom), tierName(e.Tier))
	case model.StoryExtended:
		return fmt.Sprintf("%s, expires at %s", strings.ReplaceAll(e.Reason, "_", " "), terminal.Height(*e.ExpiresAt))
	case model.StoryNotKept:
		return "no longer kept (--history)"
	case model.StoryTriggered:
		return "triggered: what it watches changed"
	case model.StoryBidFailed:
		return fmt.Sprintf("gas bidder %s failed: %s; the default bid counts", words.Short(e.Bidder.String()), words.Printable(e.Reason))
	case model.StoryDeferred:
		text := "deferred: " + e.Reason
		if e.Proposer != nil {
			text += " at " + cmp.Or(e.Node, e.Proposer.String())
		}
		text += offerWords(e)
		if e.Blocks > 1 {
			text += ", " + terminal.Count(e.Blocks, "block")
		}
		return text
	}
	text := e.Kind
	if e.Reason != "" && e.Reason != e.Kind {
		text += ": " + e.Reason
	}
	if e.Paid != nil {
		text += ": " + e.Paid.Status
	}
	return text + offerWords(e)
}

// offerWords says what the timer offered in a block, and what the lane asked for.
func offerWords(e *model.StoryEntry) (text string) {
	auction := strings.HasPrefix(e.Policy, "bias-")
	switch {
	case e.Priority == nil || e.Policy == "fifo":
	case auction:
		text += ", bid " + words.GroupedWei(*e.Priority)
	default:
		text += ", priority " + words.GroupedWei(*e.Priority)
	}
	if e.Weight != "" {
		text += ", weight " + e.Weight
	}
	if f := e.LaneFee; f != nil && e.Policy == "eip1559" {
		text += ", lane base fee " + words.GroupedWei(f.First)
		if f.Last != f.First || f.Least != f.Most {
			text += " → " + words.GroupedWei(f.Last)
		}
		if f.Most != f.First && f.Most != f.Last || f.Least != f.First && f.Least != f.Last {
			text += fmt.Sprintf(" (%s to %s)", words.GroupedWei(f.Least), words.GroupedWei(f.Most))
		}
	}
	return text
}

// printSettlement prints where the money of a fire went.
func printSettlement(w io.Writer, p *model.Settlement, indent int) {
	pad := strings.Repeat(" ", indent)
	proposer := cmp.Or(p.ProposerName, p.Proposer.String())
	fmt.Fprintf(w, "%sused %s of %s cycles and %s of %s cells\n", pad, words.Grouped(uint64(p.CyclesUsed)),
		words.Grouped(uint64(p.CyclesLimit)), words.Grouped(uint64(p.CellsUsed)), words.Grouped(uint64(p.CellsLimit)))
	var rows [][2]string
	add := func(amount types.Wei, format string, args ...any) {
		if !amount.IsZero() {
			rows = append(rows, [2]string{words.CBY(amount), fmt.Sprintf(format, args...)})
		}
	}
	add(p.Burned.Cycle, "burned: cycle base fee, %s × %s wei", words.Grouped(uint64(p.CyclesUsed)), words.GroupedWei(p.PerCycle))
	add(p.Burned.LaneTimer, "burned: lane base fee, %s × %s wei", words.Grouped(uint64(p.CyclesUsed)), words.GroupedWei(p.PerCycleLane))
	add(p.Burned.Cell, "burned: cell base fee, %s × %s wei", words.Grouped(uint64(p.CellsUsed)), words.GroupedWei(p.PerCell))
	add(p.Tip, "to %s: tip", proposer)
	add(p.Payment, "to %s: payment of the auction", proposer)
	rows = append(rows, [2]string{words.CBY(p.FeePaid), "paid in all, by " + p.Payer.String()})
	add(p.Refund, "refunded, of the %s charged before", words.CBY(p.MaxCost))
	add(p.BidReturned, "returned, of the locked bid")
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%s%*s  %s\n", pad, wide, r[0], r[1])
	}
}

// PrintAftermath prints what a fire's handler said.
func PrintAftermath(w io.Writer, r *model.Receipt) {
	if len(r.Output) > 0 {
		fmt.Fprintf(w, "output  %s\n", words.Value(r.Output))
	}
	chaintext.PrintEvents(w, r.Events)
	if r.Error != nil {
		fmt.Fprintf(w, "%s: %s\n", r.Error.Code, words.Printable(r.Error.Message))
	}
}
