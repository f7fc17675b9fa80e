package history

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// someState has the parameters that these blocks ran under: the defaults.
var someState = stateWith(nil)

func stateWith(p params.Overrides) *ledger.State {
	key := crypto.DeriveKey(1, "v0")
	g := ledger.Genesis{ChainID: 8011, Params: p, Validators: types.ValidatorSet{Members: []types.Validator{
		{Address: key.Address(), PublicKey: key.PublicKey(), Endpoint: "127.0.0.1:1"}}}}
	state, _, err := g.State()
	if err != nil {
		panic(err)
	}
	return state
}

// chronicle commits blocks to an archive, each with timer changes and lines.
func chronicle(t *testing.T, archive *Archive, blocks ...*ledger.Result) {
	t.Helper()
	for _, result := range blocks {
		result.Hash = result.Block.Hash()
		if result.State == nil {
			result.State = someState
		}
	}
	commit(t, archive, NewWriter(archive, 0, nil), blocks...)
}

// commit writes blocks as the archive role does, and returns how many it dropped.
func commit(t *testing.T, archive *Archive, w *Writer, blocks ...*ledger.Result) (dropped int) {
	t.Helper()
	writes, err := w.Writes([]Final{{Results: blocks}})
	if err == nil {
		err = archive.store.Commit(writes)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range writes {
		if write.Bucket == bucketBlocks && write.Value == nil {
			dropped++
		}
	}
	return dropped
}

func at(h types.Height, changes ...types.TimerChange) *ledger.Result {
	return &ledger.Result{Block: &types.Block{Header: types.Header{Height: h}}, Timers: changes,
		Presence: ledger.Presence{Bitmap: selection.NewBitmap(0)}}
}

// A timer's record follows its life: its payload from when it was scheduled,
// its reason from the last deferral, over one commit or many.
func TestArchiveFollowsATimer(t *testing.T) {
	timer := types.Timer{ID: types.Hash{7}, Actor: types.Address{1}, Height: 5, Seq: 3, Payload: []byte("tick"), ExpiresAt: 90}
	brief := timer
	brief.Payload, brief.Deferrals = nil, 1
	extended := brief
	extended.ExpiresAt, extended.Deferrals = 95, 2
	life := []*ledger.Result{
		at(1, types.TimerChange{Kind: types.ChangeScheduled, Timer: timer, Status: types.TimerPending, At: 1}),
		at(5, types.TimerChange{Kind: types.ChangeDeferred, Timer: brief, Status: types.TimerPending, At: 5, Reason: "lane_full"}),
		at(6, types.TimerChange{Kind: types.ChangeExtended, Timer: extended, Status: types.TimerPending, At: 6, Reason: "extended"},
			types.TimerChange{Kind: types.ChangeDeferred, Timer: extended, Status: types.TimerPending, At: 6, Reason: "block_cells_full"}),
		at(7, types.TimerChange{Kind: types.ChangeEnded, Timer: extended, Status: types.TimerFired, At: 7, CyclesUsed: 11,
			FeePaid: types.WeiOf(12), Result: types.StatusOK}),
	}
	for _, commits := range []int{1, len(life)} {
		t.Run(fmt.Sprint(commits, " commits"), func(t *testing.T) {
			archive := Of(mem.NewStore())
			if commits == 1 {
				chronicle(t, archive, life...)
			} else {
				for _, result := range life {
					chronicle(t, archive, result)
				}
			}
			record, err := archive.Timer(timer.ID)
			if err != nil || record == nil {
				t.Fatal(record, err)
			}
			if record.Status != types.TimerFired || record.EndedAt != 7 || record.Reason != "block_cells_full" || record.Timer.Deferrals != 2 ||
				record.Timer.ExpiresAt != 95 || !bytes.Equal(record.Timer.Payload, timer.Payload) || record.CyclesUsed != 11 {
				t.Errorf("%+v", record)
			}
		})
	}
}

// Lists are in the order of due height and insertion, filtered, and page without
// gaps.
func TestArchiveListsTimers(t *testing.T) {
	archive := Of(mem.NewStore())
	var want []types.Seq
	result := at(1)
	for i := range 3 * idChunk {
		timer := types.Timer{ID: types.Keccak([]byte{byte(i), byte(i >> 8)}), Actor: types.Address{byte(i % 2)}, Height: types.Height(2 + i/10),
			Seq: types.Seq(i)}
		status := types.TimerPending
		result.Timers = append(result.Timers, types.TimerChange{Kind: types.ChangeScheduled, Timer: timer, Status: types.TimerPending})
		if i%3 == 0 {
			status = types.TimerCancelled
			result.Timers = append(result.Timers, types.TimerChange{Kind: types.ChangeEnded, Timer: timer, Status: status, At: 1,
				Reason: "cancelled_by_owner"})
		}
		if i%2 == 1 && status == types.TimerPending && timer.Height <= 70 {
			want = append(want, timer.Seq)
		}
	}
	chronicle(t, archive, result)
	due := types.Height(70)
	filter := TimerFilter{Actor: &types.Address{1}, DueBy: &due, Status: types.TimerPending, Page: Page{Limit: 50}}
	var got []types.Seq
	for {
		filter.Offset = len(got)
		page, err := archive.Timers(filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range page {
			got = append(got, record.Timer.Seq)
		}
		if len(page) < filter.Limit {
			break
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestArchiveKeepsLines(t *testing.T) {
	archive := Of(mem.NewStore())
	actor, other := types.Address{1}, types.Address{2}
	for h := types.Height(1); h <= 3; h++ {
		result := at(h)
		for i, who := range []types.Address{actor, other, actor} {
			result.Logs = append(result.Logs, actors.LogLine{Actor: who, Cause: types.Hash{byte(h)}, Line: fmt.Sprintf("%d.%d", h, i)})
		}
		chronicle(t, archive, result)
	}
	lines, err := archive.Logs(actor, Page{Offset: 1, Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, line := range lines {
		text += fmt.Sprintf("%d:%s ", line.Height, line.Line)
	}
	if text != "1:1.2 2:2.0 2:2.2 3:3.0 " {
		t.Errorf("lines: %q", text)
	}
	newest, err := archive.Logs(actor, Page{Newest: true, Limit: 2})
	if err != nil || len(newest) != 2 || newest[0].Line != "3.2" || newest[1].Line != "3.0" {
		t.Errorf("the newest lines: %v, %v", newest, err)
	}
}

// A tip whose block does not match its hash, or its height, is refused: from any
// other the validator would continue without the others.
func TestATipThatIsNotWhatItIsCalledIsRefused(t *testing.T) {
	for what, spoil := range map[string]func(*Stored){
		"another header": func(s *Stored) { s.Block.Header.Timestamp++ },
		"another hash":   func(s *Stored) { s.Hash[0] ^= 1 },
		"another height": func(s *Stored) { s.Block.Header.Height++; s.Hash = s.Block.Hash() },
	} {
		store := mem.NewStore()
		block := &types.Block{Header: types.Header{Height: 7}}
		stored := Stored{Block: block, Hash: block.Hash()}
		commit := func() {
			data := codec.Marshal(&stored)
			if err := store.Commit([]env.Write{{Bucket: bucketBlocks, Key: heightKey(7), Value: data},
				{Bucket: bucketMeta, Key: keyTip, Value: heightKey(7)}}); err != nil {
				t.Fatal(err)
			}
		}
		commit()
		if tip, err := Of(store).Tip(); err != nil || tip.Hash != block.Hash() {
			t.Fatalf("the tip itself: %v", err)
		}
		spoil(&stored)
		commit()
		if _, err := Of(store).Tip(); err == nil {
			t.Errorf("%s: taken for the tip", what)
		}
	}
}
