package oracle

import (
	"math/big"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// sponsors is what the signers of finalized transactions let timers cost them, by
// transaction, and what fires took of it so far (decision T28). Blocks do not show
// agents' use by payer.
type sponsors map[types.Hash]*sponsor

type sponsor struct {
	signer, actor types.Address
	most, paid    *big.Int
}

// noteConsent notes what a transaction's signer agreed to.
func (s sponsors) noteConsent(tx *types.Transaction, r *types.Receipt) {
	var payload struct {
		Sponsor *types.Wei `cbor:"sponsor"`
	}
	if tx.To == nil || codec.UnmarshalPartial(tx.Payload, types.MaxTransactionBytes, &payload) != nil || payload.Sponsor == nil {
		return
	}
	s[r.Hash] = &sponsor{signer: r.Sender, actor: *tx.To, most: payload.Sponsor.Big(), paid: new(big.Int)}
}

// judgeSponsoredFire judges a fire that another than its actor paid: he signed a transaction
// that calls that actor itself, and all its timers together took no more of him
// than it says.
func (s sponsors) judgeSponsoredFire(c *types.TimerChange, wrong func(string, ...any)) {
	t := &c.Timer
	if t.FeePayer == t.Actor {
		return
	}
	if t.Sponsor == nil || s[*t.Sponsor] == nil {
		wrong("timer %s of %s was paid by %s, who signed for nothing", t.ID, t.Actor, t.FeePayer)
		return
	}
	by := s[*t.Sponsor]
	if by.signer != t.FeePayer || by.actor != t.Actor {
		wrong("timer %s of %s was paid by %s; the sponsor %s signed for timers of %s", t.ID, t.Actor, t.FeePayer, by.signer, by.actor)
		return
	}
	if by.paid.Add(by.paid, c.FeePaid.Big()); by.paid.Cmp(by.most) > 0 {
		wrong("timers of %s took %s wei of %s, who signed for %s in transaction %s", t.Actor, by.paid, t.FeePayer, by.most, *t.Sponsor)
	}
}
