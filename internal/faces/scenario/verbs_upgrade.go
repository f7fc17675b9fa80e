package scenario

import (
	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// termsOf are the terms of upgrades that a deploy gives, nil for none.
func (c *call) termsOf() (*types.UpgradeTerms, error) {
	if !c.has("upgrade_by") {
		if c.has("upgrade_delay") {
			return nil, mistake("net.deploy: upgrade_delay needs upgrade_by")
		}
		return nil, nil
	}
	return &types.UpgradeTerms{By: get[types.Address](c, "upgrade_by"), Delay: get[uint64](c, "upgrade_delay")}, nil
}

// upgraded is the actor that a verb upgrades, in the latest final state.
func (c *call) upgraded() (*api.Actor, error) {
	v, err := c.reader()
	if err != nil {
		return nil, err
	}
	at := get[types.Address](c, "actor")
	actor, err := v.Actor(at)
	if err == nil && actor == nil {
		err = mistake("%s: there is no actor at %s", c.title, at)
	}
	return actor, err
}

// submitted hands a transaction in, and returns its receipt.
func (c *call) submitted(d wallet.Draft) (starlark.Value, error) {
	hash, err := c.submit(netOf(c), d)
	if err != nil {
		return nil, err
	}
	return c.receipt(hash)
}

func netUpgrade(c *call) (starlark.Value, error) {
	code, err := c.r.sources.code(get[string](c, "file"))
	if err != nil {
		return nil, err
	}
	actor, err := c.upgraded()
	if err != nil {
		return nil, err
	}
	migrate, err := c.given("migrate", api.MigrateOf(code))
	if err != nil {
		return nil, err
	}
	from := actor.CodeHash
	if c.has("code_hash") {
		from = get[types.Hash](c, "code_hash")
	}
	var end []string
	if c.has("end") {
		end = get[[]string](c, "end")
	}
	return c.submitted(api.Upgrade(actor.Address, from, code, migrate, end))
}

func netApplyUpgrade(c *call) (starlark.Value, error) {
	actor, err := c.upgraded()
	if err != nil {
		return nil, err
	}
	if actor.Upgrades == nil || actor.Upgrades.Announced == nil {
		return nil, mistake("%s: no upgrade of the actor is announced; net.upgrade announces one", c.title)
	}
	return c.submitted(api.ApplyUpgrade(actor.Address, actor.CodeHash, actor.Upgrades.Announced.To))
}

func netUpgradeTerms(c *call) (starlark.Value, error) {
	actor, err := c.upgraded()
	if err != nil {
		return nil, err
	}
	if get[bool](c, "never") {
		if c.has("by") || c.has("delay") {
			return nil, mistake("%s: never ends upgrades for good; leave out by and delay", c.title)
		}
		return c.submitted(api.UpgradeTerms(actor.Address, nil))
	}
	terms := types.UpgradeTerms{}
	if actor.Upgrades != nil && actor.Upgrades.Terms != nil {
		terms = *actor.Upgrades.Terms
	}
	if c.has("by") {
		terms.By = get[types.Address](c, "by")
	}
	if c.has("delay") {
		terms.Delay = get[uint64](c, "delay")
	}
	return c.submitted(api.UpgradeTerms(actor.Address, &terms))
}

// netActor is an actor's code in the latest final state.
func netActor(c *call) (starlark.Value, error) {
	actor, err := c.upgraded()
	if err != nil {
		return nil, err
	}
	v, err := c.reader()
	if err != nil {
		return nil, err
	}
	shown, err := api.ShowActor(v, actor)
	return recordOf("actor", shown), err
}
