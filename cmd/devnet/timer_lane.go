package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func timerLaneCommand() *cli.Command {
	return &cli.Command{Name: "lane", Usage: "draw the timer lane of the last blocks",
		Description: "Example: devnet timer lane --last 20\n½ is half of the lane's budget, around which its base fee moves. Blocks with " +
			"nothing due are drawn as one line.",
		Flags: []cli.Flag{&cli.IntFlag{Name: "last", Value: 40, Usage: "`N` blocks, up to 1000"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "follow new blocks"}, jsonFlag, httpFlag, nodeFlag, atFlag},
		Action: takingNothing(timerLane)}
}

func timerLane(c *cli.Context) error {
	n, last := networkClient(c), c.Int("last")
	if last < 1 || last > 1000 {
		return newUsageError("", "--last: %d is not between 1 and 1000", last)
	}
	lane, err := n.Lane(c.Context, last)
	if err != nil {
		return err
	}
	if c.Bool("follow") {
		return followLane(c, n, lane)
	}
	return printAnswerOrJSON(c, lane, func(w io.Writer) { drawLane(w, lane, widthInColumns(w)) })
}

// drawLane draws blocks of the lane over a width.
func drawLane(w io.Writer, lane []model.LaneBlock, width int) {
	if len(lane) == 0 {
		fmt.Fprintln(w, "No blocks yet.")
		return
	}
	p := newPicture(lane, width)
	p.drawHeading(w)
	for rest := lane; len(rest) > 0; {
		n := countIdle(rest)
		if n < leastIdle {
			n = 1
			p.drawRow(w, &rest[0])
		} else {
			p.drawIdle(w, rest[:n])
		}
		rest = rest[n:]
	}
	laneTotals(w, lane)
}

// followLane prints the last blocks, and each new one as it becomes final.
func followLane(c *cli.Context, n *client.API, lane []model.LaneBlock) error {
	w := c.App.Writer
	p := newPicture(lane, widthInColumns(w))
	show := func(l *model.LaneBlock) {
		if c.Bool("json") {
			_ = json.NewEncoder(w).Encode(l)
			return
		}
		p.drawRow(w, l)
	}
	if !c.Bool("json") {
		p.drawHeading(w)
	}
	var seen types.Height
	for i := range lane {
		show(&lane[i])
		seen = lane[i].Height
	}
	return n.Events(c.Context, client.Follow{From: seen + 1, Kinds: []string{model.EventBlock}}, func(e client.Event) error {
		var b model.Block
		if err := decodeInto(e, &b); err != nil || b.Height <= seen {
			return err
		}
		lane, err := n.Lane(c.Context, int(min(1000, b.Height-seen)))
		if err != nil {
			return err
		}
		for i := range lane {
			if lane[i].Height > seen {
				show(&lane[i])
				seen = lane[i].Height
			}
		}
		return nil
	})
}

// pipeColumns is the width of output that is not on a terminal, so that it does not
// depend on where it ran.
const pipeColumns = 100

// widthInColumns is how many characters fit into a line.
func widthInColumns(w io.Writer) int {
	if f, ok := unwrapOutput(w).(*os.File); ok && isTerminal(w) {
		if width, _, err := cwriter.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return pipeColumns
}

// picture draws one block of the lane per line: its base fee and its use as numbers
// and as bars, and the outcomes of the due timers.
type picture struct {
	heightWide, feeWide, feeBar, useBar int
	counts                              [4]int // widths of fired, deferred, expired and unpaid
	most                                types.Wei
	policy                              string
	budget                              types.Cycles
}

// The bars share what the numbers leave of a line, the base fee's a third of it.
const (
	leastFeeBar = 4
	leastUseBar = 12
	mostFeeBar  = 30
	mostUseBar  = 64
)

var laneCounts = [4]string{"fired", "deferred", "expired", "unpaid"}

func countsOf(l *model.LaneBlock) [4]uint64 {
	return [4]uint64{l.Fired, l.Deferred, l.Expired, l.Insufficient}
}

func newPicture(lane []model.LaneBlock, width int) *picture {
	p := &picture{heightWide: len("block"), feeWide: len("base fee")}
	for i, name := range laneCounts {
		p.counts[i] = len(name)
	}
	for i := range lane {
		l := &lane[i]
		p.heightWide = max(p.heightWide, len(plainHeight(l.Height)))
		p.feeWide = max(p.feeWide, len(groupedWei(l.BaseFeeLaneTimer)))
		if p.most.Less(l.BaseFeeLaneTimer) {
			p.most = l.BaseFeeLaneTimer
		}
		for k, n := range countsOf(l) {
			p.counts[k] = max(p.counts[k], len(groupDigits(n)))
		}
	}
	left := width - p.heightWide - 2 - p.feeWide - 1 - 2 - 6 - p.counts[0] - p.counts[1] - p.counts[2] - p.counts[3] - 4*2
	p.useBar = min(mostUseBar, max(leastUseBar, left-left/3))
	p.feeBar = min(mostFeeBar, max(leastFeeBar, left-p.useBar))
	return p
}

func (p *picture) drawHeading(w io.Writer) {
	use := []rune(fmt.Sprintf("%-*s", p.useBar, "use"))
	use[p.useBar/2] = '½'
	line := fmt.Sprintf("%*s  %*s %-*s  %s %5s", p.heightWide, "block", p.feeWide, "base fee", p.feeBar, "", string(use), "")
	for i, name := range laneCounts {
		line += fmt.Sprintf("  %*s", p.counts[i], name)
	}
	fmt.Fprintln(w, line)
}

// drawNews prints what is new from a block on: the policy, the budget, and heights
// without a block before it.
func (p *picture) drawNews(w io.Writer, l *model.LaneBlock) {
	if l.Policy != p.policy || l.Budget != p.budget {
		p.policy, p.budget = l.Policy, l.Budget
		fmt.Fprintf(w, "%*s  policy %s, %s cycles a block; base fees in wei a cycle\n", p.heightWide, "", l.Policy, groupDigits(uint64(l.Budget)))
	}
	if l.Skipped > 0 {
		fmt.Fprintf(w, "%*s  %s heights skipped\n", p.heightWide, "", groupDigits(l.Skipped))
	}
}

func (p *picture) drawRow(w io.Writer, l *model.LaneBlock) {
	p.drawNews(w, l)
	line := fmt.Sprintf("%*s  %*s %s  %s %4s%%", p.heightWide, plainHeight(l.Height), p.feeWide, groupedWei(l.BaseFeeLaneTimer),
		drawBar(p.feeBar, shareInEighths(l.BaseFeeLaneTimer.Big(), p.most.Big(), p.feeBar), -1),
		drawBar(p.useBar, shareInEighths(new(big.Int).SetUint64(uint64(l.TimerCyclesUsed)), new(big.Int).SetUint64(uint64(l.Budget)), p.useBar),
			p.useBar/2),
		strconv.FormatUint((l.Utilisation+5)/10, 10))
	for i, n := range countsOf(l) {
		text := groupDigits(n)
		if n == 0 {
			text = "·"
		}
		line += strings.Repeat(" ", 2+p.counts[i]-len([]rune(text))) + text
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// leastIdle is how many blocks with nothing due are drawn as one line.
const leastIdle = 3

// countIdle counts the blocks in front with nothing due and no other news.
func countIdle(lane []model.LaneBlock) (n int) {
	for i := range lane {
		l := &lane[i]
		if l.Examined > 0 || l.Skipped > 0 && i > 0 || l.Policy != lane[0].Policy || l.Budget != lane[0].Budget {
			return i
		}
	}
	return len(lane)
}

func (p *picture) drawIdle(w io.Writer, lane []model.LaneBlock) {
	first, last := &lane[0], &lane[len(lane)-1]
	p.drawNews(w, first)
	fee := groupedWei(last.BaseFeeLaneTimer)
	if first.BaseFeeLaneTimer != last.BaseFeeLaneTimer {
		fee = groupedWei(first.BaseFeeLaneTimer) + " → " + fee
	}
	fmt.Fprintf(w, "%*s  %*s  %s with nothing due, to %s\n", p.heightWide, plainHeight(first.Height), p.feeWide, fee,
		countWords(len(lane), "block"), plainHeight(last.Height))
}

// shareInEighths returns part of whole in eighths of a character, over width characters; a
// part above 0 is at least one eighth.
func shareInEighths(part, whole *big.Int, width int) int {
	if whole.Sign() == 0 || part.Sign() == 0 {
		return 0
	}
	n := new(big.Int).Mul(part, big.NewInt(int64(8*width)))
	n.Quo(n, whole)
	return int(max(1, min(int64(8*width), n.Int64())))
}

var eighths = []rune(" ▏▎▍▌▋▊▉")

// drawBar draws filled eighths of a character over a width, with a mark at a place, or
// none if it is negative.
func drawBar(width, filled, mark int) string {
	out := make([]rune, width)
	for i := range out {
		switch {
		case 8*(i+1) <= filled:
			out[i] = '█'
		case 8*i < filled:
			out[i] = eighths[filled-8*i]
		default:
			out[i] = ' '
		}
		if i == mark && 8*i >= filled {
			out[i] = '┊'
		} else if i == mark {
			out[i] = '▓'
		}
	}
	return string(out)
}

// laneTotals sums the blocks up.
func laneTotals(w io.Writer, lane []model.LaneBlock) {
	var counts [4]uint64
	var burned, tips types.Wei
	reasons := map[string]uint64{}
	var order []string
	for i := range lane {
		for k, n := range countsOf(&lane[i]) {
			counts[k] += n
		}
		burned, tips = burned.Add(lane[i].BurnedLaneTimer), tips.Add(lane[i].Tips)
		for _, d := range lane[i].DeferredFor {
			if reasons[d.Reason] == 0 {
				order = append(order, d.Reason)
			}
			reasons[d.Reason] += d.Count
		}
	}
	why := make([]string, len(order))
	for i, reason := range order {
		why[i] = groupDigits(reasons[reason]) + " " + reason
	}
	fmt.Fprintf(w, "\n%s: %s fired, %s deferred, %s expired, %s unpaid\n", countWords(len(lane), "block"), groupDigits(counts[0]),
		groupDigits(counts[1]),
		groupDigits(counts[2]), groupDigits(counts[3]))
	if len(why) > 0 {
		fmt.Fprintf(w, "deferred: %s\n", strings.Join(why, ", "))
	}
	if !burned.IsZero() || !tips.IsZero() {
		fmt.Fprintf(w, "%s burned for the lane, %s to proposers\n", cby(burned), cby(tips))
	}
}
