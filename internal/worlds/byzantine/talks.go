package byzantine

import (
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// WrapConnections puts the mask before a validator's connections with runners. c may
// be nil.
func (m *Mask) WrapConnections(c env.Connections) env.Connections {
	if c == nil {
		return nil
	}
	return &talks{Connections: c, mask: m, runners: map[connection.ID]types.PublicKey{}}
}

// talks is a validator's connections with runners, behind a mask.
type talks struct {
	env.Connections
	mask *Mask

	mu      sync.Mutex
	runners map[connection.ID]types.PublicKey // the runners, by the connections that are up
}

// Start implements env.Connections.
func (t *talks) Start(receive func(connection.Event)) error {
	return t.Connections.Start(func(e connection.Event) {
		if t.recordTalk(e) {
			receive(e)
		}
	})
}

// recordTalk records the connected runners, and returns whether the validator gets the
// event.
func (t *talks) recordTalk(e connection.Event) bool {
	switch e := e.(type) {
	case connection.Up:
		t.mu.Lock()
		t.runners[e.ID] = e.Peer
		t.mu.Unlock()
	case connection.Down:
		t.mu.Lock()
		delete(t.runners, e.ID)
		t.mu.Unlock()
	case connection.Came:
		current := t.mask.active.Load()
		if current != nil && current.kind == WithholdResult && len(e.Frame) > 0 && push.Type(e.Frame[0]) == push.TypeJobResult {
			current.counts.Withheld.Add(1)
			t.Connections.Do(connection.Taken{ID: e.ID})
			return false
		}
	}
	return true
}

// Do implements env.Connections.
func (t *talks) Do(v connection.Verb) {
	send, is := v.(connection.Send)
	current := t.mask.active.Load()
	if !is || current == nil || len(send.Frame) == 0 || push.Type(send.Frame[0]) != push.TypeJobAssignment {
		t.Connections.Do(v)
		return
	}
	f, err := push.Decode(push.Raw{Type: push.TypeJobAssignment, Payload: send.Frame[1:]})
	if err != nil {
		t.Connections.Do(v)
		return
	}
	assignment := f.(*push.JobAssignment)
	if current.kind == DoubleAssign && t.isInSecondHalf(send.ID) {
		current.counts.Forged.Add(1)
		send.Frame = stripLength(t.mask.otherSpec(assignment))
	}
	t.Connections.Do(send)
	switch current.kind {
	case FalseCancel:
		current.counts.Forged.Add(1)
		cancel := &push.JobCancel{JobID: assignment.JobID, Reason: push.Failed}
		cancel.ValidatorSigned = t.mask.signer.Sign(cancel.Digest(t.mask.chainID))
		t.Connections.Do(connection.Send{ID: send.ID, Stream: send.Stream, Frame: stripLength(cancel)})
	case FalseCommit:
		t.mu.Lock()
		key := t.runners[send.ID]
		t.mu.Unlock()
		if runner, err := crypto.AddressOf(key); err == nil {
			current.counts.Forged.Add(1)
			t.mask.forgeCommitment(assignment.JobID, runner)
		}
	}
}

// isInSecondHalf reports whether a runner is in the half whose keys are odd.
func (t *talks) isInSecondHalf(id connection.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := t.runners[id]
	return key[len(key)-1]%2 == 1
}

// otherSpec is the same assignment of another spec, rightly signed: what is to be done
// is another thing where the job is of the kind custom, and takes longer elsewhere.
func (m *Mask) otherSpec(f *push.JobAssignment) *push.JobAssignment {
	other := *f
	switch job := &other.JobSpec.JobType; {
	case job.Custom != nil:
		custom := *job.Custom
		custom.Params = append(slices.Clone(custom.Params), '!')
		job.Custom = &custom
	default:
		other.JobSpec.ResultSchema.ExpectedExecutionMS++
	}
	other.ValidatorSigned = m.signer.Sign(other.Digest(m.chainID))
	return &other
}

// forgeCommitment brings, to all peers, the commitment to a result that a runner never had.
func (m *Mask) forgeCommitment(job types.Hash, runner types.Address) {
	args := codec.Marshal(system.Commit{JobID: job, Runner: runner, Commitment: types.Keccak(job[:], runner[:])})
	report := codec.Marshal(&types.Report{Kind: types.KindRunner, Op: system.OpCommit, Args: args})
	tx := &types.Transaction{ChainID: m.chainID, Payload: report}
	signature := m.signer.Sign(tx.SigningDigest())
	tx.Signature = &signature
	frame := encodeFrame(mesh.Transactions, &transactions{Raw: [][]byte{tx.Encode()}})
	if behind := m.behind.Load(); behind != nil {
		for _, peer := range behind.receiverOf(types.Address{}).others {
			behind.Mesh.Send(peer, frame)
		}
	}
}
