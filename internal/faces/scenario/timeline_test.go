package scenario

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

func same(text string) string { return text }

// A view reports its outcome, and why validators gave it up: those with one reason
// together.
func TestAViewSaysWhatCameOfIt(t *testing.T) {
	var line Timeline
	leader := types.Address{1}
	at := func(ms int) types.Time { return types.Time(time.Hour).Add(time.Duration(ms) * time.Millisecond) }
	tell := func(ms int, node string, r simplex.Report) { line.Tell(at(ms), node, r) }
	tell(0, "v0", simplex.Entered{View: 1, Leader: leader})
	tell(100, "v0", simplex.Notarized{Certificate: &types.Certificate{View: 1, Height: 1}})
	tell(400, "v0", simplex.Finalized{Blocks: []*types.Block{{Header: types.Header{View: 1, Height: 1, Proposer: leader}}}})
	tell(500, "v1", simplex.Entered{View: 2, Leader: leader})
	line.Do(at(600), "a.star:3 v2.crash()")
	tell(2000, "v1", simplex.GaveUp{View: 2, Leader: leader, Cause: simplex.NoProposal})
	tell(2000, "v0", simplex.GaveUp{View: 2, Leader: leader, Cause: simplex.NoProposal})
	tell(2100, "v2", simplex.GaveUp{View: 2, Leader: leader, Cause: simplex.TooFewVotes, Detail: "1 of 3"})
	tell(2200, "v1", simplex.Nullified{Certificate: &types.Certificate{View: 2}})
	tell(2300, "v1", simplex.Nullified{Certificate: &types.Certificate{View: 2}})
	tell(2200, "v1", simplex.Entered{View: 3, Leader: leader})
	line.Final(at(2400), 1, []types.Receipt{{Status: types.StatusReverted, Origin: types.OriginTransaction, Handler: "go",
		Error: &types.Fault{Code: "reverted", Message: "no"}}})
	line.Final(at(2500), 1, []types.Receipt{{Status: types.StatusReverted}}) // another validator's word
	got := strings.Join(line.Lines(strings.NewReplacer(leader.String(), "v9", types.Address{}.String(), "shop").Replace), "\n")
	want := `the last 3 views, by leader, in seconds of the network:
    0.000  view 1    v9  block 1, final after 0.400
    0.500  view 2    v9  nullified after 1.700: no proposal (v0 v1); too few
                         votes: 1 of 3 (v2)
    0.600                a.star:3 v2.crash()
    2.200  view 3    v9  open for 0.300
    2.400                block 1: a call of go at shop failed: reverted: no`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Whatever it is told, a timeline is short, narrow and in the order of time.
func TestATimelineIsShortAndNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line Timeline
		now := types.Time(time.Hour)
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
			view := types.View(rapid.Uint64Range(0, 200).Draw(t, "view"))
			text := rapid.StringN(0, 60, -1).Draw(t, "text")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				line.Tell(now, "v0", simplex.Entered{View: view})
			case 1:
				line.Tell(now, text, simplex.GaveUp{View: view, Cause: simplex.ProposalRejected, Detail: text})
			case 2:
				line.Do(now, text+" "+text)
			case 3:
				line.Final(now, types.Height(view), []types.Receipt{{Status: types.StatusReverted, Error: &types.Fault{Code: text, Message: text}}})
			case 4:
				line.Tell(now, "v1", simplex.Nullified{Certificate: &types.Certificate{View: view}})
			}
		}
		lines := line.Lines(same)
		if len(line.deeds) > keptDeeds {
			t.Fatalf("%d deeds are kept", len(line.deeds))
		}
		last := ""
		for i, text := range lines {
			if n := len([]rune(text)); n > timelineColumns {
				t.Fatalf("%d columns: %q", n, text)
			}
			if i > 0 && text[8] != ' ' {
				if at := text[:9]; at < last {
					t.Fatalf("%q comes behind %q", at, last)
				} else {
					last = at
				}
			}
		}
	})
}

// The oldest entries are forgotten first.
func TestATimelineKeepsTheEnd(t *testing.T) {
	var line Timeline
	for v := range types.View(500) {
		line.Tell(types.Time(time.Hour).Add(time.Duration(v)*time.Second), "v0", simplex.Entered{View: v})
	}
	lines := line.Lines(same)
	if len(lines) != 1+shownViews || !strings.Contains(lines[1], "view 488") || !strings.Contains(lines[shownViews], "view 499") {
		t.Error(strings.Join(lines, "\n"))
	}
}
