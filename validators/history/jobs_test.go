package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// jobMaker moves jobs through blocks, for chains that are not executed.
type jobMaker struct {
	made int
	open []types.JobChange
	back []types.Hash // called back in the next block
	ends map[types.Hash]types.Height
	seqs map[types.Hash]types.Seq
}

func newJobMaker() *jobMaker {
	return &jobMaker{ends: map[types.Hash]types.Height{}, seqs: map[types.Hash]types.Seq{}}
}

// block is what a block of height h does to them.
func (m *jobMaker) block(h types.Height, random *rand.Rand) (all []types.JobChange) {
	for _, id := range m.back {
		all = append(all, types.JobChange{Kind: types.JobChangeCalledBack, ID: id, At: h})
	}
	m.back = nil
	for range random.IntN(3) / 2 {
		seq := types.Seq(m.made)
		m.made++
		id := types.Keccak([]byte(fmt.Sprint("job ", seq)))
		m.seqs[id] = seq
		m.open = append(m.open, types.JobChange{Kind: types.JobChangeSubmitted, ID: id, Seq: seq, Status: types.JobPending, Since: h,
			Submitter: &types.Address{byte(random.IntN(3))},
			Submitted: &types.JobSubmission{Spec: []byte("spec"), TimeoutBlocks: 10}})
		last := m.open[len(m.open)-1]
		last.At = h
		all = append(all, last)
	}
	var left []types.JobChange
	for _, c := range m.open {
		if !m.moves(&c, h, random, &all) {
			left = append(left, c)
		}
	}
	m.open = left
	return all
}

// moves may change one job, and returns whether it ended.
func (m *jobMaker) moves(c *types.JobChange, h types.Height, random *rand.Rand, all *[]types.JobChange) (over bool) {
	c.At, c.Submitted = h, nil
	change := func(kind types.JobChangeKind, status types.JobStatus) *types.JobChange {
		c.Kind, c.Status = kind, status
		*all = append(*all, *c)
		return &(*all)[len(*all)-1]
	}
	member, by := types.Address{100, byte(random.IntN(2))}, types.Address{200}
	switch random.IntN(40) / 2 {
	case 0:
		c.Committee, c.Attempts = []types.Address{{100, 0}, {100, 1}}, 1
		change(types.JobChangeDrawn, types.JobAssigned)
		committed := change(types.JobChangeCommitted, types.JobExecuting)
		committed.Runner, committed.Validator = &member, &by
	case 1, 5, 6:
		if c.Attempts == 0 {
			break
		}
		revealed := change(types.JobChangeRevealed, types.JobExecuting)
		revealed.Runner, revealed.Validator, revealed.Result = &member, &by, []byte("result")
	case 2:
		change(types.JobChangeWaiting, types.JobPending)
	case 3:
		end := change(types.JobChangeCompleted, types.JobCompleted)
		end.Runner = &member
		over = true
		m.back = append(m.back, c.ID)
	case 4:
		end := change(types.JobChangeFailed, types.JobFailed)
		end.Error = &types.Fault{Code: "timeout"}
		over = true
	}
	if over {
		m.ends[c.ID] = h
	}
	return over
}

// jobLife is one job: drawn, taken from its committee, drawn again, completed.
func jobLife() (id types.Hash, blocks []*ledger.Result) {
	id = types.Hash{5}
	a, b, c, v := types.Address{1}, types.Address{2}, types.Address{3}, types.Address{9}
	price := types.WeiOf(100)
	add := func(h types.Height, changes ...types.JobChange) {
		r := at(h)
		for i := range changes {
			changes[i].ID, changes[i].Seq, changes[i].At = id, 7, h
		}
		r.Jobs = changes
		blocks = append(blocks, r)
	}
	first, second := []types.Address{b, a}, []types.Address{c, a}
	add(1, types.JobChange{Kind: types.JobChangeSubmitted, Status: types.JobPending, Since: 1, Submitter: &types.Address{8},
		Submitted: &types.JobSubmission{
			Spec: []byte("spec"), Escrow: types.WeiOf(177), TimeoutBlocks: 10, CommitBlocks: 6}},
		types.JobChange{Kind: types.JobChangeDrawn, Status: types.JobAssigned, Since: 1, Attempts: 1, Committee: first})
	add(3, types.JobChange{Kind: types.JobChangeCommitted, Status: types.JobExecuting, Since: 1, Attempts: 1, Committee: first, Runner: &a,
		Validator: &v, Commitment: types.Hash{77}})
	add(8, types.JobChange{Kind: types.JobChangeRevealed, Status: types.JobExecuting, Since: 1, Attempts: 1, Committee: first, Runner: &a,
		Validator: &v, Result: []byte("one")})
	add(12, types.JobChange{Kind: types.JobChangeRetried, Status: types.JobPending, Since: 12, Attempts: 1, Committee: first},
		types.JobChange{Kind: types.JobChangeWaiting, Status: types.JobPending, Since: 12, Attempts: 1})
	add(15, types.JobChange{Kind: types.JobChangeDrawn, Status: types.JobAssigned, Since: 15, Attempts: 2, Committee: second})
	add(17, types.JobChange{Kind: types.JobChangeRevealed, Status: types.JobExecuting, Since: 15, Attempts: 2, Committee: second, Runner: &a,
		Validator: &v, Result: []byte("")},
		types.JobChange{Kind: types.JobChangeRevealed, Status: types.JobExecuting, Since: 15, Attempts: 2, Committee: second, Runner: &c,
			Validator: &v, Result: []byte("other")},
		types.JobChange{Kind: types.JobChangeCompleted, Status: types.JobCompleted, Since: 15, Attempts: 2, Committee: second, Runner: &a,
			Agreed: []types.Address{a}, Price: price})
	add(18, types.JobChange{Kind: types.JobChangeCalledBack})
	blocks[len(blocks)-1].Jobs[0].Seq = 0 // it is no longer known
	return id, blocks
}

// A job's record follows its life, and outlives the state's.
func TestTheArchiveFollowsAJob(t *testing.T) {
	id, blocks := jobLife()
	archive := Of(mem.NewStore())
	for i, want := range []JobStanding{
		{Status: types.JobAssigned, Attempts: 1, Since: 1}, {Status: types.JobExecuting, Attempts: 1, Since: 1},
		{Status: types.JobExecuting, Attempts: 1, Since: 1}, {Status: types.JobPending, Attempts: 1, Since: 12},
		{Status: types.JobAssigned, Attempts: 2, Since: 15}, {Status: types.JobCompleted, Attempts: 2, Since: 15, EndedAt: 17},
		{Status: types.JobCompleted, Attempts: 2, Since: 15, EndedAt: 17},
	} {
		chronicle(t, archive, blocks[i])
		r, err := archive.Job(id)
		if err != nil || r.Status != want.Status || r.Attempts != want.Attempts || r.Since != want.Since || r.EndedAt != want.EndedAt ||
			r.Deadline() != want.Since+10 || r.CommitDeadline() != want.Since+6 || len(r.Committee) > 0 != (want.Status != types.JobPending) {
			t.Errorf("block %d: %+v, %v", i, r, err)
		}
		if drawn := map[bool]types.Height{true: 15, false: 1}[want.Attempts == 2]; r.DrawnAt != drawn {
			t.Errorf("block %d: drawn at %d, not %d", i, r.DrawnAt, drawn)
		}
		for _, status := range jobStatuses {
			found, err := archive.Jobs(JobFilter{Status: status, Page: Page{Limit: 9}})
			if err != nil || len(found) > 0 != (status == want.Status) {
				t.Errorf("block %d: %d jobs are %s, %v", i, len(found), status, err)
			}
		}
	}
	r, _ := archive.Job(id)
	if *r.Winner != (types.Address{1}) || *r.Price != types.WeiOf(100) || r.Escrow != types.WeiOf(177) || string(r.Spec) != "spec" {
		t.Errorf("%+v", r)
	}
	if result, err := archive.JobResult(id, 2, *r.Winner); err != nil || result == nil || len(result) != 0 {
		t.Errorf("a result of no bytes is %v, %v", result, err)
	}
	turns, err := archive.JobTurns(id)
	if err != nil || len(turns) != 4 {
		t.Fatal(turns, err)
	}
	for i, want := range []JobTurn{{Attempt: 1, Runner: types.Address{2}, Concluded: true},
		{Attempt: 1, Runner: types.Address{1}, Concluded: true, Judged: true, RevealedAt: 8, Agreed: true},
		{Attempt: 2, Runner: types.Address{3}, Concluded: true, Judged: true, RevealedAt: 17},
		{Attempt: 2, Runner: types.Address{1}, Concluded: true, Judged: true, RevealedAt: 17, Agreed: true}} {
		got := turns[i]
		if len(got.Commitments) != map[bool]int{true: 1}[i == 1] {
			t.Errorf("turn %d has %d commitments", i, len(got.Commitments))
		}
		if got.Commitments = nil; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("turn %d is %+v, want %+v", i, got, want)
		}
	}
	if told, err := archive.JobsOf(12); err != nil || len(told) != 2 || told[1].Kind != types.JobChangeWaiting || told[1].At != 12 {
		t.Errorf("%+v, %v", told, err)
	}
	compared := archive.Compare()
	for i, b := range blocks {
		if what, err := compared.Block(b); len(what) > 0 || err != nil {
			t.Errorf("block %d: %s differs, %v", i, what, err)
		}
	}
	if what, err := compared.End(); len(what) > 0 || err != nil {
		t.Errorf("at the end %s differs, %v", what, err)
	}
	lie := *blocks[1]
	lie.Jobs = []types.JobChange{{Kind: types.JobChangeCommitted, ID: id, At: 3, Runner: &types.Address{2}}}
	if what, err := compared.Block(&lie); !slices.Contains(what, "the row of job "+id.String()+" in job_notes") || err != nil {
		t.Errorf("%q differs, %v", what, err)
	}
	for name, spoil := range map[string]func(*ledger.Result){
		"another P":                 func(r *ledger.Result) { r.Presence = ledger.Presence{Bitmap: selection.NewBitmap(1)} },
		"another threshold":         func(r *ledger.Result) { r.Presence.Threshold++ },
		"a lane that did more work": func(r *ledger.Result) { r.Lane.Examined++ },
	} {
		lie := *blocks[1]
		spoil(&lie)
		if what, err := compared.Block(&lie); !slices.Equal(what, []string{"the block's row of lanes"}) || err != nil {
			t.Errorf("%s: %q differs, %v", name, what, err)
		}
	}
	if notes, err := archive.JobNotes(id, Page{Offset: 1, Limit: 2, Newest: true}); err != nil || len(notes) != 2 ||
		notes[0].Kind != types.JobChangeCompleted {
		t.Errorf("%+v, %v", notes, err)
	}
}

// Lists come in the order of submission, filtered, and page on without gaps.
func TestTheArchiveListsJobs(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	maker, archive := newJobMaker(), Of(mem.NewStore())
	var blocks []*ledger.Result
	for h := types.Height(1); h <= 1500; h++ {
		r := at(h)
		r.Jobs = maker.block(h, random)
		blocks = append(blocks, r)
	}
	chronicle(t, archive, blocks...)
	all, err := archive.Jobs(JobFilter{Page: Page{Limit: 1 << 20}})
	if err != nil || len(all) != maker.made || maker.made < idChunk {
		t.Fatal(len(all), maker.made, err)
	}
	drawn := func(r *JobRecord, a types.Address) bool {
		turns, err := archive.JobTurns(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(turns, func(turn JobTurn) bool { return turn.Runner == a })
	}
	for _, f := range []JobFilter{{Status: types.JobFailed}, {Submitter: &types.Address{1}}, {Runner: &types.Address{100, 1}},
		{Status: types.JobCompleted, Submitter: &types.Address{2}, Runner: &types.Address{100}}} {
		var want, got []types.Seq
		for i := range all {
			r := &all[i]
			if (f.Status == "" || r.Status == f.Status) && (f.Submitter == nil || r.Submitter == *f.Submitter) &&
				(f.Runner == nil || drawn(r, *f.Runner)) {
				want = append(want, r.Seq)
			}
		}
		for _, newest := range []bool{false, true} {
			for got = nil; ; {
				f.Page = Page{Newest: newest, Offset: len(got), Limit: 7}
				page, err := archive.Jobs(f)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range page {
					got = append(got, r.Seq)
				}
				if len(page) < f.Limit {
					break
				}
			}
			if newest {
				slices.Reverse(got)
			}
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%+v: %v, want %v", f, got, want)
			}
		}
	}
}

// P(H) is told by the block after H, whatever height that has, with the bits that
// became others.
func TestTheArchiveTellsPresence(t *testing.T) {
	archive := Of(mem.NewStore())
	bitmap := func(length int, bits ...int) *selection.Bitmap {
		b := selection.NewBitmap(length)
		for _, i := range bits {
			b.Set(i, true)
		}
		return b
	}
	tell := func(h types.Height, skipped uint64, b *selection.Bitmap) {
		r := at(h)
		r.Block.Header.Skipped = skipped
		r.Block.Parent = &types.Certificate{Votes: []types.CertificateVote{{Validator: types.Address{byte(h)}, Bitmap: b.Bytes()}}}
		r.Presence = ledger.Presence{Bitmap: b, Rule: selection.Safe, Threshold: int(h)}
		chronicle(t, archive, r)
	}
	tell(1, 0, bitmap(0))
	tell(2, 0, bitmap(3, 0, 2))
	tell(7, 4, bitmap(4, 2, 3))
	p, err := archive.Presence(2)
	if err != nil || p.Told != 7 || p.Height != 2 || p.Rule != selection.Safe || p.Threshold != 7 || !p.Bitmap.Has(3) ||
		!bytes.Equal(p.Votes[0].Bitmap, bitmap(4, 2, 3).Bytes()) {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, h := range []types.Height{3, 6, 7, 8} {
		if p, err := archive.Presence(h); p != nil || err != nil {
			t.Errorf("P(%d) is %+v, %v", h, p, err)
		}
	}
	for told, want := range map[types.Height][]int{1: nil, 2: {0, 2}, 7: {0, 3}, 8: nil} {
		if _, bits, err := archive.Changed(told); err != nil || !slices.Equal(bits, want) {
			t.Errorf("the block of height %d changed %v, want %v; %v", told, bits, want, err)
		}
	}
	if latest, err := archive.LatestPresence(7); err != nil || latest.Bitmap.Len() != 4 {
		t.Errorf("%+v, %v", latest, err)
	}
}
