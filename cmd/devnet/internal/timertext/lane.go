package timertext

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// DrawLane draws blocks of the lane over a width.
func DrawLane(w io.Writer, lane []model.LaneBlock, width int) {
	if len(lane) == 0 {
		fmt.Fprintln(w, "No blocks yet.")
		return
	}
	p := NewPicture(lane, width)
	p.DrawHeading(w)
	for rest := lane; len(rest) > 0; {
		n := countIdle(rest)
		if n < leastIdle {
			n = 1
			p.DrawRow(w, &rest[0])
		} else {
			p.drawIdle(w, rest[:n])
		}
		rest = rest[n:]
	}
	laneTotals(w, lane)
}

// picture draws one block of the lane per line: its base fee and its use as numbers
// and as bars, and the outcomes of the due timers.
type Picture struct {
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

// NewPicture fits a picture of these blocks into a width, in columns.
func NewPicture(lane []model.LaneBlock, width int) *Picture {
	p := &Picture{heightWide: len("block"), feeWide: len("base fee")}
	for i, name := range laneCounts {
		p.counts[i] = len(name)
	}
	for i := range lane {
		l := &lane[i]
		p.heightWide = max(p.heightWide, len(terminal.Height(l.Height)))
		p.feeWide = max(p.feeWide, len(words.GroupedWei(l.BaseFeeLaneTimer)))
		if p.most.Less(l.BaseFeeLaneTimer) {
			p.most = l.BaseFeeLaneTimer
		}
		for k, n := range countsOf(l) {
			p.counts[k] = max(p.counts[k], len(words.Grouped(n)))
		}
	}
	left := width - p.heightWide - 2 - p.feeWide - 1 - 2 - 6 - p.counts[0] - p.counts[1] - p.counts[2] - p.counts[3] - 4*2
	p.useBar = min(mostUseBar, max(leastUseBar, left-left/3))
	p.feeBar = min(mostFeeBar, max(leastFeeBar, left-p.useBar))
	return p
}

// DrawHeading draws what the columns are.
func (p *Picture) DrawHeading(w io.Writer) {
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
func (p *Picture) drawNews(w io.Writer, l *model.LaneBlock) {
	if l.Policy != p.policy || l.Budget != p.budget {
		p.policy, p.budget = l.Policy, l.Budget
		fmt.Fprintf(w, "%*s  policy %s, %s cycles a block; base fees in wei a cycle\n", p.heightWide, "", l.Policy,
			words.Grouped(uint64(l.Budget)))
	}
	if l.Skipped > 0 {
		fmt.Fprintf(w, "%*s  %s heights skipped\n", p.heightWide, "", words.Grouped(l.Skipped))
	}
}

// DrawRow draws a block.
func (p *Picture) DrawRow(w io.Writer, l *model.LaneBlock) {
	p.drawNews(w, l)
	line := fmt.Sprintf("%*s  %*s %s  %s %4s%%", p.heightWide, terminal.Height(l.Height), p.feeWide, words.GroupedWei(l.BaseFeeLaneTimer),
		drawBar(p.feeBar, shareInEighths(l.BaseFeeLaneTimer.Big(), p.most.Big(), p.feeBar), -1),
		drawBar(p.useBar, shareInEighths(new(big.Int).SetUint64(uint64(l.TimerCyclesUsed)), new(big.Int).SetUint64(uint64(l.Budget)), p.useBar),
			p.useBar/2),
		strconv.FormatUint((l.Utilisation+5)/10, 10))
	for i, n := range countsOf(l) {
		text := words.Grouped(n)
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

func (p *Picture) drawIdle(w io.Writer, lane []model.LaneBlock) {
	first, last := &lane[0], &lane[len(lane)-1]
	p.drawNews(w, first)
	fee := words.GroupedWei(last.BaseFeeLaneTimer)
	if first.BaseFeeLaneTimer != last.BaseFeeLaneTimer {
		fee = words.GroupedWei(first.BaseFeeLaneTimer) + " → " + fee
	}
	fmt.Fprintf(w, "%*s  %*s  %s with nothing due, to %s\n", p.heightWide, terminal.Height(first.Height), p.feeWide, fee,
		terminal.Count(len(lane), "block"), terminal.Height(last.Height))
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
		why[i] = words.Grouped(reasons[reason]) + " " + reason
	}
	fmt.Fprintf(w, "\n%s: %s fired, %s deferred, %s expired, %s unpaid\n", terminal.Count(len(lane), "block"), words.Grouped(counts[0]),
		words.Grouped(counts[1]),
		words.Grouped(counts[2]), words.Grouped(counts[3]))
	if len(why) > 0 {
		fmt.Fprintf(w, "deferred: %s\n", strings.Join(why, ", "))
	}
	if !burned.IsZero() || !tips.IsZero() {
		fmt.Fprintf(w, "%s burned for the lane, %s to proposers\n", words.CBY(burned), words.CBY(tips))
	}
}
