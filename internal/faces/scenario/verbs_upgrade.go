package scenario

import (
	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// termsOf are the terms of upgrades that a deploy gives, nil for none.
func (c *call) termsOf() (*types.UpgradeTerms, error) {
	if !c.hasArgument("upgrade_by") {
		if c.hasArgument("upgrade_delay") {
			return nil, newMistake("net.deploy: upgrade_delay needs upgrade_by")
		}
		return nil, nil
	}
	return &types.UpgradeTerms{By: argOf[types.Address](c, "upgrade_by"), Delay: argOf[uint64](c, "upgrade_delay")}, nil
}

// upgradedActor is the actor that a verb upgrades, in the latest final state.
func (c *call) upgradedActor() (*answers.Actor, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	at := argOf[types.Address](c, "actor")
	actor, err := v.Actor(at)
	if err == nil && actor == nil {
		err = newMistake("%s: there is no actor at %s", c.title, at)
	}
	return actor, err
}

// submitForReceipt hands a transaction in, and returns its receipt.
func (c *call) submitForReceipt(d wallet.Draft) (starlark.Value, error) {
	hash, err := c.submitDraft(netOf(c), d)
	if err != nil {
		return nil, err
	}
	return c.receiptValue(hash)
}

func netUpgrade(c *call) (starlark.Value, error) {
	code, err := c.r.sources.readCode(argOf[string](c, "file"))
	if err != nil {
		return nil, err
	}
	actor, err := c.upgradedActor()
	if err != nil {
		return nil, err
	}
	migrate, err := c.resolveArguments("migrate", api.MigrateOf(code))
	if err != nil {
		return nil, err
	}
	from := actor.CodeHash
	if c.hasArgument("code_hash") {
		from = argOf[types.Hash](c, "code_hash")
	}
	var end []string
	if c.hasArgument("end") {
		end = argOf[[]string](c, "end")
	}
	return c.submitForReceipt(api.Upgrade(actor.Address, from, code, migrate, end))
}

func netApplyUpgrade(c *call) (starlark.Value, error) {
	actor, err := c.upgradedActor()
	if err != nil {
		return nil, err
	}
	if actor.Upgrades == nil || actor.Upgrades.Announced == nil {
		return nil, newMistake("%s: no upgrade of the actor is announced; net.upgrade announces one", c.title)
	}
	return c.submitForReceipt(api.ApplyUpgrade(actor.Address, actor.CodeHash, actor.Upgrades.Announced.To))
}

func netUpgradeTerms(c *call) (starlark.Value, error) {
	actor, err := c.upgradedActor()
	if err != nil {
		return nil, err
	}
	if argOf[bool](c, "never") {
		if c.hasArgument("by") || c.hasArgument("delay") {
			return nil, newMistake("%s: never ends upgrades for good; leave out by and delay", c.title)
		}
		return c.submitForReceipt(api.UpgradeTerms(actor.Address, nil))
	}
	terms := types.UpgradeTerms{}
	if actor.Upgrades != nil && actor.Upgrades.Terms != nil {
		terms = *actor.Upgrades.Terms
	}
	if c.hasArgument("by") {
		terms.By = argOf[types.Address](c, "by")
	}
	if c.hasArgument("delay") {
		terms.Delay = argOf[uint64](c, "delay")
	}
	return c.submitForReceipt(api.UpgradeTerms(actor.Address, &terms))
}

// netActor is an actor's code in the latest final state.
func netActor(c *call) (starlark.Value, error) {
	actor, err := c.upgradedActor()
	if err != nil {
		return nil, err
	}
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	shown, err := api.ShowActor(v, actor)
	return recordOf("actor", shown), err
}
