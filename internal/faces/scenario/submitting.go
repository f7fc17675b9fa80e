package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
)

// resubmitAfter is how many blocks a transaction may wait before it is handed in
// again: a validator that crashed forgets its pool.
const resubmitAfter = 3

// MaxOutstanding bounds the transactions that a script has sent and that are not
// final.
const MaxOutstanding = 10_000

// outstanding is a transaction that is not final yet.
type outstanding struct {
	hash   types.Hash
	sender types.Address
	nonce  types.Nonce
	raw    []byte
	since  types.Height // when it was handed in last
}

// resubmitWaiting hands in again what waits too long, and forgets what is final.
func (n *network) resubmitWaiting(now types.Height) error {
	if len(n.waiting) == 0 {
		return nil
	}
	v, err := n.backend.Reader("")
	if err != nil {
		return nil // no validator runs: nothing can be handed in
	}
	kept := n.waiting[:0]
	for _, w := range n.waiting {
		account, err := v.Account(w.sender)
		if err != nil {
			return &internal{err}
		}
		if account.Nonce > w.nonce {
			continue
		}
		if now >= w.since+resubmitAfter {
			w.since = now
			_, _ = n.backend.Submit(w.raw) // an error that it is known already is expected
		}
		kept = append(kept, w)
	}
	clear(n.waiting[len(kept):])
	n.waiting = kept
	return nil
}

// nextNonce is the sender's nonce after all that the script has sent.
func (n *network) nextNonce(sender types.Address) types.Nonce {
	next := n.backend.NextNonce(sender)
	for _, w := range n.waiting {
		if w.sender == sender {
			next = max(next, w.nonce+1)
		}
	}
	return next
}

// submitDraft signs a transaction of a devnet account and hands it in. It offers four
// times the next block's base fees, which holds for ten blocks of the steepest
// rise.
func (c *call) submitDraft(n *network, d wallet.Draft) (types.Hash, error) {
	by := sender{name: wallet.Users()[0]}
	switch given := c.values["sender"].(type) {
	case string:
		by.name = given
	case sender:
		by = given
	}
	name := by.name
	if by.as != nil {
		hash, err := c.submitInstruction(n, api.As{From: *by.as, Draft: d})
		if err == nil {
			n.backend.Cheated(api.Told("impersonate", "transaction "+hash.Short(), "%s: %s", name, c.title))
		}
		return hash, err
	}
	key := n.backend.Signer(name)
	if key == nil {
		var known []string
		for _, a := range n.backend.Accounts() {
			if n.backend.Signer(a.Name) != nil {
				known = append(known, a.Name)
			}
		}
		return types.Hash{}, newMistake("%s: sender is one of %s; got %q%s", c.title, strings.Join(known, ", "), name, suggestNames(name, known))
	}
	return c.signAndSubmit(n, key, d)
}

// submitInstruction signs by the system key and hands in.
func (c *call) submitInstruction(n *network, d api.Signable) (types.Hash, error) {
	key := n.backend.SystemKey()
	if key == nil {
		return types.Hash{}, newMistake("%s: it is a cheat, and this network has none (chain.cheats)", c.title)
	}
	return c.signAndSubmit(n, key, d)
}

// signAndSubmit signs a transaction and hands it in.
func (c *call) signAndSubmit(n *network, key env.Signer, d api.Signable) (types.Hash, error) {
	if len(n.waiting) >= MaxOutstanding {
		return types.Hash{}, newMistake("%s: %d transactions wait already to be final; run the network", c.title, MaxOutstanding)
	}
	v, err := n.backend.Reader("")
	if err != nil {
		return types.Hash{}, newFailure("%s: %v", c.title, err)
	}
	head, nonce := v.Head(), n.nextNonce(key.Address())
	tx := d.Sign(wallet.Times(4, n.backend.Info().ChainID, head.NextBaseFeeCycle, head.NextBaseFeeCell), key, nonce)
	raw := tx.Encode()
	hash, err := n.backend.Submit(raw)
	if refused := asRefusal(err); refused != nil && refused.Code == "no_validator" {
		return hash, newFailure("%s: %s", c.title, refused.Message)
	} else if refused != nil {
		return hash, newFailure("%s: the transaction was refused: %s", c.title, refused.Message)
	}
	if err != nil {
		return hash, err
	}
	n.unread.noteTransaction(hash, c.r.sources.innermostPosition(c.thread.CallStack()))
	n.waiting = append(n.waiting, &outstanding{hash: hash, sender: key.Address(), nonce: nonce, raw: raw, since: head.Height})
	return hash, nil
}

// patientForOracles is how long a call waits at most until the oracles have its block. They get
// none if its validators were killed before they reported it.
const patientForOracles = 5 * time.Second

// awaitReceipt runs the network until a transaction is final, and the oracles have its block.
func (c *call) awaitReceipt(n *network, hash types.Hash) (*history.Executed, error) {
	within := c.countOr("within", 50)
	var receipt *history.Executed
	patience := max(n.patienceBlocks(within), n.blockTimesIn(patientForCalls))
	made, _, err := n.goOnFor(within, patience, func() (bool, error) {
		v, err := n.backend.Reader("")
		if err != nil {
			return false, nil // no validator runs just now
		}
		receipt, err = v.Receipt(hash)
		return receipt != nil, err
	})
	if err == nil && receipt == nil {
		why := fmt.Sprintf("within %d blocks", within)
		if made < within {
			why = fmt.Sprintf("after %d of %d blocks: none came in %d block times", made, within, patience)
		}
		err = newFailure("%s: the transaction was not final %s (%s)", c.title, why, n.describePosition())
	}
	if err == nil { // the state shows a block a moment before the oracles and the timeline
		_, err = n.backend.Next(receipt.Height-1, patientForOracles)
	}
	return receipt, err
}
