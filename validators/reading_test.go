package validators

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

func voteFrame(view types.View) []byte {
	return encodeFrame(&types.Vote{Kind: types.Nullify, View: view, Validator: types.Address{1}})
}

// A broadcast frame is read once, garbage and frames for a single receiver each
// time.
func TestMemoReadsABroadcastOnce(t *testing.T) {
	memo := NewMemo()
	read := func(m *Memo, frame []byte) *reading {
		t.Helper()
		r, err := m.readFrame(frame)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	vote := voteFrame(3)
	if read(memo, vote) != read(memo, append([]byte{}, vote...)) || read(memo, vote) == read(memo, voteFrame(4)) {
		t.Error("a vote is not known by its bytes")
	}
	if got := read(memo, vote).message.(*types.Vote); got.View != 3 {
		t.Errorf("read %+v", got)
	}
	request := encodeFrame(&simplex.BlockRequest{})
	if first, second := read(memo, request), read(memo, request); first == second {
		t.Error("a request was kept")
	}
	if first, second := read(new(Memo), vote), read(new(Memo), vote); first == second {
		t.Error("a vote was kept without a memo")
	}
	for range 2 {
		if _, err := memo.readFrame(vote[:len(vote)-1]); err == nil {
			t.Error("half a vote was read")
		}
	}
	if _, err := memo.readFrame(nil); err == nil {
		t.Error("an empty frame was read")
	}
}

// A frame that reaches many as one slice is known by the slice, and by its bytes if it
// was made again; garbage is not kept.
func TestMemoKnowsASliceByItself(t *testing.T) {
	memo, vote := NewMemo().SameSlices(), voteFrame(3)
	first, err := memo.readFrame(vote)
	if err != nil {
		t.Fatal(err)
	}
	for what, frame := range map[string][]byte{"the same slice": vote, "the same bytes": append([]byte{}, vote...)} {
		if again, err := memo.readFrame(frame); again != first || err != nil {
			t.Errorf("%s is read anew: %v", what, err)
		}
	}
	if _, err := memo.readFrame(vote[:len(vote)-1]); err == nil {
		t.Error("half a vote was read")
	}
	if other, _ := memo.readFrame(voteFrame(4)); other == first {
		t.Error("another vote passes as it")
	}
	if n := memo.slices.Len(); n != 3 {
		t.Errorf("%d slices are known", n)
	}
}

// What a sender encoded is taken as it is by who gets its slice. What something changed on its way is another slice, and decoded.
func TestMemoTakesWhatASenderEncoded(t *testing.T) {
	vote := &types.Vote{Kind: types.Nullify, View: 3, Validator: types.Address{1}}
	frame := encodeFrame(vote)
	for _, c := range []struct {
		memo   *Memo
		frame  []byte
		isSent bool
	}{
		{NewMemo().SameSlices().AsSent(), frame, true},
		{NewMemo().SameSlices().AsSent(), append([]byte{}, frame...), false},
		{NewMemo().SameSlices(), frame, false},
		{new(Memo), frame, false},
	} {
		c.memo.keepSentFrame(frame, vote)
		read, err := c.memo.readFrame(c.frame)
		if err != nil || (read.message.(*types.Vote) == vote) != c.isSent || read.message.(*types.Vote).View != 3 {
			t.Errorf("%+v: %+v, %v", c, read, err)
		}
	}
	request, memo := &simplex.BlockRequest{}, NewMemo().SameSlices().AsSent()
	frame = encodeFrame(request)
	memo.keepSentFrame(frame, request)
	if read, err := memo.readFrame(frame); err != nil || read.message.(*simplex.BlockRequest) == request {
		t.Errorf("a frame for one receiver is taken as it was sent: %v", err)
	}
}

// A message is checked once by each validator whose sets are others, and again
// by all while it does not hold.
func TestMemoChecksBySetsOnce(t *testing.T) {
	set := func(epoch types.Epoch, endpoint string) simplex.Sets {
		return simplex.Sets{{Epoch: epoch, Members: []types.Validator{{Address: types.Address{1}, Endpoint: endpoint}}}}
	}
	refusal := errors.New("not signed")
	for _, c := range []struct {
		what    string
		sets    []simplex.Sets
		answers []error
		checked int
	}{
		{"equal sets", []simplex.Sets{set(1, ""), set(1, ""), set(1, "")}, []error{nil, nil, nil}, 1},
		{"another epoch", []simplex.Sets{set(1, ""), set(2, ""), set(2, "")}, []error{nil, nil, nil}, 2},
		{"another member", []simplex.Sets{set(1, ""), set(1, "x")}, []error{nil, nil}, 2},
		{"one epoch more", []simplex.Sets{set(2, ""), append(set(2, ""), set(1, "")...)}, []error{nil, nil}, 2},
		{"refused", []simplex.Sets{set(1, ""), set(1, "")}, []error{refusal, refusal}, 2},
		{"refused by one", []simplex.Sets{set(1, ""), set(2, ""), set(1, "")}, []error{nil, refusal, nil}, 2},
	} {
		memo, checked := NewMemo(), 0
		read, err := memo.readFrame(voteFrame(3))
		if err != nil {
			t.Fatal(err)
		}
		for i, sets := range c.sets {
			_, err := memo.checkMessage(read, sets, func() (simplex.Verified, error) {
				checked++
				return &simplex.BlockRequest{}, c.answers[i]
			})
			if err != c.answers[i] {
				t.Errorf("%s: check %d says %v", c.what, i, err)
			}
		}
		if checked != c.checked {
			t.Errorf("%s: checked %d times, want %d", c.what, checked, c.checked)
		}
	}
}

func TestMemoForgetsFrames(t *testing.T) {
	memo, first := NewMemo(), voteFrame(0)
	kept, err := memo.readFrame(first)
	if err != nil {
		t.Fatal(err)
	}
	for view := range types.View(memoFrames) {
		if _, err := memo.readFrame(voteFrame(view + 1)); err != nil {
			t.Fatal(err)
		}
	}
	if n := memo.frames.Len(); n != memoFrames {
		t.Errorf("%d frames are kept", n)
	}
	if again, _ := memo.readFrame(first); again == kept {
		t.Error("the oldest is still there")
	}
}

// Frames that cannot be read push out none that can.
func TestMemoIsNotEmptiedByGarbage(t *testing.T) {
	memo, vote := NewMemo(), voteFrame(1)
	kept, err := memo.readFrame(vote)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * memoFrames {
		if _, err := memo.readFrame(append(fmt.Append([]byte{vote[0]}, i), 0xff)); err == nil {
			t.Fatal("garbage was read")
		}
	}
	if again, _ := memo.readFrame(vote); again != kept || memo.frames.Len() != 1 {
		t.Errorf("the vote is not among %d frames", memo.frames.Len())
	}
}

// Validators with equal sets come to hold one copy of them.
func TestMemoKnowsEqualSets(t *testing.T) {
	sets := func(epoch types.Epoch) simplex.Sets {
		return simplex.Sets{{Epoch: epoch, Members: []types.Validator{{Address: types.Address{1}}}}}
	}
	memo := NewMemo()
	first := memo.shareSets(sets(0))
	for epoch := range types.Epoch(memoSets) {
		if got := memo.shareSets(sets(epoch)); &got[0] != &memo.shareSets(sets(epoch))[0] || got[0].Epoch != epoch {
			t.Errorf("epoch %d: %+v", epoch, got)
		}
	}
	if &memo.shareSets(sets(0))[0] != &first[0] {
		t.Error("the first were forgotten")
	}
	if memo.shareSets(sets(memoSets)); memo.sets.Len() != memoSets || &memo.shareSets(sets(0))[0] == &first[0] {
		t.Errorf("%d sets are known", memo.sets.Len())
	}
	own := sets(0)
	if got := new(Memo).shareSets(own); &got[0] != &own[0] {
		t.Error("without a memo no other validator shares it")
	}
}
