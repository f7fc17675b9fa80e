package client

import (
	"context"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Upgrade says how an actor is upgraded. All of it may be left out.
type Upgrade struct {
	From    string // the devnet account that the actor's terms name; "": alice
	Migrate []byte // payload of the new code's migrate; a typed one takes a JSON object
	// Args are the arguments of a typed migrate by name, without old, as in Deployment. A
	// wrong one is refused before the upgrade is signed.
	Args        map[string]any
	CodeHash    Hash     // of the code that the actor must have; zero: its code in the latest final state
	CyclesLimit Cycles   // 0: 1,000,000 and 4 a byte of code
	CellsLimit  Cells    // 0: enough for the code, and 100,000 more
	End         []string // names of waiting continuations that end when it applies
}

// Upgrade gives the actor new code from its Python source, or announces it: AppliesAt is
// then the height from which on ApplyUpgrade works. Where the chain refused it the error
// is an *ExecutionError, and the actor has its former code and state.
func (a *Actor) Upgrade(ctx context.Context, source []byte, u Upgrade) (Upgraded, error) {
	migrate, args, err := initInput(u.Migrate, u.Args, "an upgrade has Migrate or Args: both are given")
	if err != nil {
		return Upgraded{}, err
	}
	out, err := a.client.API.Upgrade(ctx, model.UpgradeRequest{From: orAlice(u.From), Actor: a.nameOrAddress(), Code: Bytes(source).String(),
		Migrate: migrate, Args: args, CodeHash: pointerOrNil(u.CodeHash), CyclesLimit: pointerOrNil(u.CyclesLimit),
		CellsLimit: pointerOrNil(u.CellsLimit),
		End:        u.End})
	if err == nil {
		_, err = withReceiptError(out.Receipt, nil)
	}
	return out, err
}

// ApplyUpgrade applies the announced upgrade. The error is an *ExecutionError where the
// chain refused it.
func (a *Actor) ApplyUpgrade(ctx context.Context, from string) (Upgraded, error) {
	out, err := a.client.API.ApplyUpgrade(ctx, model.ApplyUpgradeRequest{From: orAlice(from), Actor: a.nameOrAddress()})
	if err == nil {
		_, err = withReceiptError(out.Receipt, nil)
	}
	return out, err
}

// SetUpgradeTerms hands the actor's upgrades over, and may lengthen their delay. Nil ends
// them for good. An announced upgrade is dropped.
func (a *Actor) SetUpgradeTerms(ctx context.Context, from string, terms *UpgradeTerms) (Receipt, error) {
	r := model.UpgradeTermsRequest{From: orAlice(from), Actor: a.nameOrAddress(), Never: terms == nil}
	if terms != nil {
		r.By, r.Delay = terms.By, &terms.Delay
	}
	return withReceiptError(a.client.API.SetUpgradeTerms(ctx, r))
}
