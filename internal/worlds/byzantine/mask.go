// Package byzantine makes a validator lie. A Mask wraps a validator's environment
// and sees the frames that leave it. One behaviour drops them, replaces them by
// forged ones, or adds forged ones, signed only by the node's own signer, whatever
// names they carry: attacks that the rest must withstand from f of n.
//
// The validator behind the mask stays honest and notices nothing: its votes are
// in its log, so that taking the mask off, or a restart, leaves an honest
// validator. Each behaviour is a small file. With no behaviour chosen a frame
// costs one atomic load more.
//
// It works alike in the simulator and live. A behaviour is a function of the
// frame and the peer, without chance and clock, so a simulated run stays a
// function of its seed.
package byzantine

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Kind names a behaviour, as scripts do.
type Kind string

// The behaviours.
const (
	Equivocate    Kind = "equivocate"     // two blocks in its views, and two votes in every view
	WithholdVotes Kind = "withhold_votes" // it leads, and votes for nothing
	SilentLeader  Kind = "silent_leader"  // it votes, and proposes nothing
	BadStateRoot  Kind = "bad_state_root" // its blocks claim another state than theirs
	TamperBody    Kind = "tamper_body"    // the blocks it sends hold other transactions than their headers say
	WithholdBody  Kind = "withhold_body"  // f of the others get no block from it, nor does any peer that asks
	Impersonate   Kind = "impersonate"    // it votes and proposes in the names of others
	Forge         Kind = "forge"          // its answers, batches, certificates and transactions are made up
	Flood         Kind = "flood"          // it sends many invalid, stale or unrequested frames
	PassesOver    Kind = "passes_over"    // its blocks claim that its host failed on every program

	FabricatePresence Kind = "fabricate_presence" // it votes that every runner is present
	SuppressPresence  Kind = "suppress_presence"  // it votes that none is
	MisshapePresence  Kind = "misshape_presence"  // its votes carry bytes that are not a bitmap
	ChooseVotes       Kind = "choose_votes"       // it overlooks votes that see a runner, so that its blocks carry others
	DoubleAssign      Kind = "double_assign"      // it signs another spec of the same job for half of the runners
	FalseCommit       Kind = "false_commit"       // it commits runners to results that they do not have
	FalseCancel       Kind = "false_cancel"       // it cancels each job that it pushes
	WithholdResult    Kind = "withhold_result"    // it holds back runners' results
)

// Kinds lists the behaviours.
func Kinds() (kinds []Kind) {
	for _, k := range fault.KindsOf(fault.Validators) {
		kinds = append(kinds, Kind(k))
	}
	return kinds
}

// AboutRunners reports whether a behaviour is about runners: without any it has no
// effect.
func (k Kind) AboutRunners() bool {
	switch k {
	case FabricatePresence, SuppressPresence, MisshapePresence, ChooseVotes, FalseCommit, FalseCancel, WithholdResult, DoubleAssign:
		return true
	}
	return false
}

// behaviour answers which frames go to a peer in place of one.
type behaviour func(m *Mask, frame []byte, to receiver) [][]byte

// receiver is a peer's place among those that a mask lies to.
type receiver struct {
	second bool            // of the half with the greater addresses
	last   bool            // among the f with the highest addresses; the rest are a quorum
	others []types.Address // all peers, sorted
}

var behaviours = map[Kind]behaviour{
	Equivocate:    equivocateTo,
	WithholdVotes: withholdVotes,
	SilentLeader:  silentLeader,
	BadStateRoot:  badStateRoot,
	TamperBody:    tamperBody,
	WithholdBody:  withholdBody,
	Impersonate:   impersonateOthers,
	Forge:         forgeFrames,
	Flood:         floodPeers,
	PassesOver:    passesOver,

	FabricatePresence: fabricatePresence,
	SuppressPresence:  suppressPresence,
	MisshapePresence:  misshapePresence,
	ChooseVotes:       passTruthfully,
	DoubleAssign:      passTruthfully,
	FalseCommit:       passTruthfully,
	FalseCancel:       passTruthfully,
	WithholdResult:    passTruthfully,
}

// Mask is the lying face of one validator.
type Mask struct {
	chainID uint64
	signer  env.Signer
	active  atomic.Pointer[active]
	lied    atomic.Bool               // it had a behaviour at some time
	behind  atomic.Pointer[transport] // the wrapped mesh, if there is one
}

type active struct {
	kind   Kind
	behave behaviour
	counts *fault.Counts
}

// NewMask makes a mask without a behaviour, for a validator with that signer.
func NewMask(chainID uint64, signer env.Signer) *Mask { return &Mask{chainID: chainID, signer: signer} }

// Behave chooses a behaviour, in place of the one before; its effects are added
// to counts, Forged and Withheld. It refuses the kinds that fault.CheckKind
// refuses, and honesty, for which Honest exists.
func (m *Mask) Behave(kind string, counts *fault.Counts) error {
	if err := fault.CheckKind(kind); err != nil {
		return err
	}
	if behaviours[Kind(kind)] == nil {
		return fmt.Errorf("there is no behaviour %q", kind)
	}
	m.lied.Store(true)
	m.active.Store(&active{Kind(kind), behaviours[Kind(kind)], counts})
	return nil
}

// Honest ends the behaviour.
func (m *Mask) Honest() { m.active.Store(nil) }

// Misbehaves says whether a behaviour is chosen.
func (m *Mask) Misbehaves() bool { return m.active.Load() != nil }

// Before puts the mask before all that a validator talks through.
func (m *Mask) Before(given env.Validator) env.Validator {
	given.Mesh, given.Programs, given.Lied = m.Wrap(given.Mesh), m.WrapPrograms(given.Programs), m.lied.Load
	given.Connections = m.WrapConnections(given.Connections)
	return given
}

// Wrap puts the mask before a transport.
func (m *Mask) Wrap(t env.Mesh) env.Mesh {
	behind := &transport{Mesh: t, mask: m}
	m.behind.Store(behind)
	return behind
}

// transport is a transport behind a mask.
type transport struct {
	env.Mesh
	mask  *Mask
	peers atomic.Pointer[[]types.Address] // sorted

	choosing   sync.Mutex
	overlooked []types.Address // whose votes a leader leaves out that chooses
}

// SetPeers implements env.Mesh.
func (t *transport) SetPeers(peers []types.Validator) {
	var all []types.Address
	for _, p := range peers {
		if p.Address != t.mask.signer.Address() {
			all = append(all, p.Address)
		}
	}
	slices.SortFunc(all, func(a, b types.Address) int { return bytes.Compare(a[:], b[:]) })
	t.peers.Store(&all)
	t.Mesh.SetPeers(peers)
}

// Send implements env.Mesh.
func (t *transport) Send(to types.Address, frame []byte) {
	current := t.mask.active.Load()
	if current == nil {
		t.Mesh.Send(to, frame)
		return
	}
	sent := current.behave(t.mask, frame, t.receiverOf(to))
	if len(sent) == 0 {
		current.counts.Withheld.Add(1)
	}
	for _, f := range sent {
		if !bytes.Equal(f, frame) {
			current.counts.Forged.Add(1)
		}
		t.Mesh.Send(to, f)
	}
}

// receiverOf finds a peer's place: the half with the higher addresses has one more
// than the other if their number is odd.
func (t *transport) receiverOf(to types.Address) receiver {
	peers := t.peers.Load()
	if peers == nil {
		return receiver{}
	}
	at, faulty := slices.Index(*peers, to), len(*peers)/3 // of len + 1 validators
	return receiver{second: at >= len(*peers)/2, last: at >= len(*peers)-faulty, others: *peers}
}

// readOwnVote reads a frame as one of the validator's own votes, or returns nil.
func (m *Mask) readOwnVote(frame []byte) *types.Vote {
	var v types.Vote
	if !m.readFrame(frame, mesh.Vote, &v) || v.Validator != m.signer.Address() {
		return nil
	}
	return &v
}

// readProposal reads a frame as a proposal, or returns nil.
func (m *Mask) readProposal(frame []byte) *types.Proposal {
	var p types.Proposal
	if !m.readFrame(frame, mesh.Proposal, &p) || p.Block == nil {
		return nil
	}
	return &p
}

func (m *Mask) readFrame(frame []byte, tag byte, into any) bool {
	return len(frame) > 0 && frame[0] == tag && codec.Unmarshal(frame[1:], env.MaxFrameBytes, into) == nil
}

// signVote returns the frame of a vote, signed.
func (m *Mask) signVote(v types.Vote) []byte {
	v.Validator = m.signer.Address()
	v.Signature = m.signer.Sign(v.Digest(m.chainID))
	return encodeFrame(mesh.Vote, &v)
}

// signProposal returns the frame of a proposal, signed.
func (m *Mask) signProposal(p types.Proposal) []byte {
	p.Signature = m.signer.Sign(p.Digest())
	return encodeFrame(mesh.Proposal, &p)
}
