package api

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/simplex"
)

func TestColumnsAreTheBlocksOfARange(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.chain.mine()
	}
	for query, want := range map[string][]types.Height{"": {1, 2, 3, 4, 5}, "?from=2&to=3": {2, 3}, "?from=4": {4, 5}, "?to=2": {1, 2},
		"?from=0&to=1": {1}, "?from=9": {}, "?from=4&to=18446744073709551615": {4, 5}, "?node=v1&from=5": {5}} {
		m := get[model.Columns](w, "/blocks/columns"+query)
		if !slices.Equal(m.Height, want) || m.Head != 5 || m.Next != nil || len(m.BaseFeeCell) != len(want) || len(m.Transactions) != len(want) {
			t.Errorf("%s: %+v", query, m)
		}
	}
	m := get[model.Columns](w, "/blocks/columns?from=3&to=4")
	block := get[model.Block](w, "/block/3")
	if m.View[0] != block.View || m.TimestampMS[0] != block.TimestampMS || m.Fired[1] != 4 || m.LaneBudget[0] != 2000 ||
		m.Nodes[m.Proposer[0]].Address != block.Proposer || m.From != 3 || m.To != 4 || m.KeptFrom != 1 {
		t.Errorf("%+v", m)
	}
	w.refused(400, "invalid_range", "GET", "/blocks/columns?from=4&to=3", nil)
	w.refused(422, "invalid_request", "GET", "/blocks/columns?from=-1", nil)
	w.refused(404, "unknown_node", "GET", "/blocks/columns?node=v9", nil)
}

// A client that asks for more than one answer holds continues with next, and misses
// nothing.
func TestColumnsAreToldInParts(t *testing.T) {
	w := newWorld(t)
	for range MaxColumns + 10 {
		w.chain.mine()
	}
	newest := get[model.Columns](w, "/blocks/columns")
	if len(newest.Height) != MaxColumns || newest.From != 11 || newest.Height[0] != 11 || newest.Next != nil || newest.To != MaxColumns+10 {
		t.Errorf("%d rows from %d to %d", len(newest.Height), newest.From, newest.To)
	}
	first := get[model.Columns](w, "/blocks/columns?from=1")
	if len(first.Height) != MaxColumns || first.Next == nil || *first.Next != MaxColumns+1 || first.To != MaxColumns {
		t.Fatalf("%d rows, next %v", len(first.Height), first.Next)
	}
	rest := get[model.Columns](w, fmt.Sprintf("/blocks/columns?from=%d", *first.Next))
	if len(rest.Height) != 10 || rest.Next != nil {
		t.Errorf("%d rows, next %v", len(rest.Height), rest.Next)
	}
}

// Ranges read thousands of records: the number read at once is limited.
func TestOnlySoManyRangesAreReadAtOnce(t *testing.T) {
	w := newWorld(t)
	for range MaxRanges {
		if _, err := w.server.ranges.takePlace(); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/blocks/columns", "/views", "/timers/calendar", "/presence", "/nodes/v0/log"} {
		w.refused(503, "too_many_ranges", "GET", path, nil)
	}
}

func TestViewsSayWhoVotedAndWhyTheyFailed(t *testing.T) {
	w := newWorld(t)
	v0, v1 := w.chain.nodes[0].Validator.Address, w.chain.nodes[1].Validator.Address
	at := func(ms int) types.Time { return types.Time(time.Hour).Add(time.Duration(ms) * time.Millisecond) }
	table := &w.chain.shown.views
	by := func(kind types.VoteKind, view types.View, who ...types.Address) *types.Certificate {
		c := &types.Certificate{Kind: kind, View: view, Height: 7}
		for _, a := range who {
			c.Votes = append(c.Votes, types.CertificateVote{Validator: a})
		}
		return c
	}
	table.Tell(at(0), "v0", simplex.Entered{View: 1, Leader: v1})
	table.Tell(at(2), "v0", simplex.Notarized{Certificate: by(types.Notarize, 1, v0, v1)})
	table.Tell(at(10), "v0", simplex.Entered{View: 2, Leader: v0})
	table.Tell(at(1510), "v1", simplex.GaveUp{View: 2, Leader: v0, Cause: simplex.NoProposal})
	table.Tell(at(1510), "gone", simplex.GaveUp{View: 2, Leader: v0, Cause: simplex.NoProposal})
	table.Tell(at(1511), "v0", simplex.Nullified{Certificate: by(types.Nullify, 2, v0)})
	table.Tell(at(1512), "v0", simplex.Entered{View: 3, Leader: v1})
	m := get[model.Views](w, "/views")
	if len(m.Views) != 3 || m.From != 1 || m.To != 3 || m.Latest != 3 || m.Failed != 1 || len(m.Validators) != 2 {
		t.Fatalf("%+v", m)
	}
	one, two, three := m.Views[0], m.Views[1], m.Views[2]
	if one.Outcome != model.ViewNotarized || *one.Height != 7 || *one.TookUS != 2000 || len(one.Notarize) != 2 ||
		m.Validators[one.Leader].Name != "v1" || one.BeganMS != at(0).Millis() {
		t.Errorf("%+v", one)
	}
	if two.Outcome != model.ViewNullified || two.Cause != "no_proposal" || two.Text != "nullified after 1.501 s: no proposal (gone v1)" ||
		len(two.Nullify) != 2 || len(two.GaveUp) != 1 || m.Validators[two.GaveUp[0].Validator].Name != "v1" || two.Height != nil {
		t.Errorf("%+v", two)
	}
	if three.Outcome != model.ViewOpen || three.TookUS != nil || three.Cause != "" {
		t.Errorf("%+v", three)
	}
	if m := get[model.Views](w, "/views?from=2&to=2"); len(m.Views) != 1 || m.Views[0].View != 2 || m.From != 2 || m.To != 2 {
		t.Errorf("%+v", m)
	}
	w.refused(400, "invalid_range", "GET", "/views?from=3&to=2", nil)
}

func TestLinksTellWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	some := uint64(3)
	w.chain.shown.links = []model.Link{{From: "v0", To: "v1", Up: true},
		{From: "v1", To: "v0", Up: true, Rule: answers.ShowRule(fault.Link{Latency: 20 * time.Millisecond, Loss: 0.5, OneWay: true})},
		{From: "v1", To: "r0", Up: true, Dropped: &some}}
	if m := get[model.Links](w, "/links"); len(m.Links) != 3 || len(m.Nodes) != 2 || m.Nodes[0].Name != "v0" || !m.Nodes[0].Running {
		t.Errorf("%+v", m)
	}
	m := get[model.Links](w, "/links?faulty=true")
	if len(m.Links) != 2 || m.Links[0].Rule.Latency != "20ms" || m.Links[0].Rule.Loss != 0.5 || *m.Links[1].Dropped != 3 ||
		m.Links[1].RTTMicro != nil {
		t.Errorf("%+v", m)
	}
}

// Any range has at most that many bins, which cover it.
func TestTheCalendarCountsInBins(t *testing.T) {
	w := newWorld(t)
	w.chain.mine()
	for _, due := range []types.Height{2, 3, 66, 4097, 4098, 10_000} {
		w.chain.addTimer(types.Address{1}, due, types.TimerPending)
	}
	m := get[model.Calendar](w, "/timers/calendar")
	ring := m.Tiers[0]
	if m.Height != 1 || m.From != 2 || m.To != 4097 || m.Width != 64 || len(ring.Counts) != 64 || ring.Counts[0] != 2 || ring.Counts[1] != 1 ||
		ring.Counts[63] != 1 || ring.Total != 4 || m.Pending != 6 || !m.Whole || len(m.Tiers) != 3 {
		t.Errorf("%+v", m)
	}
	for query, want := range map[string][]uint64{"?from=1&to=3&bins=3": {0, 1, 1}, "?from=1&to=3&bins=2": {1, 1}, "?from=3&to=3&bins=512": {1},
		"?from=0&to=18446744073709551615&bins=1": {6}, "?from=18446744073709551615&bins=1": {0}, "?to=3&bins=1": {2}} {
		if m := get[model.Calendar](w, "/timers/calendar"+query); !slices.Equal(m.Tiers[0].Counts, want) {
			t.Errorf("%s: %+v", query, m)
		}
	}
	if m := get[model.Calendar](w, "/timers/calendar?from=0&to=18446744073709551615&bins=512"); len(m.Tiers[0].Counts) != 512 ||
		m.Width != math.MaxUint64/512+1 {
		t.Errorf("%d bins of %d", len(m.Tiers[0].Counts), m.Width)
	}
	w.refused(400, "invalid_range", "GET", "/timers/calendar?from=3&to=2", nil)
	w.refused(422, "invalid_request", "GET", "/timers/calendar?bins=513", nil)
}

func TestPresenceOfARangeIsBitmaps(t *testing.T) {
	w := newWorld(t)
	bits := selection.NewBitmap(9)
	bits.Set(0, true)
	bits.Set(8, true)
	w.chain.shown.bitmap = bits.Bytes()
	for range 600 {
		w.chain.mine()
	}
	m := get[model.PresenceRange](w, "/presence?from=3&to=4")
	if len(m.Heights) != 2 || m.From != 3 || m.To != 4 || m.Head != 600 || m.Next != nil ||
		len(m.Validators) != 2 || m.Validators[0].Name != "v0" {
		t.Fatalf("%+v", m)
	}
	if p := m.Heights[0]; p.Height != 3 || p.Bits != 9 || p.Count != 2 || p.Threshold != 1 || !slices.Equal(p.Present, []byte{1, 1}) ||
		len(p.Votes) != 2 || !slices.Equal(p.Votes[0].Bitmap, []byte{1, 1}) {
		t.Errorf("%+v", p)
	}
	newest := get[model.PresenceRange](w, "/presence")
	if len(newest.Heights) != MaxPresence || newest.To != 599 || newest.From != 600-MaxPresence || newest.Next != nil {
		t.Errorf("%d heights from %d to %d", len(newest.Heights), newest.From, newest.To)
	}
	w.chain.shown.attested = 0
	first := get[model.PresenceRange](w, "/presence?from=1")
	if len(first.Heights) != MaxPresence || first.Next == nil || *first.Next != MaxPresence+1 || first.To != MaxPresence ||
		w.chain.shown.attested != MaxPresence {
		t.Errorf("%d heights to %d, next %v, after %d", len(first.Heights), first.To, first.Next, w.chain.shown.attested)
	}
	w.refused(400, "invalid_range", "GET", "/presence?from=2&to=1", nil)
}

// A large registry makes few heights of an answer.
func TestPresenceOfManyRunnersIsBounded(t *testing.T) {
	w := newWorld(t)
	w.chain.shown.bitmap = selection.NewBitmap(selection.MaxRunners).Bytes()
	for range 300 {
		w.chain.mine()
	}
	each := 3 * (len(w.chain.shown.bitmap) - 4)
	m := get[model.PresenceRange](w, "/presence?from=1&to=299")
	if want := min(MaxPresence, MaxPresenceBytes/each+1); len(m.Heights) != want || m.Next == nil || int(*m.Next) != want+1 {
		t.Errorf("%d heights of %d bytes each, next %v", len(m.Heights), each, m.Next)
	}
}

func TestTheLogOfANodeIsReadBackwards(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "v0.log")
	w.chain.shown.logs = map[string]string{"v0": path, "v1": path + "-none"}
	var text strings.Builder
	levels := []string{"INFO", "WARN", "DEBUG", "ERROR"}
	for i := range 250 {
		fmt.Fprintf(&text, "time=2026-01-02T03:04:05.%03dZ level=%s msg=\"line %d\"\n", i, levels[i%4], i)
	}
	text.WriteString("goroutine 1 [running]:\n" + strings.Repeat("x", 3*MaxLogLine) + "\n" + "time=2026 level=INFO that is being writ")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text.String())
	m := get[model.NodeLog](w, "/nodes/v0/log?limit=4")
	if len(m.Lines) != 4 || m.Lines[0].Level != "INFO" || m.Lines[0].Time != "2026-01-02T03:04:05.248Z" ||
		m.Lines[2].Text != "goroutine 1 [running]:" || m.Lines[2].Level != "" || len(m.Lines[3].Text) != MaxLogLine || int(m.Size) != text.Len() {
		t.Fatalf("%+v", m)
	}
	var all []string
	for before := m.Size; ; {
		page := get[model.NodeLog](w, fmt.Sprintf("/nodes/v0/log?limit=100&before=%d", before))
		var lines []string
		for _, l := range page.Lines {
			lines = append(lines, l.Text)
		}
		all = append(lines, all...)
		if page.Before == nil {
			break
		}
		before = *page.Before
	}
	if len(all) != 252 || !strings.HasSuffix(all[0], `msg="line 0"`) || !strings.HasSuffix(all[249], `msg="line 249"`) {
		t.Errorf("%d lines", len(all))
	}
	for _, l := range get[model.NodeLog](w, "/nodes/v0/log?level=WARN&limit=1000").Lines {
		if l.Level == "INFO" || l.Level == "DEBUG" {
			t.Errorf("%+v", l)
		}
	}
	write(strings.Repeat("y", 3*MaxLogRead)) // one line that never ends
	if m := get[model.NodeLog](w, "/nodes/v0/log"); len(m.Lines) != 0 || *m.Before != 2*MaxLogRead {
		t.Errorf("%d lines, before %v", len(m.Lines), m.Before)
	}
	write("")
	if m := get[model.NodeLog](w, "/nodes/v0/log?before=99999999"); len(m.Lines) != 0 || m.Before != nil {
		t.Errorf("%+v", m)
	}
	w.refused(404, "no_log", "GET", "/nodes/v1/log", nil)
	w.refused(404, "unknown_path", "GET", "/nodes/..%2f..%2fetc%2fpasswd/log", nil)
	w.refused(404, "unknown_node", "GET", "/nodes/v9/log", nil)
}
