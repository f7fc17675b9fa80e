package docs

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

func init() { maps.Copy(examples, runnerExamples) }

// runner is r0 of seed 1, who speaks with v0 of the other examples.
var runner = crypto.DeriveKey(1, "runner/r0")

// challenges are the nonces of the two Hellos: 00 01 … 1f, and 20 21 … 3f.
var challenges = func() (both [2]types.Hash) {
	for i := range 32 {
		both[0][i], both[1][i] = byte(i), byte(32+i)
	}
	return both
}()

// jobID is the ID of alice's first job, in block 100, whose result is hello.
var jobID = push.JobID(alice.Address(), 0, 100)

const result = "hello"

// runnerExamples are the examples of the wire between runner and validator.
var runnerExamples = map[string]func(*lines){
	"runner keys": func(l *lines) {
		r0, v0 := runner.PublicKey(), validator.PublicKey()
		l.add("r0", r0[:])
		l.add("v0", v0[:])
		key := selection.SubsetKey(r0, v0)
		l.add("subset key of r0 and v0", key[:])
	},
	"registration": func(l *lines) {
		owner, key := alice.Address(), runner.PublicKey()
		digest := types.RegistrationDigest(chainID, owner, key)
		domain, chain := []byte("cowboy/Registration/1"), be8(chainID)
		l.add("domain", domain)
		l.add("chain id", chain)
		l.add("content: the owner", owner[:])
		l.add("and the runner's key", key[:])
		if types.Keccak(domain, chain, owner[:], key[:]) != digest {
			panic("docs: a registration signs something else")
		}
		l.add("digest", digest[:])
		fields(l, codec.Marshal(&system.Registration{PublicKey: key, Stake: types.WeiOf(20_000 * types.CBY), Signed: runner.Sign(digest),
			Offer: system.Offer{Capabilities: []string{"custom", "llm"}, Entitlements: []string{}, MaxConcurrentJobs: 16}}))
	},
	"reports of runners": func(l *lines) {
		report := func(op string, args any) {
			l.add(op, codec.Marshal(&types.Report{Kind: types.KindRunner, Op: op, Args: codec.Marshal(args)}))
		}
		ping, done := &push.HeartbeatPing{BlockHeight: 100, Nonce: 1}, &push.JobResult{JobID: jobID, ResultData: []byte(result)}
		said := runner.Sign(done.Digest(chainID))
		report(system.OpHeartbeat, &system.Heartbeat{Runner: runner.Address(), BlockHeight: 100, Nonce: 1,
			Signed: runner.Sign(ping.Digest(chainID))})
		commitment := push.Commitment(done.ResultData, said)
		report(system.OpCommit, &system.Commit{JobID: jobID, Drawn: 100, Runner: runner.Address(), Commitment: commitment,
			CommitSigned: runner.Sign(push.CommitmentDigest(chainID, jobID, 100, commitment))})
		refusal := push.Refusal{JobID: jobID, Drawn: 100, Spec: jobSpec().Hash(), Reason: push.Capacity, Text: "4 of 4 jobs"}
		report(system.OpRefuse, &system.Refusal{JobID: jobID, Drawn: 100, Spec: refusal.Spec, Runner: runner.Address(), Reason: refusal.Reason,
			Text: refusal.Text, RefusalSigned: runner.Sign(refusal.Digest(chainID))})
		report(system.OpResult, &system.Reveal{JobID: jobID, Runner: runner.Address(), Result: done.ResultData, RunnerSigned: said})
	},
	"bitmap": func(l *lines) {
		b := selection.NewBitmap(10)
		for _, i := range []int{0, 3, 9} {
			b.Set(i, true)
		}
		hash := b.Hash()
		l.add("bit length", b.Bytes()[:4])
		l.add("bits", b.Bytes()[4:])
		l.add("keccak256", hash[:])
	},
	"hello": func(l *lines) {
		sent(l, &push.Hello{Version: push.Version, PartyPubkey: runner.PublicKey(), PartyRole: push.Runner, BlockHeight: 100,
			ChallengeNonce: challenges[0]})
	},
	"hello of a validator": func(l *lines) {
		sent(l, &push.Hello{Version: push.Version, PartyPubkey: validator.PublicKey(), PartyRole: push.Validator, BlockHeight: 100,
			ChallengeNonce: challenges[1]})
	},
	"hello ack": func(l *lines) {
		f := &push.HelloAck{Version: push.Version, PartyPubkey: runner.PublicKey(), PartyRole: push.Runner, BlockHeight: 100}
		peer := validator.PublicKey()
		f.SignedChallenge = runner.Sign(proved(l, f, f.Digest(chainID, challenges[1], peer), challenges[1][:], peer[:]))
		sent(l, f)
	},
	"ping": func(l *lines) {
		f := &push.HeartbeatPing{BlockHeight: 100, Nonce: 1}
		f.Signed = runner.Sign(proved(l, f, f.Digest(chainID), be8(100), be8(1)))
		sent(l, f)
	},
	"pong": func(l *lines) {
		f := &push.HeartbeatPong{BlockHeight: 101}
		peer := runner.PublicKey()
		f.ValidatorSigned = validator.Sign(proved(l, f, f.Digest(chainID, peer), be8(101), peer[:]))
		sent(l, f)
	},
	"backpressure": func(l *lines) {
		reason := "gpu_oom"
		sent(l, &push.BackpressureSignal{ActiveJobs: 4, MaxConcurrent: 4, Reason: &reason})
	},
	"capability delta": func(l *lines) {
		f := &push.CapabilityDelta{BlockHeight: 101, AddedCapabilities: []string{"region:eu"}, RemovedCapabilities: []string{"model:small"}}
		f.Signed = runner.Sign(proved(l, f, f.Digest(chainID), unsigned(f)))
		sent(l, f)
	},
	"job": func(l *lines) {
		id := jobID
		nonce, height := be8(0), be8(100)
		l.add("submitter", slices.Clone(aliceAddress[:]))
		l.add("nonce", nonce)
		l.add("height", height)
		l.add("job id", id[:])
		fields(l, codec.Marshal(jobSpec()))
		hash := jobSpec().Hash()
		l.add("keccak256 of the spec", hash[:])
	},
	"job assignment": func(l *lines) {
		f := &push.JobAssignment{JobID: jobID, JobSpec: *jobSpec(), BlockHeight: 100, DeadlineBlock: 120}
		spec := f.JobSpec.Hash()
		f.ValidatorSigned = validator.Sign(proved(l, f, f.Digest(chainID), f.JobID[:], be8(120), spec[:]))
		sent(l, f)
	},
	"job ack": func(l *lines) {
		f := &push.JobAck{JobID: jobID, Status: push.AckStatus{Accepted: true}}
		f.Signed = runner.Sign(proved(l, f, f.Digest(chainID), unsigned(f)))
		sent(l, f)
	},
	"job ack that rejects": func(l *lines) {
		full, reason := push.Capacity, "4 of 4 jobs"
		f := &push.JobAck{JobID: jobID, Status: push.AckStatus{Reject: &full}, Reason: &reason}
		hash := jobSpec().Hash()
		refusal := push.Refusal{JobID: jobID, Drawn: 100, Spec: hash, Reason: full, Text: reason}
		why, text := types.Keccak([]byte(full)), types.Keccak([]byte(reason))
		content := bytes.Join([][]byte{jobID[:], be8(100), hash[:], why[:], text[:]}, nil)
		if signed(l, "cowboy/JobRefusal/1", content) != refusal.Digest(chainID) {
			panic("the digest is made of something else")
		}
		said := runner.Sign(refusal.Digest(chainID))
		f.RefusalSigned = &said
		f.Signed = runner.Sign(proved(l, f, f.Digest(chainID), unsigned(f)))
		sent(l, f)
	},
	"job progress": func(l *lines) { sent(l, &push.JobProgress{JobID: jobID, Fraction: 50}) },
	"job result": func(l *lines) {
		f := &push.JobResult{JobID: jobID, ResultData: []byte(result)}
		data := types.Keccak(f.ResultData)
		f.RunnerSigned = runner.Sign(proved(l, f, f.Digest(chainID), f.JobID[:], data[:]))
		sent(l, f)
		commitment := push.Commitment(f.ResultData, f.RunnerSigned)
		l.add("commitment", commitment[:])
	},
	"job commitment": func(l *lines) {
		f := &push.JobResult{JobID: jobID, ResultData: []byte(result)}
		commitment := push.Commitment(f.ResultData, runner.Sign(f.Digest(chainID)))
		content := bytes.Join([][]byte{jobID[:], be8(100), commitment[:]}, nil)
		if signed(l, "cowboy/JobCommitment/1", content) != push.CommitmentDigest(chainID, jobID, 100, commitment) {
			panic("the digest is made of something else")
		}
		by := runner.Sign(push.CommitmentDigest(chainID, jobID, 100, commitment))
		l.add("commit_signed", by[:])
	},
	"job cancel": func(l *lines) {
		f := &push.JobCancel{JobID: jobID, Reason: push.Reassigned}
		f.ValidatorSigned = validator.Sign(proved(l, f, f.Digest(chainID), f.JobID[:], []byte(f.Reason)))
		sent(l, f)
	},
	"goodbye": func(l *lines) { sent(l, &push.Goodbye{Reason: push.Shutdown}) },
}

var aliceAddress = alice.Address()

// jobSpec is the job of the examples.
func jobSpec() *push.JobSpec {
	return &push.JobSpec{
		JobType:       push.JobType{Llm: &push.Llm{Model: "small", Prompt: "Say hello.", Temperature: 700, MaxTokens: 16}},
		Bounds:        push.Bounds{MaxInputTokens: 100, MaxOutputTokens: 16, MaxWallTimeSeconds: 30, MaxMemoryMB: 512, MaxRetries: 3},
		Verification:  push.Verification{Mode: push.None, Runners: 1},
		MaxPrice:      types.WeiOf(2 * types.CBY),
		TimeoutBlocks: 20,
		Submitter:     aliceAddress,
		SubmittedAt:   100,
		ResultSchema:  push.ResultSchema{MaxReturnBytes: 1024, ExpectedExecutionMS: 800, DataFormat: push.FormatText},
	}
}

func be8(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// proved writes what the signature of a frame covers, and returns the digest,
// which the frame makes alike.
func proved(l *lines, f push.Frame, digest types.Hash, content ...[]byte) types.Hash {
	if signed(l, "cowboy/"+f.Type().String()+"/1", bytes.Join(content, nil)) != digest {
		panic("the digest is made of something else")
	}
	return digest
}

// unsigned is a frame's map without the field signed, as the library makes it.
func unsigned(f push.Frame) []byte {
	data, err := push.Encode(f)
	must(err)
	var all map[string]cbor.RawMessage
	must(cbor.Unmarshal(data[5:], &all))
	delete(all, "signed")
	mode, err := cbor.CoreDetEncOptions().EncMode()
	must(err)
	data, err = mode.Marshal(all)
	must(err)
	return data
}

// sent writes a frame as it goes onto a stream, one field per line.
func sent(l *lines, f push.Frame) {
	data, err := push.Encode(f)
	must(err)
	l.add("length", data[:4])
	l.add("type: "+f.Type().String(), data[4:5])
	fields(l, data[5:])
}

// fields writes an encoded map, a key with its value a line.
func fields(l *lines, data []byte) {
	var all map[string]cbor.RawMessage
	must(cbor.Unmarshal(data, &all))
	var keys [][]byte
	size := 0
	for name, value := range all {
		key := codec.AppendText(nil, name)
		keys = append(keys, key)
		size += len(key) + len(value)
	}
	slices.SortFunc(keys, bytes.Compare)
	l.add("map", data[:len(data)-size])
	for _, key := range keys {
		name := string(key[1:])
		l.add(name, append(key, all[name]...))
	}
}
