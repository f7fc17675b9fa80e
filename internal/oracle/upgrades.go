package oracle

import (
	"bytes"
	"maps"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The first byte of the keys of actors' records, and the events of upgrades.
const (
	actorKey       = 'r'
	eventAnnounced = "actor.upgrade_announced"
	eventUpgraded  = "actor.upgraded"
	eventTerms     = "actor.upgrade_terms"
)

// programs are the codes of all actors as deploys and upgrades make them.
type programs map[types.Address]*codeOf

// codeOf is the code of one actor, and who may change it.
type codeOf struct {
	code  types.Hash
	terms *types.UpgradeTerms // nil: none
	to    types.Hash          // of the announced code; zero: none is announced
	from  types.Height        // from which on it may be applied
	until types.Height        // and up to which
}

// An announcement lapses as long after its height as its delay is, within these bounds (C25).
const (
	leastLapse = 256
	mostLapse  = 10_000
)

// upgradeEvent is the data of both events that name codes.
type upgradeEvent struct {
	Actor  types.Address `cbor:"actor"`
	From   types.Hash    `cbor:"from"`
	To     types.Hash    `cbor:"to"`
	Height types.Height  `cbor:"height,omitempty"`
	Until  types.Height  `cbor:"until,omitempty"` // the last at which it may be applied
}

// termsSet is the data of the event of other terms.
type termsSet struct {
	Actor types.Address       `cbor:"actor"`
	Terms *types.UpgradeTerms `cbor:"terms"`
}

// judgeUpgrades judges upgrades of actors (decision C25). The terms name their signer; they
// name the code that the actor has, wait for the delay, and have one event.
func (j *Judge) judgeUpgrades(o *Observation) {
	h := o.Block.Header.Height
	wrong := func(format string, args ...any) { j.reportViolation("upgrades", h, types.Address{}, format, args...) }
	asked := map[types.Hash]*types.Transaction{}
	for i := range o.Block.Transactions {
		tx := &o.Block.Transactions[i]
		asked[keccak256(codec.Marshal(tx))] = tx
	}
	for i := range o.Receipts {
		r := &o.Receipts[i]
		want, told := j.expectedEvent(asked[r.Hash], r, h, wrong), upgradeEvents(r)
		if len(told) == 0 && want == nil {
			continue
		}
		j.seen.Upgrades++
		if want == nil || len(told) != 1 || told[0].Name != want.Name || !bytes.Equal(told[0].Data, want.Data) {
			wrong("receipt %s has the events %v of upgrades, want %v", r.Hash, told, want)
		}
	}
}

// upgradeEvents are the chain's own events of upgrades in a receipt.
func upgradeEvents(r *types.Receipt) (found []types.Event) {
	for _, e := range r.Events {
		if e.Actor == types.GovernanceAddress && (e.Name == eventAnnounced || e.Name == eventUpgraded || e.Name == eventTerms) {
			found = append(found, e)
		}
	}
	return found
}

// expectedEvent is the event that a receipt must have, nil for none. It counts what the
// transaction did.
func (j *Judge) expectedEvent(tx *types.Transaction, r *types.Receipt, h types.Height, wrong func(string, ...any)) *types.Event {
	if tx == nil || r.Origin != types.OriginTransaction || r.Status != types.StatusOK {
		return nil
	}
	payload := tx.Payload
	if as := readImpersonation(tx); as != nil {
		payload = as.Payload
	}
	var head struct {
		Kind string `cbor:"kind"`
	}
	if codec.UnmarshalPartial(payload, types.MaxTransactionBytes, &head) != nil {
		return nil // the oracle of accounts accuses it
	}
	switch head.Kind {
	case types.KindDeploy:
		in := decodePayload[types.Deploy](payload)
		if in.Manifest.Upgrade != nil && !j.rules.Upgrades {
			wrong("the actor %s was deployed with terms of upgrades, which this chain has not", r.To)
		}
		j.programs[r.To] = &codeOf{code: keccak256(in.Code), terms: in.Manifest.Upgrade}
		return nil
	case types.KindUpgrade, types.KindApply, types.KindTerms:
	default:
		return nil
	}
	c := j.programs[r.To]
	if c == nil || c.terms == nil || !j.rules.Upgrades {
		wrong("%s of %s was executed, which has no upgrades", head.Kind, r.To)
		return nil
	}
	if c.terms.By != r.Sender {
		wrong("%s of %s was executed for %s: the terms name %s", head.Kind, r.To, r.Sender, c.terms.By)
	}
	return c.executeUpgrade(head.Kind, payload, r.To, h, wrong)
}

// executeUpgrade counts an upgrade, its announcement or its terms.
func (c *codeOf) executeUpgrade(kind string, payload []byte, at types.Address, h types.Height, wrong func(string, ...any)) *types.Event {
	var from types.Hash
	name, told := eventUpgraded, upgradeEvent{Actor: at, From: c.code}
	switch kind {
	case types.KindTerms:
		in := decodePayload[types.SetUpgradeTerms](payload)
		if in.Terms != nil && in.Terms.Delay < c.terms.Delay {
			wrong("the delay of %s became %d blocks, and was %d", at, in.Terms.Delay, c.terms.Delay)
		}
		c.terms, c.to = in.Terms, types.Hash{}
		return chainEvent(eventTerms, termsSet{at, in.Terms})
	case types.KindUpgrade:
		in := decodePayload[types.Upgrade](payload)
		from, told.To = in.From, keccak256(in.Code)
		if c.terms.Delay > 0 {
			name, told.Height = eventAnnounced, h+types.Height(c.terms.Delay)
			told.Until = told.Height + types.Height(min(max(c.terms.Delay, leastLapse), mostLapse))
			c.to, c.from, c.until = told.To, told.Height, told.Until
		}
	default:
		in := decodePayload[types.ApplyUpgrade](payload)
		if from, told.To = in.From, in.To; in.To != c.to || h < c.from || h > c.until {
			wrong("%s was upgraded to %s; announced is %s from height %d to %d", at, in.To, c.to, c.from, c.until)
		}
	}
	if from != c.code {
		wrong("%s was upgraded from %s, and had the code %s", at, from, c.code)
	}
	if name == eventUpgraded {
		c.code, c.to = told.To, types.Hash{}
	}
	return chainEvent(name, told)
}

func chainEvent(name string, data any) *types.Event {
	return &types.Event{Actor: types.GovernanceAddress, Name: name, Data: codec.Marshal(data)}
}

// decodePayload is a payload that was executed, so it decodes.
func decodePayload[T any](payload []byte) (in T) {
	_ = codec.Unmarshal(payload, types.MaxTransactionBytes, &in)
	return in
}

// codesIn are the codes of all actors by a state.
func codesIn(state []Entry) map[types.Address]types.Hash {
	found := map[types.Address]types.Hash{}
	for _, e := range state {
		if len(e.Key) != 1+len(types.Address{}) || e.Key[0] != actorKey {
			continue
		}
		var record struct {
			_          struct{} `cbor:",toarray"`
			Code       types.Hash
			Owner      types.Address
			Name       string
			DeployedAt types.Height
		}
		if codec.Unmarshal(e.Value, types.MaxTransactionBytes, &record) == nil {
			found[types.Address(e.Key[1:])] = record.Code
		}
	}
	return found
}

// compareCodes judges that each actor of a sampled state has the code that deploys and
// upgrades gave it.
func (j *Judge) compareCodes(h types.Height, codes map[types.Address]types.Hash) {
	for _, at := range slices.SortedFunc(maps.Keys(j.programs), types.Address.Compare) {
		code, known := codes[at]
		if want := j.programs[at].code; known && code != want {
			j.reportViolation("upgrades", h, types.Address{}, "the actor %s has code %s, want %s by its deploy and upgrades", at, code, want)
		}
	}
}
