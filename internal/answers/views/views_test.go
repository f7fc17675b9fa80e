package views

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

func at(ms int) types.Time {
	return types.Time(time.Hour).Add(time.Duration(ms) * time.Millisecond)
}

func member(n byte) types.Address { return types.Address{n} }

func signed(kind types.VoteKind, view types.View, by ...byte) *types.Certificate {
	c := &types.Certificate{Kind: kind, View: view}
	for _, n := range by {
		c.Votes = append(c.Votes, types.CertificateVote{Validator: member(n)})
	}
	return c
}

// Votes come from all reported certificates, and from those that blocks carry; they
// do not create a view without a report.
func TestVotesOfAllCertificatesAreSeen(t *testing.T) {
	var table Table
	table.Tell(at(0), "v0", simplex.Entered{View: 1, Leader: member(2)})
	table.Tell(at(5), "v0", simplex.Notarized{Certificate: signed(types.Notarize, 1, 1, 2, 3)})
	table.Tell(at(6), "v1", simplex.Notarized{Certificate: signed(types.Notarize, 1, 2, 3, 4)})
	block := &types.Block{Header: types.Header{View: 1, Height: 1, Proposer: member(2)}, Parent: signed(types.Notarize, 99, 1)}
	table.Tell(at(7), "v0", simplex.Finalized{Blocks: []*types.Block{block}, Finalization: signed(types.Finalize, 1, 3, 4, 1)})
	table.Tell(at(8), "v0", simplex.Entered{View: 2, Leader: member(3)})
	table.Tell(at(9), "v0", simplex.GaveUp{View: 2, Leader: member(3), Cause: simplex.NoProposal})
	table.Tell(at(9), "v0", simplex.GaveUp{View: 2, Leader: member(3), Cause: simplex.NoProposal})
	table.Tell(at(9), "v1", simplex.GaveUp{View: 2, Leader: member(3), Cause: simplex.TooFewVotes, Detail: "1 of 3"})
	table.Tell(at(10), "v0", simplex.Nullified{Certificate: signed(types.Nullify, 2, 1, 2, 4)})
	table.Tell(at(10), "v1", simplex.Nullified{Certificate: signed(types.Nullify, 2, 1, 2, 4)})
	if table.Tell(at(11), "v0", simplex.SitsOut{}) {
		t.Error("a certificate without a view is taken")
	}
	told := table.Between(0, 100)
	if len(told.Views) != 2 || told.Latest != 2 || told.First != 1 || told.Failed != 1 || told.Now != at(11) {
		t.Fatalf("%+v", told)
	}
	by := func(v *View, kind types.VoteKind) (who []byte) {
		for _, n := range v.Votes[kind] {
			who = append(who, told.Members[n][0])
		}
		slices.Sort(who)
		return who
	}
	one, two := &told.Views[0], &told.Views[1]
	if !slices.Equal(by(one, types.Notarize), []byte{1, 2, 3, 4}) || !slices.Equal(by(one, types.Finalize), []byte{1, 3, 4}) ||
		len(by(one, types.Nullify)) != 0 || !slices.Equal(by(two, types.Nullify), []byte{1, 2, 4}) {
		t.Errorf("%+v %+v", one.Votes, two.Votes)
	}
	if one.Leader != member(2) || one.Height != 1 ||
		one.Text(told.Now, " s") != "block 1, final after 0.007 s" || one.Cause() != simplex.NoCause {
		t.Errorf("%+v", one)
	}
	if text := two.Text(told.Now, ""); two.Cause() != simplex.NoProposal || len(two.GaveUp) != 2 ||
		text != "nullified after 0.002: no proposal (v0); too few votes: 1 of 3 (v1)" {
		t.Errorf("%q, %+v", text, two)
	}
	if quick := (&View{View: 4, Began: at(20), Nullified: at(20)}).Sentence("v1"); quick != "view 4 of v1 nullified at once" {
		t.Errorf("%q", quick)
	}
	table.Tell(at(12), "v0", simplex.Entered{View: 3})
	table.Pass(at(5012))
	table.Pass(at(13)) // a clock that was read earlier
	if told := table.Last(1); told.Views[0].Text(told.Now, " s") != "open for 5.000 s" {
		t.Errorf("%q", told.Views[0].Text(told.Now, " s"))
	}
	if one := table.FailedAfter(0); len(one.Views) != 1 || one.Views[0].View != 2 || len(table.FailedAfter(1).Views) != 0 {
		t.Errorf("%+v", one)
	}
	table.Forget()
	if told := table.Between(0, 100); len(told.Views) != 0 || told.Latest != 0 || told.Failed != 0 {
		t.Errorf("%+v", told)
	}
}

// The table is bounded: views that began first go first, late reports on them are
// dropped, and no node makes one view long.
func TestTheTableIsBounded(t *testing.T) {
	var table Table
	const total = 2*Kept + 10
	for v := range types.View(total) {
		table.Tell(at(int(v)), "v0", simplex.Entered{View: v})
	}
	table.Tell(at(total), "v0", simplex.Nullified{Certificate: signed(types.Nullify, 3)})
	for i := range 2 * maxGaveUp {
		table.Tell(at(total), "v0", simplex.GaveUp{View: total - 1, Cause: simplex.ProposalRejected, Detail: at(i).Sub(0).String()})
	}
	for _, v := range []types.View{total - 1, total - 9, 4} { // the last is not kept
		table.Tell(at(total), "v0", simplex.Nullified{Certificate: signed(types.Nullify, v)})
	}
	for after, want := range map[uint64]types.View{0: total - 1, 1: total - 9, 7: total - 1} {
		if told := table.FailedAfter(after); len(told.Views) == 0 || told.Views[0].View != want || told.Failed != 2 {
			t.Errorf("after %d: %+v", after, told)
		}
	}
	told := table.Between(0, total)
	if len(told.Views) != Kept || told.First != total-Kept || told.Failed != 2 || told.Views[0].View != told.First ||
		len(told.Views[Kept-1].GaveUp) != maxGaveUp {
		t.Errorf("%d views from %d on, %d failed", len(told.Views), told.First, told.Failed)
	}
	if last := table.Last(2).Views; len(last) != 2 || last[0].View != total-2 || last[1].View != total-1 {
		t.Errorf("%+v", last)
	}
	if some := table.Between(total-5, total-4).Views; len(some) != 2 || some[0].View != total-5 {
		t.Errorf("%+v", some)
	}
}

// Of many validators, those whose numbers follow one another are named as a range. Others, and few, are named one by one.
func TestManyValidatorsAreNamedAsRanges(t *testing.T) {
	for want, names := range map[string][]string{
		"v0 v1 v2 v3 v4 v5 v6 v7":                    {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"},
		"v0-v12":                                     {"v0", "v1", "v10", "v11", "v12", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"},
		"v0 v1 v3-v7 v9 v20":                         {"v0", "v1", "v20", "v3", "v4", "v5", "v6", "v7", "v9"},
		"0x1f 0x2f a b c d e f g":                    {"0x1f", "0x2f", "a", "b", "c", "d", "e", "f", "g"},
		"n02 v v18446744073709551616 n1 n3-n5 v1-v3": {"n02", "n1", "n3", "n4", "n5", "v", "v1", "v18446744073709551616", "v2", "v3"},
	} {
		if got := nameValidators(names); got != want {
			t.Errorf("%v are %q, want %q", names, got, want)
		}
	}
}
