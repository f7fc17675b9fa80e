package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func timerShowCommand() *cli.Command {
	return &cli.Command{Name: "show", Usage: "a timer's whole story", ArgsUsage: "ID",
		Description: "Example: devnet timer show 0x2f370e4d\nShows its terms, its moves between tiers, the blocks that deferred it with the " +
			"reason, and the fees of its fire.",
		Flags: []cli.Flag{&cli.Uint64Flag{Name: "from", Usage: "tell the blocks that deferred it from height `H` on"},
			&cli.IntFlag{Name: "limit", Value: 1000, Usage: "at most `N` of these blocks, up to 10000"}, jsonFlag, httpFlag, nodeFlag, atFlag},
		Action: withArguments(timerShow)}
}

// wholeTimer is a timer with all known facts: the output of --json.
type wholeTimer struct {
	model.TimerDetail
	Story []model.StoryEntry `json:"story"`
	Next  *types.Height      `json:"next"`
}

func timerShow(c *cli.Context, args []string) error {
	n := networkClient(c)
	story, err := n.TimerStory(c.Context, args[0], types.Height(c.Uint64("from")), c.Int("limit"))
	if err != nil {
		return err
	}
	detail, err := n.Timer(c.Context, args[0])
	if err != nil {
		return err
	}
	return printAnswerOrJSON(c, wholeTimer{detail, story.Story, story.Next}, func(w io.Writer) {
		printTerms(w, &story, actorName(c, n, detail.Actor))
		fmt.Fprintln(w)
		printStory(w, &story)
		if r := detail.Receipt; r != nil {
			printAftermath(w, r)
		}
	})
}

// actorName is what people call an actor: its name and address.
func actorName(c *cli.Context, n *client.API, a types.Address) string {
	account, err := n.Account(c.Context, a.String())
	if err != nil || account.Name == "" {
		return a.String()
	}
	return printable(account.Name) + "  " + a.String()
}

// printTerms prints the timer's request, and its status.
func printTerms(w io.Writer, s *model.TimerStory, actor string) {
	t := &s.Timer
	payer, due, watches, gba, bid := "the actor", plainHeight(t.Height), "", "", ""
	if t.FeePayer != t.Actor {
		payer = t.FeePayer.String()
		if t.Sponsor != nil {
			payer += ", within the sponsor of transaction " + t.Sponsor.String()
		}
	}
	if t.Watch != nil {
		key := cmp.Or(value(t.Watch.Key), "the empty key")
		due = "" // no height makes it so
		watches = fmt.Sprintf("%s of %s, from height %s on", key, t.Watch.Actor, plainHeight(t.Height))
	}
	if t.GBA != nil {
		gba = t.GBA.String()
	}
	if !t.Bid.IsZero() {
		bid = cby(t.Bid) + ", locked"
	}
	printFacts(w, "timer", t.ID.String(), "actor", actor, "handler", printable(t.Handler), "payload", value(t.Payload),
		"status", statusLine(s), "due", due, "watches", watches, "expires at", plainHeight(t.ExpiresAt),
		"gas limit", gasLimit(t.GasLimit), "max fee", perCycle(t.MaxFeePerCycle), "max tip", perCycle(t.MaxPriorityFeePerCycle),
		"bid", bid, "gas bidder", gba, "fee payer", payer)
}

// gasLimit is the stated limit of a fire, or the words for the default.
func gasLimit(stated *types.Cycles) string {
	if stated == nil {
		return "the cap at its fire"
	}
	return groupDigits(uint64(*stated)) + " cycles"
}

func perCycle(w *types.Wei) string {
	if w == nil {
		return "not stated"
	}
	return groupedWei(*w) + " wei a cycle"
}

// statusLine returns the timer's status in one line.
func statusLine(s *model.TimerStory) string {
	t := &s.Timer
	late := ""
	if t.Deferrals > 0 {
		late = fmt.Sprintf(", %s late", countWords(t.Deferrals, "block"))
	}
	if t.EndedAt != nil {
		text := fmt.Sprintf("%s in block %s%s", t.Status, plainHeight(*t.EndedAt), late)
		if t.Status != string(types.TimerFired) {
			return text
		}
		text += ", for " + cby(t.FeePaid)
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
		return fmt.Sprintf("%s, due in %s", text, countWords(t.Height-s.Height, "block"))
	}
	return text
}

// printStory prints what happened, a line for each thing or for each row of blocks in
// which the same happened.
func printStory(w io.Writer, s *model.TimerStory) {
	var wide int
	for i := range s.Story {
		wide = max(wide, len([]rune(entrySpan(&s.Story[i]))))
	}
	for i := range s.Story {
		e := &s.Story[i]
		if ends := e.Kind == s.Timer.Status; ends && s.Next != nil {
			fmt.Fprintf(w, "%-*s  …  %s\n", wide, "", replaceProgramName(fmt.Sprintf("devnet timer show %s --from %d", s.Timer.ID, *s.Next)))
		}
		when := entrySpan(e)
		fmt.Fprintf(w, "%s%s  %s\n", when, strings.Repeat(" ", wide-len([]rune(when))), entryWords(e))
		if e.Paid != nil {
			printSettlement(w, e.Paid, wide+4)
		}
	}
	if s.Next != nil && s.Timer.EndedAt == nil {
		fmt.Fprintf(w, "%-*s  …  %s\n", wide, "", replaceProgramName(fmt.Sprintf("devnet timer show %s --from %d", s.Timer.ID, *s.Next)))
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
		return "block " + plainHeight(e.From)
	}
	return fmt.Sprintf("blocks %s–%s", plainHeight(e.From), plainHeight(e.To))
}

func entryWords(e *model.StoryEntry) string {
	switch e.Kind {
	case model.StoryScheduled:
		return fmt.Sprintf("scheduled, into the %s, expires at %s", tierName(e.Tier), plainHeight(*e.ExpiresAt))
	case model.StoryMoved:
		return fmt.Sprintf("moved from the %s to the %s", tierName(e.TierFrom), tierName(e.Tier))
	case model.StoryExtended:
		return fmt.Sprintf("%s, expires at %s", strings.ReplaceAll(e.Reason, "_", " "), plainHeight(*e.ExpiresAt))
	case model.StoryNotKept:
		return "no longer kept (--history)"
	case model.StoryTriggered:
		return "triggered: what it watches changed"
	case model.StoryBidFailed:
		return fmt.Sprintf("gas bidder %s failed: %s; the default bid counts", short(e.Bidder.String()), printable(e.Reason))
	case model.StoryDeferred:
		text := "deferred: " + e.Reason
		if e.Proposer != nil {
			text += " at " + cmp.Or(e.Node, e.Proposer.String())
		}
		text += offerWords(e)
		if e.Blocks > 1 {
			text += ", " + countWords(e.Blocks, "block")
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
		text += ", bid " + groupedWei(*e.Priority)
	default:
		text += ", priority " + groupedWei(*e.Priority)
	}
	if e.Weight != "" {
		text += ", weight " + e.Weight
	}
	if f := e.LaneFee; f != nil && e.Policy == "eip1559" {
		text += ", lane base fee " + groupedWei(f.First)
		if f.Last != f.First || f.Least != f.Most {
			text += " → " + groupedWei(f.Last)
		}
		if f.Most != f.First && f.Most != f.Last || f.Least != f.First && f.Least != f.Last {
			text += fmt.Sprintf(" (%s to %s)", groupedWei(f.Least), groupedWei(f.Most))
		}
	}
	return text
}

// printSettlement prints where the money of a fire went.
func printSettlement(w io.Writer, p *model.Settlement, indent int) {
	pad := strings.Repeat(" ", indent)
	proposer := cmp.Or(p.ProposerName, p.Proposer.String())
	fmt.Fprintf(w, "%sused %s of %s cycles and %s of %s cells\n", pad, groupDigits(uint64(p.CyclesUsed)), groupDigits(uint64(p.CyclesLimit)),
		groupDigits(uint64(p.CellsUsed)), groupDigits(uint64(p.CellsLimit)))
	var rows [][2]string
	add := func(amount types.Wei, format string, args ...any) {
		if !amount.IsZero() {
			rows = append(rows, [2]string{cby(amount), fmt.Sprintf(format, args...)})
		}
	}
	add(p.Burned.Cycle, "burned: cycle base fee, %s × %s wei", groupDigits(uint64(p.CyclesUsed)), groupedWei(p.PerCycle))
	add(p.Burned.LaneTimer, "burned: lane base fee, %s × %s wei", groupDigits(uint64(p.CyclesUsed)), groupedWei(p.PerCycleLane))
	add(p.Burned.Cell, "burned: cell base fee, %s × %s wei", groupDigits(uint64(p.CellsUsed)), groupedWei(p.PerCell))
	add(p.Tip, "to %s: tip", proposer)
	add(p.Payment, "to %s: payment of the auction", proposer)
	rows = append(rows, [2]string{cby(p.FeePaid), "paid in all, by " + p.Payer.String()})
	add(p.Refund, "refunded, of the %s charged before", cby(p.MaxCost))
	add(p.BidReturned, "returned, of the locked bid")
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%s%*s  %s\n", pad, wide, r[0], r[1])
	}
}

// printAftermath prints what a fire's handler said.
func printAftermath(w io.Writer, r *model.Receipt) {
	if len(r.Output) > 0 {
		fmt.Fprintf(w, "output  %s\n", value(r.Output))
	}
	printEvents(w, r.Events)
	if r.Error != nil {
		fmt.Fprintf(w, "%s: %s\n", r.Error.Code, printable(r.Error.Message))
	}
}
