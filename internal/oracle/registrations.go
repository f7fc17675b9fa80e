package oracle

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// entry is a transaction that registers a runner. Registrations that an actor sends are
// in no transaction, and are judged by their events only.
type entry struct {
	Owner     types.Address
	PublicKey types.PublicKey
	Signed    types.Signature
}

// entryOf reads a transaction as a registration; nil if it is another.
func (j *Judge) entryOf(tx *types.Transaction) *entry {
	if tx.To == nil || *tx.To != types.RegistryAddress || tx.Signature == nil {
		return nil
	}
	var call types.Execute
	var in struct {
		PublicKey types.PublicKey `cbor:"public_key"`
		Signed    types.Signature `cbor:"signed"`
	}
	if codec.Unmarshal(tx.Payload, types.MaxTransactionBytes, &call) != nil || call.Handler != "register" ||
		codec.UnmarshalPartial(call.Payload, types.MaxTransactionBytes, &in) != nil {
		return nil
	}
	owner, _ := j.rules.Recover(tx.SigningDigest(), *tx.Signature)
	return &entry{owner, in.PublicKey, in.Signed}
}

// judgeRegistration judges that the key of a runner that a transaction registered signed for its
// owner (decision J20).
func (w *work) judgeRegistration(r *types.Receipt, in *entry) {
	if in == nil {
		return
	}
	for _, e := range r.Events {
		var told runnerEvent
		if e.Actor == types.RegistryAddress && e.Name == "runner.registered" && w.decodeEvent(&e, &told) {
			w.judgeSignature(told.Runner, in.Signed, "Registration", in.Owner[:], in.PublicKey[:])
		}
	}
}
