package scenario

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
)

// ordered submits an instruction of the system key, and waits until the chain has
// judged it.
func (c *call) ordered(d wallet.Draft) (*types.Receipt, error) {
	n := netOf(c)
	if l := n.backend.Info(); l.Strict {
		return nil, mistake("%s: it is a cheat, and this network has none (chain.cheats)", c.title)
	}
	hash, err := c.instruct(n, d)
	if err != nil {
		return nil, err
	}
	executed, err := c.await(n, hash)
	if err != nil {
		return nil, err
	}
	return &executed.Receipt, api.Judged(&executed.Receipt)
}

func netSetBalance(c *call) (starlark.Value, error) {
	of := get[types.Address](c, "of")
	r, err := c.ordered(api.SetBalance(of, get[types.Wei](c, "balance")))
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
	actor, key := get[types.Address](c, "actor"), get[[]byte](c, "key")
	var value *[]byte
	did := "removed"
	if c.has("value") {
		data := append([]byte{}, get[[]byte](c, "value")...)
		value, did = &data, fmt.Sprintf("set, %d bytes", len(data))
	}
	if _, err := c.ordered(api.SetState(actor, key, value)); err != nil {
		return nil, err
	}
	n := netOf(c)
	n.backend.Cheated(api.Told("set_state", did, "%s %.40q", n.nameOf(actor), key))
	return starlark.None, nil
}

func netMine(c *call) (starlark.Value, error) {
	blocks := max(1, c.asked("blocks", 1))
	value, err := c.travel(history.Target{Make: blocks})
	if err == nil {
		netOf(c).backend.Cheated(api.Told("mine", fmt.Sprintf("%d blocks", blocks), "to height %d", netOf(c).height()))
	}
	return value, err
}

func netAutomine(c *call) (starlark.Value, error) {
	if get[bool](c, "on") {
		return starlark.None, netOf(c).backend.Resume()
	}
	return starlark.None, netOf(c).backend.Pause()
}
