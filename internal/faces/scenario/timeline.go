package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Limits of a timeline.
const (
	// keptViews and keptDeeds bound what is remembered: a run may be long, and its
	// end tells.
	keptViews, keptDeeds = 64, 64
	// shownViews and shownDeeds bound what is shown of that: about a screen.
	shownViews, shownDeeds = 12, 16
	// timelineColumns is how wide a line is at most.
	timelineColumns = 80
)

// Timeline is what happened last in a network: its views with who led and what
// came of them, what the script did, and which receipts failed. A failing run
// ends with it. Worlds tell it as things happen; it is safe for concurrent use.
type Timeline struct {
	mu     sync.Mutex
	began  types.Time      // 0: nothing happened yet
	now    types.Time      // the time of what was told last
	views  []viewTold      // the views, in the order they began
	deeds  []deed          // what the script did, in order
	tip    types.Height    // the height up to which receipts were told
	failed []failedReceipt // the first receipts that failed
	more   int             // failed ones beyond maxFailed
}

// viewTold is one view, as the validators told of it.
type viewTold struct {
	epoch            types.Epoch
	view             types.View
	leader           types.Address
	began            types.Time
	height           types.Height // of the block that was notarized or final; 0: of none
	notarized, final types.Time   // 0: not
	nullified        types.Time
	gaveUp           []surrender
}

// surrender is a validator's word on why it gave a view up.
type surrender struct{ node, why string }

// deed is what is no view: a verb of the script, a failed receipt, a validator that
// came back.
type deed struct {
	at   types.Time
	text string
}

// Tell takes what a validator's consensus reported.
func (t *Timeline) Tell(at types.Time, node string, report simplex.Report) {
	if t == nil {
		return // nobody asked for one
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(at)
	switch r := report.(type) {
	case simplex.Entered:
		v := t.view(at, r.Epoch, r.View)
		v.leader = r.Leader
	case simplex.GaveUp:
		v := t.view(at, r.Epoch, r.View)
		v.leader = r.Leader
		v.gaveUp = append(v.gaveUp, surrender{node, why(&r)})
	case simplex.Notarized:
		v := t.view(at, r.Certificate.Epoch, r.Certificate.View)
		v.height, v.notarized = r.Certificate.Height, first(v.notarized, at)
	case simplex.Nullified:
		v := t.view(at, r.Certificate.Epoch, r.Certificate.View)
		v.nullified = first(v.nullified, at)
	case simplex.Finalized:
		for _, b := range r.Blocks {
			v := t.view(at, b.Header.SetEpoch, b.Header.View)
			v.leader, v.height, v.final = b.Header.Proposer, b.Header.Height, first(v.final, at)
		}
	case simplex.SitsOut:
		t.do(at, node+" sits out: its log of votes is lost")
	case simplex.ComesBack:
		t.do(at, node+" votes again")
	case simplex.Evidence:
		t.do(at, fmt.Sprintf("%s saw two messages signed by %s that contradict each other", node, r.Offender))
	case simplex.Conflict:
		t.do(at, fmt.Sprintf("%s saw a finalization that contradicts its chain: block %d", node, r.Certificate.Height))
	}
}

// why is a cause in words.
func why(r *simplex.GaveUp) string {
	text := strings.ReplaceAll(r.Cause.String(), "_", " ")
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}

func first(known, at types.Time) types.Time {
	if known != 0 {
		return known
	}
	return at
}

// Final takes the receipts of a block that a validator made final. Of each height
// the first word counts.
func (t *Timeline) Final(at types.Time, h types.Height, receipts []types.Receipt) {
	if t == nil {
		return // nobody asked for one
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(at)
	if h <= t.tip {
		return
	}
	t.tip = h
	for i := range receipts {
		if r := &receipts[i]; r.Status != types.StatusOK {
			t.fail(at, h, r)
		}
	}
}

// rewind is that the network is at a height again, and goes on from there.
func (t *Timeline) rewind(h types.Height) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tip = h
}

func (t *Timeline) fail(at types.Time, h types.Height, r *types.Receipt) {
	text := fmt.Sprintf("%s failed: %s", kindOf(r), r.Status)
	if r.Error != nil {
		text = fmt.Sprintf("%s failed: %s: %s", kindOf(r), r.Error.Code, r.Error.Message)
	}
	t.do(at, fmt.Sprintf("block %d: %s", h, text))
	if len(t.failed) == maxFailed {
		t.more++
		return
	}
	t.failed = append(t.failed, failedReceipt{r.Hash, r.Origin, h, r.To, text})
}

// failures are the first receipts that failed, and how many there were beyond.
func (t *Timeline) failures() (failed []failedReceipt, more int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.failed), t.more
}

// kindOf is what a receipt is of, in words.
func kindOf(r *types.Receipt) string {
	what := map[types.Origin]string{types.OriginTransaction: "a call", types.OriginTimer: "a timer's fire",
		types.OriginMessage: "a message"}[r.Origin]
	if what == "" {
		what = string(r.Origin)
	}
	if r.Handler != "" {
		what += " of " + r.Handler
	}
	return what + " at " + r.To.String()
}

// Do takes what a script did.
func (t *Timeline) Do(at types.Time, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(at)
	t.do(at, text)
}

func (t *Timeline) do(at types.Time, text string) {
	if len(t.deeds) == keptDeeds {
		t.deeds = append(t.deeds[:0], t.deeds[1:]...)
	}
	t.deeds = append(t.deeds, deed{at, text})
}

func (t *Timeline) pass(at types.Time) { t.began, t.now = first(t.began, at), max(t.now, at) }

// view is that of an epoch and number, begun at a time where it is new. Where it is
// older than all that is kept, what is told of it goes nowhere.
func (t *Timeline) view(at types.Time, e types.Epoch, v types.View) *viewTold {
	for i := len(t.views) - 1; i >= 0; i-- {
		if t.views[i].epoch == e && t.views[i].view == v {
			return &t.views[i]
		}
	}
	if len(t.views) == keptViews {
		if oldest := &t.views[0]; e < oldest.epoch || e == oldest.epoch && v < oldest.view {
			return &viewTold{}
		}
		t.views = append(t.views[:0], t.views[1:]...)
	}
	t.views = append(t.views, viewTold{epoch: e, view: v, began: at})
	return &t.views[len(t.views)-1]
}

// row is a line of the timeline before it is wrapped.
type row struct {
	at              types.Time
	what, who, text string
}

// Lines are the last views and deeds, oldest first, as text of at most 80 columns.
// name is what an address is called.
func (t *Timeline) Lines(name func(string) string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rows []row
	views := t.views[max(0, len(t.views)-shownViews):]
	since := t.began
	if len(views) > 0 {
		since = views[0].began
	}
	for i := range views {
		rows = append(rows, row{views[i].began, fmt.Sprintf("view %d", views[i].view), name(views[i].leader.String()), views[i].text(t.now)})
	}
	deeds := t.deeds[max(0, len(t.deeds)-shownDeeds):]
	for _, d := range deeds {
		if d.at >= since {
			rows = append(rows, row{d.at, "", "", name(d.text)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	lines := []string{fmt.Sprintf("the last %d views, by leader, in seconds of the network:", len(views))}
	for _, r := range rows {
		lines = append(lines, wrapped(fmt.Sprintf("%9.3f  %-9s %-3s ", r.at.Sub(t.began).Seconds(), r.what, r.who), r.text)...)
	}
	return lines
}

// text is what came of a view.
func (v *viewTold) text(now types.Time) string {
	took := func(at types.Time) string { return fmt.Sprintf("%.3f", at.Sub(v.began).Seconds()) }
	switch {
	case v.final != 0:
		return fmt.Sprintf("block %d, final after %s", v.height, took(v.final)) + v.surrenders("; but ")
	case v.nullified != 0:
		return "nullified after " + took(v.nullified) + v.surrenders(": ")
	case v.notarized != 0:
		return fmt.Sprintf("block %d, notarized after %s and not final", v.height, took(v.notarized)) + v.surrenders("; but ")
	}
	return "open for " + took(now) + v.surrenders(": ")
}

// surrenders lists why validators gave the view up, those of one reason together.
func (v *viewTold) surrenders(lead string) string {
	var reasons []string
	who := map[string][]string{} // looked up only
	for _, s := range v.gaveUp {
		if who[s.why] == nil {
			reasons = append(reasons, s.why)
		}
		if !slices.Contains(who[s.why], s.node) {
			who[s.why] = append(who[s.why], s.node)
		}
	}
	for i, reason := range reasons {
		slices.Sort(who[reason])
		reasons[i] = fmt.Sprintf("%s (%s)", reason, strings.Join(who[reason], " "))
	}
	if len(reasons) == 0 {
		return ""
	}
	return lead + strings.Join(reasons, "; ")
}

// wrapped is a text behind its head, on as many lines as it takes; those after the
// first begin under the text.
func wrapped(head, text string) (lines []string) {
	line, indent := head, strings.Repeat(" ", len(head))
	fresh := true
	for _, word := range strings.Fields(text) {
		if !fresh && len([]rune(line))+1+len([]rune(word)) > timelineColumns {
			lines = append(lines, line)
			line, fresh = indent, true
		}
		if !fresh {
			line += " "
		}
		room := timelineColumns - len([]rune(line))
		if cut := []rune(word); len(cut) > room {
			word = string(cut[:max(room-1, 0)]) + "…"
		}
		line, fresh = line+word, false
	}
	return append(lines, line)
}

// timelineVerbs are those that a timeline tells of, beside faults: what a script does
// to the network from outside.
var timelineVerbs = []string{"join_validator", "leave_validator", "set_param", "cancel_timer", "extend_timer", "pause", "resume", "advance",
	"submit_job", "cancel", "answer", "progress", "join_runner", "leave_runner", "snapshot", "restore"}

// tellDeed enters a call of a verb, by its line in the script.
func (c *call) tellDeed(verb string) {
	n := c.ofNetwork()
	if n == nil || n.closed || fault.Lookup(verb) == nil && !slices.Contains(timelineVerbs, verb) {
		return
	}
	at := c.r.sources.innermost(c.thread.CallStack())
	n.timeline.Do(n.backend.Now(), fmt.Sprintf("%s:%d  %s", at.File, at.Line, strings.TrimSpace(at.Source)))
}

// names replaces the addresses of nodes and actors in a text by their names.
func (n *network) names() func(string) string {
	var pairs []string
	for _, node := range n.backend.Nodes() {
		pairs = append(pairs, node.Validator.Address.String(), node.Name)
	}
	for _, r := range n.backend.Runners() {
		pairs = append(pairs, r.Address.String(), r.Name)
	}
	for _, a := range n.actors {
		if a.name != "" {
			pairs = append(pairs, a.address.String(), a.name)
		}
	}
	return strings.NewReplacer(pairs...).Replace
}
