package scenario

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
)

// submitAndAwait submits an instruction of the system key, and waits until the chain has
// judged it.
func (c *call) submitAndAwait(d wallet.Draft) (*types.Receipt, error) {
	n := netOf(c)
	if l := n.backend.Info(); l.Strict {
		return nil, newMistake("%s: it is a cheat, and this network has none (chain.cheats)", c.title)
	}
	hash, err := c.submitInstruction(n, d)
	if err != nil {
		return nil, err
	}
	executed, err := c.awaitReceipt(n, hash)
	if err != nil {
		return nil, err
	}
	return &executed.Receipt, refusal.OfReceipt(&executed.Receipt)
}

func netSetBalance(c *call) (starlark.Value, error) {
	of := argOf[types.Address](c, "of")
	r, err := c.submitAndAwait(api.SetBalance(of, argOf[types.Wei](c, "balance")))
	if err != nil {
		return nil, err
	}
	set, err := api.BalanceIn(r)
	if err != nil {
		return nil, err
	}
	n := netOf(c)
	n.backend.Cheated(api.Told("set_balance", fmt.Sprintf("%s wei became %s", set.Before, set.After), "%s", n.nameOf(of)))
	return starlark.None, nil
}

func netSetState(c *call) (starlark.Value, error) {
	actor, key := argOf[types.Address](c, "actor"), argOf[[]byte](c, "key")
	var value *[]byte
	did := "removed"
	if c.hasArgument("value") {
		data := append([]byte{}, argOf[[]byte](c, "value")...)
		value, did = &data, fmt.Sprintf("set, %d bytes", len(data))
	}
	if _, err := c.submitAndAwait(api.SetState(actor, key, value)); err != nil {
		return nil, err
	}
	n := netOf(c)
	n.backend.Cheated(api.Told("set_state", did, "%s %.40q", n.nameOf(actor), key))
	return starlark.None, nil
}

func netMine(c *call) (starlark.Value, error) {
	blocks := max(1, c.countOr("blocks", 1))
	value, err := c.travelTo(history.Target{Make: blocks})
	if err == nil {
		netOf(c).backend.Cheated(api.Told("mine", fmt.Sprintf("%d blocks", blocks), "to height %d", netOf(c).highestFinal()))
	}
	return value, err
}

func netAutomine(c *call) (starlark.Value, error) {
	if argOf[bool](c, "on") {
		return starlark.None, netOf(c).backend.Resume()
	}
	return starlark.None, netOf(c).backend.Pause()
}
