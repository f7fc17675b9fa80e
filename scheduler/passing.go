package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// hostBlame is what state remembers of a timer or an agent over which the
// environment of validators failed (decision C18).
type hostBlame struct {
	_     struct{}        `cbor:",toarray"`
	By    []types.Address // sorted: members of the set, and no more
	Until types.Height    // an agent is not asked below this height
}

func keyBlamedTimer(id types.TimerID) []byte      { return append([]byte("t/n/"), id[:]...) }
func keyBlamedBidder(bidder types.Address) []byte { return append([]byte("t/h/"), bidder[:]...) }

func readHostBlame(kv KV, key []byte) (b hostBlame) {
	if data := kv.Get(key); data != nil {
		mustRead(data, &b)
	}
	return b
}

// forgiveTimer deletes the recorded failures of a timer, which has ended.
func (b *InBlock) forgiveTimer(id types.TimerID) {
	if key := keyBlamedTimer(id); b.KV.Get(key) != nil {
		b.KV.Set(key, nil)
	}
}

// FailedOver lists the validators whose environment failed on a pending timer, as
// of the last failure.
func FailedOver(kv KV, id types.TimerID) []types.Address {
	return readHostBlame(kv, keyBlamedTimer(id)).By
}

// blameTimer counts the block's proposer among the validators whose environment failed
// on a timer. enough is that it ends, which an event tells (decision C18).
func (r *laneRun) blameTimer(id types.TimerID) (enough bool) {
	key := keyBlamedTimer(id)
	by, enough := r.host.Validators.Blame(readHostBlame(r.KV, key).By, r.host.Proposer)
	r.KV.Set(key, codec.Marshal(&hostBlame{By: by}))
	if enough {
		r.out.Events = append(r.out.Events, newEvent(EventHostFailed, HostFailed{TimerID: id, Validators: by}))
	}
	return enough
}

// silenceAgent counts the block's proposer among the validators whose environment failed
// on an agent. If these are enough, the agent is not asked for gba_silenced_blocks,
// so that an agent that hangs costs each of them one question in that many blocks.
func (c *bidCalls) silenceAgent(bidder types.Address) (enough bool) {
	r := c.lane
	key := keyBlamedBidder(bidder)
	state := hostBlame{}
	state.By, enough = r.host.Validators.Blame(readHostBlame(r.KV, key).By, r.host.Proposer)
	if enough {
		state = hostBlame{Until: r.Height + types.Height(r.Params.GBASilencedBlocks)}
	}
	r.KV.Set(key, codec.Marshal(&state))
	return enough
}

// isSilenced reports whether an agent is not asked at this height.
func (c *bidCalls) isSilenced(bidder types.Address) bool {
	return c.lane.Height < readHostBlame(c.lane.KV, keyBlamedBidder(bidder)).Until
}
