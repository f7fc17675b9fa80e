package validators

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of what a proposer puts before heavy transactions of the same tip (decision C18).
const (
	// lightCycles is what a light transaction takes at most: two milliseconds of a plain loop.
	lightCycles = 50_000
	// smallLimit is the limit of cycles below which a call that nobody made before goes before heavy ones.
	// Whatever it does, it takes little.
	smallLimit = 100_000
	// maxLightCalls is how many calls are remembered as light.
	maxLightCalls = 4096
)

// call is what an account called, or anybody, if the sender is zero.
type call struct {
	sender, actor types.Address
	handler       string
}

// lightCalls remembers which calls were light when they were last executed. It belongs to the
// execution role.
type lightCalls struct {
	known map[call]bool // whether it was light
	order []call        // of known, the longest known first
}

// noteReceipt takes what a final block executed of a call.
func (l *lightCalls) noteReceipt(r *types.Receipt) {
	if r.Origin != types.OriginTransaction || r.Handler == "" {
		return
	}
	isLight := r.Status != types.StatusOutOfCycles && r.Status != types.StatusHostFailed && r.Cycles <= lightCycles
	l.keepLightness(call{r.Sender, r.To, r.Handler}, isLight)
	l.keepLightness(call{types.Address{}, r.To, r.Handler}, isLight)
}

// keepLightness remembers whether a call was light.
func (l *lightCalls) keepLightness(one call, isLight bool) {
	if _, kept := l.known[one]; kept {
		l.known[one] = isLight
		return
	}
	if l.known == nil {
		l.known = map[call]bool{}
	}
	l.known[one] = isLight
	l.order = append(l.order, one)
	for len(l.order) > maxLightCalls {
		delete(l.known, l.order[0])
		l.order = l.order[1:]
	}
}

// noteSlow takes that a call did not end in an attempt of this validator's, whoever made it.
// Nil is none.
func (l *lightCalls) noteSlow(tx *ledger.Checked) {
	if tx == nil || tx.Tx.To == nil {
		return
	}
	if i, is := tx.Instruction.(*types.Execute); is {
		l.keepLightness(call{tx.Sender, *tx.Tx.To, i.Handler}, false)
		l.keepLightness(call{types.Address{}, *tx.Tx.To, i.Handler}, false)
	}
}

// The weights of transactions. A proposer puts the lighter ones of one tip first.
const (
	weightLight = iota // it runs no program, or is a call that took little when it was last made
	weightSmall        // a call that nobody made before, of smallLimit cycles at most
	weightHeavy
)

// weightOf is how much time a transaction is expected to take.
func (l *lightCalls) weightOf(tx *ledger.Checked) int {
	switch i := tx.Instruction.(type) {
	case *types.Transfer, *types.System:
		return weightLight
	case *types.Execute:
		if tx.Tx.To == nil {
			return weightHeavy
		}
		wasLight, known := l.lastCall(tx.Sender, *tx.Tx.To, i.Handler)
		switch {
		case wasLight:
			return weightLight
		case !known && tx.Tx.CyclesLimit <= smallLimit:
			return weightSmall
		}
	}
	return weightHeavy // as code, which is inspected
}

// lastCall says whether an account's last call was light or, if it made none, anybody's last.
func (l *lightCalls) lastCall(sender, actor types.Address, handler string) (wasLight, known bool) {
	if own, known := l.known[call{sender, actor, handler}]; known {
		return own, true
	}
	wasLight, known = l.known[call{types.Address{}, actor, handler}]
	return wasLight, known
}
