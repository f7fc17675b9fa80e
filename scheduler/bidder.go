package scheduler

import "github.com/cowboyinc/devnet/internal/base/types"

func keyBidder(a types.Address) []byte { return append([]byte("t/g/"), a[:]...) }

// SetGasBidder names the actor that prices actor's timers which name none
// themselves; nil is the protocol's own bidder (CIP-1 §7, decision T14).
func (b *InBlock) SetGasBidder(actor types.Address, bidder *types.Address) {
	if bidder == nil {
		b.KV.Set(keyBidder(actor), nil)
		return
	}
	b.KV.Set(keyBidder(actor), append([]byte(nil), bidder[:]...))
}

// gasBidder is the actor that prices actor's timers; nil is the protocol's own.
func gasBidder(kv KV, actor types.Address) *types.Address {
	data := kv.Get(keyBidder(actor))
	if data == nil {
		return nil
	}
	bidder := types.Address(data)
	return &bidder
}
