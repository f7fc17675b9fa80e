package validators_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// bench is a simulated network of validators, and runners that a test plays by hand,
// frame by frame, at the far end of the validators' connections.
type bench struct {
	*testing.T
	*sim.Network
	ends    map[string]*farEnd // by validator
	final   []*ledger.Result   // of v0
	runners map[string]crypto.Signer
}

// farEnd is env.Connections whose far end the test is. A validator's actions are
// done at once, and reported to the runner of the connection.
type farEnd struct {
	receive func(connection.Event)
	last    connection.ID
	of      map[connection.ID]*hand
	closed  bool
	runs    func() bool
}

func (f *farEnd) Start(receive func(connection.Event)) error {
	f.receive, f.closed = receive, false
	return nil
}
func (f *farEnd) Close() error { f.closed = true; return nil }

func (f *farEnd) Do(v connection.Verb) {
	if !f.runs() {
		return // the process is dead
	}
	switch v := v.(type) {
	case connection.Send:
		f.of[v.ID].hear(v.Stream, v.Frame)
	case connection.Close:
		if h := f.of[v.ID]; !h.down {
			h.down, h.reason = true, v.Reason
			f.tell(connection.Down{ID: v.ID})
		}
	}
}

func (f *farEnd) tell(e connection.Event) {
	if !f.closed {
		f.receive(e)
	}
}

// hand is one connection of a runner with a validator. By itself it sends only the
// answers of honest.
type hand struct {
	bench  *bench
	end    *farEnd
	id     connection.ID
	signer crypto.Signer
	to     types.PublicKey // the validator
	honest bool            // it pings at each pong's new height, takes jobs and does them
	twice  bool            // it answers for every job that another validator brought it before
	result string
	nonce  uint64
	pongs  types.Height
	heard  []push.Frame
	saw    func(push.Frame) // sees what it hears; may be nil
	reason string           // of the Goodbye, or of the close
	down   bool
}

// newBench begins a network whose runners r0, r1, … alice registered.
func newBench(t *testing.T, validators, runners int, overrides params.Overrides) *bench {
	return newBentBench(t, validators, runners, overrides, nil)
}

// newBentBench puts a misbehaviour between validators and their environment too, of
// which the oracles are not told: they do not judge.
func newBentBench(t *testing.T, validators, runners int, overrides params.Overrides,
	wrap func(b *bench, name string, node env.Validator) env.Validator) *bench {
	b := &bench{T: t, ends: map[string]*farEnd{}, runners: map[string]crypto.Signer{}}
	var err error
	b.Network, err = sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 1}, Validators: validators, Params: overrides,
		Programs: samples.Mux{}, Timeless: true, Open: true, Unjudged: wrap != nil,
		Wrap: func(name string, node env.Validator) env.Validator {
			b.ends[name] = &farEnd{of: map[connection.ID]*hand{}, runs: func() bool { return b.Running(name) }}
			node.Connections = b.ends[name]
			if wrap != nil {
				node = wrap(b, name, node)
			}
			return node
		},
		Final: func(_ types.Time, r *ledger.Result) {
			if len(b.final) == 0 || r.Block.Header.Height > b.final[len(b.final)-1].Block.Header.Height {
				b.final = append(b.final, r)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Network.Close() })
	b.blocks(2)
	for i := range runners {
		name := "r" + string(rune('0'+i))
		s := b.Scheme().Signer(crypto.DeriveKey(1, name))
		b.runners[name] = s
		registry, stake := types.RegistryAddress, types.WeiOf(20_000*types.CBY)
		b.send(b.Sign("alice", &registry, types.Wei{}, call("register", system.Registration{PublicKey: s.PublicKey(), Stake: stake,
			Signed: s.Sign(types.RegistrationDigest(b.Genesis.ChainID, b.Key("alice").Address(), s.PublicKey())),
			Offer:  system.Offer{Capabilities: []string{"custom"}, Entitlements: []string{}, MaxConcurrentJobs: 4}})))
	}
	b.blocks(3)
	return b
}

func (b *bench) send(tx *types.Transaction) {
	b.Helper()
	b.Submit("v0", tx, func(_ types.Hash, err error) {
		if err != nil {
			b.Error(err)
		}
	})
}

// blocks lets some blocks become final; where they wait for work, some seconds pass.
func (b *bench) blocks(n types.Height) {
	b.Helper()
	if b.Genesis.Params["chain.block_time_auto"] == "true" {
		if err := b.RunFor(time.Duration(n) * time.Second); err != nil {
			b.Fatal(err)
		}
		return
	}
	if err := b.RunToHeight(b.Tip()+n, time.Duration(n+60)*time.Second); err != nil {
		b.Fatal(err)
	}
}

// settle lets what is under way arrive, within a block.
func (b *bench) settle() {
	b.Helper()
	if err := b.RunFor(20 * time.Millisecond); err != nil {
		b.Fatal(err)
	}
}

// connect brings a connection up and goes through the Hellos.
func (b *bench) connect(runner, validator string) *hand {
	b.Helper()
	f := b.ends[validator]
	f.last++
	h := &hand{bench: b, end: f, id: f.last, signer: b.runners[runner], to: b.Key(validator).PublicKey(), honest: true, result: "done"}
	f.of[h.id] = h
	f.tell(connection.Up{ID: h.id, Peer: h.signer.PublicKey(), Remote: connection.Address{15: 1}})
	f.tell(connection.Opened{ID: h.id, Stream: connection.Control})
	h.say(connection.Control, &push.Hello{Version: push.Version, PartyPubkey: h.signer.PublicKey(), PartyRole: push.Runner,
		ChallengeNonce: types.Hash{1}})
	b.settle()
	return h
}

// everywhere connects a runner with all validators; those that are not in its subset
// refuse it (CIP-11 §5.2), in the phases that have connections.
func (b *bench) everywhere(runner string) (all []*hand) {
	b.Helper()
	for _, v := range b.Names() {
		if h := b.connect(runner, v); h.reason != string(push.NotInSubset) {
			all = append(all, h)
		}
	}
	return all
}

func (h *hand) say(stream connection.Stream, f push.Frame) {
	frame, err := push.Encode(f)
	if err != nil {
		h.bench.Fatal(err)
	}
	h.end.tell(connection.Came{ID: h.id, Stream: stream, Frame: frame[4:]})
}

// ping reports the runner's presence.
func (h *hand) ping() {
	h.nonce++
	f := &push.HeartbeatPing{BlockHeight: h.pongs, Nonce: h.nonce}
	f.Signed = h.signer.Sign(f.Digest(8011))
	h.say(connection.Control, f)
}

// hear takes a frame, and does what an honest runner does.
func (h *hand) hear(stream connection.Stream, frame []byte) {
	read, err := push.Decode(push.Raw{Type: push.Type(frame[0]), Payload: frame[1:]})
	if err != nil {
		h.bench.Fatal(err)
	}
	h.heard = append(h.heard, read)
	if h.saw != nil {
		h.saw(read)
	}
	switch f := read.(type) {
	case *push.Hello:
		ack := &push.HelloAck{Version: push.Version, PartyPubkey: h.signer.PublicKey(), PartyRole: push.Runner}
		ack.SignedChallenge = h.signer.Sign(ack.Digest(8011, f.ChallengeNonce, h.to))
		h.say(connection.Control, ack)
		h.ping()
	case *push.HeartbeatPong:
		if h.honest && f.BlockHeight > h.pongs {
			h.pongs = f.BlockHeight
			h.ping()
		}
	case *push.JobAssignment:
		if h.honest {
			h.work(stream, f)
		}
	case *push.Goodbye:
		h.reason = string(f.Reason)
	}
}

// work takes a job, and has its result.
func (h *hand) work(stream connection.Stream, f *push.JobAssignment) {
	ack := &push.JobAck{JobID: f.JobID, Status: push.AckStatus{Accepted: !h.twice, Duplicate: h.twice}}
	ack.Signed = h.signer.Sign(ack.Digest(8011))
	h.say(stream, ack)
	if h.result == "" || h.twice {
		return
	}
	result := &push.JobResult{JobID: f.JobID, ResultData: []byte(h.result)}
	result.RunnerSigned = h.signer.Sign(result.Digest(8011))
	if f.JobSpec.Verification.Runners > 1 {
		signed := h.signer.Sign(push.CommitmentDigest(8011, f.JobID, f.BlockHeight, push.Commitment(result.ResultData, result.RunnerSigned)))
		result.CommitSigned = &signed
	}
	h.say(stream, result)
	h.end.tell(connection.Ended{ID: h.id, Stream: stream})
}

// heardOf counts the frames of a kind that a hand has heard.
func heardOf[F push.Frame](h *hand) (n int) {
	for _, f := range h.heard {
		if _, is := f.(F); is {
			n++
		}
	}
	return n
}

// present lists the runners of the last P, by index.
func (b *bench) present() (indexes []int) {
	p := b.final[len(b.final)-1].Presence
	for i := range p.Bitmap.Len() {
		if p.Bitmap.Has(i) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// submit submits a job that calls the sample counter back.
func (b *bench) submit(runners uint64, back types.Address) {
	s := &push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte("hello")}},
		Bounds:       push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 1},
		Verification: push.Verification{Mode: push.Deterministic, Runners: runners}, MaxPrice: types.WeiOf(1), TimeoutBlocks: 30,
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes},
		Callback:     &push.Callback{Actor: back, Handler: "increment", CorrelationID: []byte{}, Context: []byte{}}}
	if runners == 1 {
		s.Verification.Mode = push.None
	}
	to := types.DispatcherAddress
	b.send(b.Sign("alice", &to, types.Wei{}, &types.Execute{Kind: types.KindExecute, Handler: "submit", Payload: s.Order()}))
}

// changes lists what blocks did to jobs, from a height on.
func (b *bench) changes(from types.Height) (kinds []types.JobChangeKind) {
	for _, r := range b.final {
		if r.Block.Header.Height >= from {
			for i := range r.Jobs {
				kinds = append(kinds, r.Jobs[i].Kind)
			}
		}
	}
	return kinds
}

// served lets an honest runner do a job, whatever happened before.
func (b *bench) served(back types.Address) {
	b.Helper()
	from := b.Tip() + 1
	b.submit(1, back)
	b.blocks(6)
	if got := b.changes(from); !slices.Contains(got, types.JobChangeCalledBack) || slices.Contains(got, types.JobChangeFailed) {
		b.Fatalf("the job of an honest runner went %v", got)
	}
}
