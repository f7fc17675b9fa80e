package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// lastAnswer is one that priced a timer out, as state keeps it while the timer
// is pending.
type lastAnswer struct {
	_      struct{} `cbor:",toarray"`
	At     types.Height
	MaxFee types.Wei
}

func keyAnswer(id types.TimerID) []byte { return append([]byte("t/d/"), id[:]...) }

// lastAnswers returns a function that reports whether a timer's last answer is
// still in force: its max fee does not reach the floor yet, and was given less than
// gba_retry_blocks ago (decision T15).
func lastAnswers(b *InBlock) func(*dueTimer, types.Wei) (types.Wei, bool) {
	kept := holdsAny(b.KV, "t/d/")
	return func(d *dueTimer, floor types.Wei) (types.Wei, bool) {
		if !kept || d.MaxFeePerCycle != nil {
			return types.Wei{}, false
		}
		data := b.KV.Get(keyAnswer(d.ID))
		if data == nil {
			return types.Wei{}, false
		}
		last := mustReadNew[lastAnswer](data)
		return last.MaxFee, last.MaxFee.Less(floor) && uint64(b.Height-last.At) < b.Params.GBARetryBlocks
	}
}

// rememberAnswer keeps a max fee that prices its timer out, and forgets the one
// before where this does not.
func rememberAnswer(b *InBlock, d *dueTimer, maxFee *types.Wei, floor types.Wei) {
	key := keyAnswer(d.ID)
	if d.MaxFeePerCycle == nil && maxFee != nil && maxFee.Less(floor) {
		b.KV.Set(key, codec.Marshal(&lastAnswer{At: b.Height, MaxFee: *maxFee}))
		return
	}
	b.forgetAnswer(d.ID)
}

// forgetAnswer deletes a timer's stored last answer from state.
func (b *InBlock) forgetAnswer(id types.TimerID) {
	if key := keyAnswer(id); b.KV.Get(key) != nil {
		b.KV.Set(key, nil)
	}
}
