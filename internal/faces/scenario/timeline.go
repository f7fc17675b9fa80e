package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers/views"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Limits of a timeline.
const (
	// keptDeeds bounds the kept events other than views: a run may be long, and only
	// its end is shown.
	keptDeeds = 64
	// shownViews and shownDeeds bound the shown part: about a screen.
	shownViews, shownDeeds = 12, 16
	// timelineColumns is how wide a line is at most.
	timelineColumns = 80
)

// Timeline is the recent history of a network: its views with leader and outcome,
// the script's actions, and the failed receipts. A failing run ends with it. Worlds
// tell it as things happen; it is safe for concurrent use.
type Timeline struct {
	views views.Table

	mu     sync.Mutex
	began  types.Time      // 0: nothing happened yet
	now    types.Time      // time of the last report
	deeds  []deed          // what the script did, in order
	tip    types.Height    // the height up to which receipts were told
	failed []failedReceipt // the first receipts that failed
	more   int             // failed ones beyond maxFailed
}

// deed is an event other than a view: a verb of the script, a failed receipt, a
// rejoined validator.
type deed struct {
	at   types.Time
	text string
}

// Tell takes what a validator's consensus reported.
func (t *Timeline) Tell(at types.Time, node string, report simplex.Report) {
	if t == nil {
		return // there is no timeline
	}
	ofView := t.views.Tell(at, node, report)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passTime(at)
	if ofView {
		return
	}
	switch r := report.(type) {
	case simplex.SitsOut:
		t.addDeed(at, node+" sits out: its log of votes is lost")
	case simplex.ComesBack:
		t.addDeed(at, node+" votes again")
	case simplex.Evidence:
		t.addDeed(at, fmt.Sprintf("%s saw two messages signed by %s that contradict each other", node, r.Offender))
	case simplex.Conflict:
		t.addDeed(at, fmt.Sprintf("%s saw a finalization that contradicts its chain: block %d", node, r.Certificate.Height))
	}
}

// Views is the table of its views.
func (t *Timeline) Views() *views.Table { return &t.views }

// Final takes the receipts of a block that a validator made final. For each height
// the first report counts.
func (t *Timeline) Final(at types.Time, h types.Height, receipts []types.Receipt) {
	if t == nil {
		return // there is no timeline
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passTime(at)
	if h <= t.tip {
		return
	}
	t.tip = h
	for i := range receipts {
		if r := &receipts[i]; r.Status != types.StatusOK {
			t.addFailure(at, h, r)
		}
	}
}

// rewindTo sets the network back to a height, from which it continues.
func (t *Timeline) rewindTo(h types.Height) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tip = h
}

func (t *Timeline) addFailure(at types.Time, h types.Height, r *types.Receipt) {
	text := fmt.Sprintf("%s failed: %s", kindOf(r), r.Status)
	if r.Error != nil {
		text = fmt.Sprintf("%s failed: %s: %s", kindOf(r), r.Error.Code, r.Error.Message)
	}
	t.addDeed(at, fmt.Sprintf("block %d: %s", h, text))
	if len(t.failed) == maxFailed {
		t.more++
		return
	}
	t.failed = append(t.failed, failedReceipt{r.Hash, r.Origin, h, r.To, text})
}

// firstFailures are the first receipts that failed, and how many there were beyond.
func (t *Timeline) firstFailures() (failed []failedReceipt, more int) {
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

// Do records an action of the script.
func (t *Timeline) Do(at types.Time, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passTime(at)
	t.addDeed(at, text)
}

func (t *Timeline) addDeed(at types.Time, text string) {
	if len(t.deeds) == keptDeeds {
		t.deeds = append(t.deeds[:0], t.deeds[1:]...)
	}
	t.deeds = append(t.deeds, deed{at, text})
}

func (t *Timeline) passTime(at types.Time) { t.began, t.now = cmp.Or(t.began, at), max(t.now, at) }

// row is a line of the timeline before it is wrapped.
type row struct {
	at              types.Time
	what, who, text string
}

// Lines returns the last views and events, oldest first, as text of at most 80
// columns. name returns the name of an address.
func (t *Timeline) Lines(name func(string) string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rows []row
	views := t.views.Last(shownViews).Views
	since := t.began
	if len(views) > 0 {
		since = views[0].Began
	}
	for i := range views {
		rows = append(rows, row{views[i].Began, fmt.Sprintf("view %d", views[i].View), name(views[i].Leader.String()), views[i].Text(t.now, "")})
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
		lines = append(lines, wrapText(fmt.Sprintf("%9.3f  %-9s %-3s ", r.at.Sub(t.began).Seconds(), r.what, r.who), r.text)...)
	}
	return lines
}

// wrapText returns a text after its head, on as many lines as needed; those after
// the first begin under the text.
func wrapText(head, text string) (lines []string) {
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

// timelineVerbs lists the verbs that a timeline shows, besides faults: a script's
// outside actions on the network.
var timelineVerbs = []string{"join_validator", "leave_validator", "set_param", "cancel_timer", "extend_timer", "pause", "resume", "advance",
	"submit_job", "cancel", "answer", "progress", "join_runner", "leave_runner", "snapshot", "restore"}

// tellDeed enters a call of a verb, by its line in the script.
func (c *call) tellDeed(v *verb) {
	n := c.ofNetwork()
	if n == nil || n.closed || v.fault == nil && !slices.Contains(timelineVerbs, v.name) {
		return
	}
	at := c.r.sources.innermostPosition(c.thread.CallStack())
	n.timeline.Do(n.backend.Now(), fmt.Sprintf("%s:%d  %s", at.File, at.Line, strings.TrimSpace(at.Source)))
}

// nameReplacer replaces the addresses of nodes and actors in a text by their names.
func (n *network) nameReplacer() func(string) string {
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
