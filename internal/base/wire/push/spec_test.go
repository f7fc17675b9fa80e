package push

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const chainID = 8011

var (
	runner    = crypto.DeriveKey(1, "runner/r0")
	validator = crypto.DeriveKey(1, "validator/v0")
	alice     = crypto.DeriveKey(1, "account/alice")
)

func wantReason(t *testing.T, err error, reason Reason, detail string) {
	t.Helper()
	var fault *Fault
	if !errors.As(err, &fault) || fault.Reason != reason || !strings.Contains(err.Error(), detail) {
		t.Errorf("got %v, want %s with %q", err, reason, detail)
	}
}

// signedBy reports whether a signature is one's own.
func signedBy(scheme crypto.Scheme, digest types.Hash, signature types.Signature, signer types.Address) bool {
	found, ok := scheme.Recover(digest, signature)
	return ok && found == signer
}

// cut reads the frame that bytes begin with, after its length.
func cut(data []byte) (Raw, error) {
	if len(data) < lengthBytes {
		return Raw{}, io.ErrUnexpectedEOF
	}
	n, rest := binary.BigEndian.Uint32(data), data[lengthBytes:]
	if n == 0 || n > MaxFrame || int(n) > len(rest) {
		return Raw{}, fmt.Errorf("a frame of %d bytes, of which %d came", n, len(rest))
	}
	return Raw{Type(rest[0]), rest[1:n]}, nil
}

// ping is the example of the wire's page, signed.
func ping() *HeartbeatPing {
	f := &HeartbeatPing{BlockHeight: 100, Nonce: 1}
	f.Signed = runner.Sign(f.Digest(chainID))
	return f
}

func TestSection121TheBytesOfAPing(t *testing.T) {
	if got := ping().Digest(chainID).String(); got != "0xf0cb9978037797905e7aecf5ba39a69725d9fe42056d6c1f017aeb9c592f19dd" {
		t.Errorf("digest %s", got)
	}
	const want = "0000006210a3656e6f6e636501667369676e65645841d4ad74436693d19289d0f412ea90bfda69d0f39f01c62314de6edb7db108567733c69c86d4ff" +
		"ca1678b0fd0a74df94f33120cec298d78484253278e8142e400b016c626c6f636b5f6865696768741864"
	data, err := Encode(ping())
	if err != nil || hex.EncodeToString(data) != want {
		t.Errorf("%x, %v", data, err)
	}
}

func TestSection62AnAckSignsThePeersChallengeAndKey(t *testing.T) {
	var challenge types.Hash
	for i := range challenge {
		challenge[i] = byte(i)
	}
	f := &HelloAck{Version: Version, PartyPubkey: runner.PublicKey(), PartyRole: Runner}
	if got := f.Digest(chainID, challenge, validator.PublicKey()).String(); got !=
		"0x78c0bc32fc2d95bb7a9f95362e506c7bb01fbe1519b236b4cd3109dd0d8df59e" {
		t.Errorf("digest %s", got)
	}
}

// F110: by the letter of CIP-11 §6.2 a runner signs the peer's 32 bytes. If these are the hash of
// a transfer, the handshake is the transfer's signature. Ours is a signature of nothing else.
func TestFindingTheLetterOfTheHandshakeSignsATransaction(t *testing.T) {
	to := alice.Address()
	transfer := types.Transaction{ChainID: chainID, To: &to, Value: types.WeiOf(20_000)}
	challenge := transfer.SigningDigest()
	verifier := crypto.NewVerifier(false)
	letter := runner.Sign(challenge)
	if sender, ok := verifier.Recover(transfer.SigningDigest(), letter); !ok || sender != runner.Address() {
		t.Fatal("the letter of the handshake is harmless")
	}
	f := &HelloAck{Version: Version, PartyPubkey: runner.PublicKey(), PartyRole: Runner}
	ours := runner.Sign(f.Digest(chainID, challenge, validator.PublicKey()))
	if sender, ok := verifier.Recover(transfer.SigningDigest(), ours); ok && sender == runner.Address() {
		t.Error("a HelloAck signs a transfer")
	}
}

func TestJ1AndJ5IdsAndCommitments(t *testing.T) {
	id := JobID(alice.Address(), 0, 100)
	if got := id.String(); got != "0xbe87d9067c603764d4d8a449500785945f620939137b0ae958b54d93f3bc1b13" {
		t.Errorf("job %s", got)
	}
	result := &JobResult{JobID: id, ResultData: []byte("hello")}
	digest := result.Digest(chainID)
	if got := digest.String(); got != "0x82d10eec3d18c630b6e5635742a320eb4ab23d58b99eb8700b8243c1037876af" {
		t.Errorf("digest %s", got)
	}
	if got := Commitment(result.ResultData, runner.Sign(digest)).String(); got !=
		"0xd3f510cfacfa92a9dc8dd3a062ff3db920a1fbe73656982db05174b6ada7f9e0" {
		t.Errorf("commitment %s", got)
	}
	signed := CommitmentDigest(chainID, id, 100, types.Hash{1})
	for what, other := range map[string]types.Hash{
		"chain": CommitmentDigest(chainID+1, id, 100, types.Hash{1}), "job": CommitmentDigest(chainID, types.Hash{}, 100, types.Hash{1}),
		"draw": CommitmentDigest(chainID, id, 101, types.Hash{1}), "commitment": CommitmentDigest(chainID, id, 100, types.Hash{2}),
	} {
		if other == signed {
			t.Errorf("a signed commitment is good for another %s", what)
		}
	}
}

// The table of §12.2.
func TestSection122WhoSendsWhatOnWhichStream(t *testing.T) {
	const both = Runner + Validator
	places := map[Type]struct {
		on   Stream
		from Role
	}{0x01: {Control, both}, 0x02: {Control, both}, 0x10: {Control, Runner}, 0x11: {Control, Validator}, 0x12: {Control, Runner},
		0x13: {Control, Runner}, 0x20: {Job, Validator}, 0x21: {Job, Runner}, 0x22: {Job, Runner}, 0x23: {Job, Runner},
		0x24: {Job, Validator}, 0xf0: {Control, both}}
	for n := range 256 {
		place, known := places[Type(n)]
		if Type(n).Known() != known {
			t.Errorf("%s is known: %v", Type(n), !known)
		}
		for _, on := range []Stream{Control, Job} {
			for _, from := range []Role{Runner, Validator} {
				err := Place(Type(n), on, from)
				switch {
				case !known && on == Control:
					wantReason(t, err, UnknownFrame, "type 0x")
				case known && (on != place.on || place.from != both && place.from != from):
					wantReason(t, err, UnexpectedFrame, Type(n).String())
				case err != nil:
					t.Errorf("%s from a %s: %v", Type(n), from, err)
				}
			}
		}
	}
}

func TestSection124AnotherVersionIsSaidBeforeAnythingElseOfAHello(t *testing.T) {
	type later struct {
		Version any `cbor:"version"`
		New     any `cbor:"new"`
	}
	for _, c := range []struct {
		version any
		reason  Reason
	}{{2, UnsupportedVersion}, {0, UnsupportedVersion}, {-1, UnsupportedVersion}, {1 << 40, UnsupportedVersion}, {1, Malformed},
		{"2", Malformed}, {2.5, Malformed}, {nil, Malformed}} {
		for _, of := range []Type{TypeHello, TypeHelloAck} {
			_, err := Decode(Raw{of, codec.Marshal(&later{c.version, []any{1.5, map[string]any{"x": nil}}})})
			wantReason(t, err, c.reason, of.String())
		}
	}
	_, err := Decode(Raw{TypeHello, []byte{0xa2, 0x67, 'v', 'e', 'r', 's', 'i', 'o', 'n', 2, 0x61, 'x', 0xff}})
	wantReason(t, err, Malformed, "no valid CBOR") // which comes before the version
	_, err = Decode(Raw{TypeHeartbeatPing, codec.Marshal(&later{2, nil})})
	wantReason(t, err, Malformed, "unknown field") // no other frame has a version
}

func TestSection62HelloIsJudgedByRoleKeyAndStandingInThisOrder(t *testing.T) {
	hello := Hello{Version: Version, PartyPubkey: runner.PublicKey(), PartyRole: Runner}
	ack := HelloAck{Version: Version, PartyPubkey: runner.PublicKey(), PartyRole: Runner}
	for _, f := range []interface {
		Check(Role, types.PublicKey) error
	}{&hello, &ack} {
		if err := f.Check(Runner, runner.PublicKey()); err != nil {
			t.Error(err)
		}
		wantReason(t, f.Check(Validator, validator.PublicKey()), WrongRole, "not a Runner")
		wantReason(t, f.Check(Runner, validator.PublicKey()), IdentityMismatch, "certificate")
	}
	wantReason(t, Standing{}.Check(), NotRegistered, "Hello")
	wantReason(t, Standing{Registered: true}.Check(), InsufficientStake, "Hello")
	wantReason(t, Standing{Registered: true, Staked: true}.Check(), NotInSubset, "Hello")
	if err := (Standing{true, true, true}).Check(); err != nil {
		t.Error(err)
	}
}

// A signature covers one frame, one chain, one content and one signer.
func TestSection12SignaturesCoverWhatTheTableSays(t *testing.T) {
	scheme := crypto.NewVerifier(false)
	reason, reject := "no", Capacity
	signed := map[string]types.Hash{}
	note := func(name string, f interface{ Digest(uint64) types.Hash }) {
		for known, digest := range signed {
			if digest == f.Digest(chainID) {
				t.Errorf("%s signs what %s signs", name, known)
			}
		}
		if f.Digest(chainID) == f.Digest(chainID+1) {
			t.Errorf("%s is signed for every chain", name)
		}
		signed[name] = f.Digest(chainID)
	}
	note("ping", &HeartbeatPing{})
	note("ping, height", &HeartbeatPing{BlockHeight: 1})
	note("ping, nonce", &HeartbeatPing{Nonce: 1})
	note("assignment", &JobAssignment{})
	note("assignment, job", &JobAssignment{JobID: types.Hash{1}})
	note("assignment, deadline", &JobAssignment{DeadlineBlock: 1})
	note("assignment, spec", &JobAssignment{JobSpec: JobSpec{TimeoutBlocks: 1}})
	note("ack", &JobAck{})
	note("ack, job", &JobAck{JobID: types.Hash{1}})
	note("ack, duplicate", &JobAck{Status: AckStatus{Duplicate: true}})
	note("ack, rejected", &JobAck{Status: AckStatus{Reject: &reject}})
	note("ack, reason", &JobAck{Reason: &reason})
	note("delta", &CapabilityDelta{})
	note("delta, height", &CapabilityDelta{BlockHeight: 1})
	note("delta, added", &CapabilityDelta{AddedCapabilities: []string{"x"}})
	note("delta, removed", &CapabilityDelta{RemovedCapabilities: []string{"x"}})
	note("result", &JobResult{})
	note("result, data", &JobResult{ResultData: []byte{1}})
	note("cancel", &JobCancel{})
	note("cancel, reason", &JobCancel{Reason: Expired})
	pong := &HeartbeatPong{}
	if pong.Digest(chainID, runner.PublicKey()) == pong.Digest(chainID, validator.PublicKey()) {
		t.Error("the digest of a pong does not depend on its sender")
	}
	if a, b := new(JobAck), new(JobAck); true {
		b.Signed = types.Signature{1}
		if a.Digest(chainID) != b.Digest(chainID) {
			t.Error("a signature covers itself")
		}
	}
	f := ping()
	for what, is := range map[string]bool{"its own": signedBy(scheme, f.Digest(chainID), f.Signed, runner.Address()),
		"of another signer": !signedBy(scheme, f.Digest(chainID), f.Signed, validator.Address()),
		"of another chain":  !signedBy(scheme, f.Digest(chainID+1), f.Signed, runner.Address()),
		"of no signature":   !signedBy(scheme, f.Digest(chainID), types.Signature{}, runner.Address())} {
		if !is {
			t.Errorf("a signature is judged wrong: %s", what)
		}
	}
}

func TestWhatAPeerWouldRefuseIsNotSent(t *testing.T) {
	long := strings.Repeat("x", MaxText+1)
	for name, f := range map[string]Frame{
		"a text":         &JobProgress{Detail: &long},
		"a name":         &CapabilityDelta{AddedEntitlements: []string{long}},
		"names":          &CapabilityDelta{RemovedCapabilities: make([]string, MaxNames+1)},
		"a reason":       &Goodbye{Reason: Reason(long)},
		"a fraction":     &JobProgress{Fraction: 101},
		"no status":      &JobAck{},
		"no role":        &Hello{Version: Version},
		"no UTF-8":       &BackpressureSignal{Reason: ptr("\xff")},
		"another word":   &JobCancel{Reason: "Bored"},
		"another mode":   &JobAssignment{JobSpec: specWith(func(s *JobSpec) { s.Verification.Mode = "Oracle" })},
		"no job":         &JobAssignment{JobSpec: specWith(func(s *JobSpec) { s.JobType = JobType{} })},
		"a word of none": &JobAck{Status: AckStatus{Reject: ptr(RejectReason("Never"))}},
	} {
		data, err := Encode(f)
		if data != nil {
			t.Errorf("%s: %x", name, data)
		}
		wantReason(t, err, Malformed, f.Type().String())
	}
	_, err := Encode(&Hello{Version: 2, PartyRole: Runner})
	wantReason(t, err, UnsupportedVersion, "version 2")
	_, err = Encode(&JobResult{ResultData: make([]byte, MaxFrame)})
	wantReason(t, err, FrameTooLarge, "JobResult")
}

func ptr[T any](v T) *T { return &v }

// spec is a job that is right.
func spec() *JobSpec {
	return &JobSpec{
		JobType:       JobType{Llm: &Llm{Model: "small", Prompt: "Say hello.", Temperature: 700, MaxTokens: 64}},
		Bounds:        Bounds{MaxInputTokens: 1000, MaxOutputTokens: 64, MaxWallTimeSeconds: 30, MaxMemoryMB: 512, MaxRetries: 2},
		Verification:  Verification{Mode: None, Runners: 1},
		MaxPrice:      types.WeiOf(2 * types.CBY),
		Tip:           types.WeiOf(1000),
		TimeoutBlocks: 20,
		Callback:      &Callback{Actor: types.Address{0xac}, Handler: "answered", CorrelationID: []byte{1, 2}},
		Submitter:     alice.Address(),
		SubmittedAt:   100,
		ResultSchema:  ResultSchema{MaxReturnBytes: 1024, ExpectedExecutionMS: 800, DataFormat: FormatText},
	}
}

func specWith(change func(*JobSpec)) JobSpec {
	s := spec()
	change(s)
	return *s
}

func TestCIP2WhatMakesNoJob(t *testing.T) {
	if err := spec().Check(); err != nil {
		t.Fatal(err)
	}
	committee := func(mode Mode, runners uint64) func(*JobSpec) {
		return func(s *JobSpec) { s.Verification = Verification{Mode: mode, Runners: runners} }
	}
	match := func(checks ...Check) func(*JobSpec) {
		return func(s *JobSpec) { s.Verification = Verification{Mode: StructuredMatch, Runners: 2, Checks: checks} }
	}
	for _, c := range []struct {
		name, field string
		change      func(*JobSpec)
	}{
		{"no input", "bounds.max_input_tokens", func(s *JobSpec) { s.Bounds.MaxInputTokens = 0 }},
		{"no output", "bounds.max_output_tokens", func(s *JobSpec) { s.Bounds.MaxOutputTokens = 0 }},
		{"no time", "bounds.max_wall_time_seconds", func(s *JobSpec) { s.Bounds.MaxWallTimeSeconds = 0 }},
		{"no memory", "bounds.max_memory_mb", func(s *JobSpec) { s.Bounds.MaxMemoryMB = 0 }},
		{"no retry", "bounds.max_retries", func(s *JobSpec) { s.Bounds.MaxRetries = 0 }},
		{"no price", "max_price", func(s *JobSpec) { s.MaxPrice = types.Wei{} }},
		{"no timeout", "timeout_blocks", func(s *JobSpec) { s.TimeoutBlocks = 0 }},
		{"a committee in one block", "timeout_blocks", func(s *JobSpec) { committee(Deterministic, 2)(s); s.TimeoutBlocks = 1 }},
		{"no type", "job_type", func(s *JobSpec) { s.JobType = JobType{} }},
		{"an extraction", "job_type.Http.extraction", func(s *JobSpec) { s.JobType = JobType{Http: &Http{Extraction: ptr("a")}} }},
		{"nobody", "verification.runners", committee(None, 0)},
		{"two of None", "verification.runners", committee(None, 2)},
		{"two of EconomicBond", "verification.runners", committee(EconomicBond, 2)},
		{"two of MajorityVote", "verification.runners", committee(MajorityVote, 2)},
		{"one of Deterministic", "verification.runners", committee(Deterministic, 1)},
		{"two of SemanticSimilarity", "verification.runners", committee(SemanticSimilarity, 2)},
		{"more than all", "verification.threshold", func(s *JobSpec) { s.Verification.Threshold = ptr(uint64(2)) }},
		{"none at all", "verification.threshold", func(s *JobSpec) { s.Verification.Threshold = ptr(uint64(0)) }},
		{"a field of None", "verification.field", func(s *JobSpec) { s.Verification.Field = ptr("/a") }},
		{"an invalid field", "verification.field", func(s *JobSpec) { committee(MajorityVote, 3)(s); s.Verification.Field = ptr("a") }},
		{"checks of None", "verification.checks", func(s *JobSpec) { s.Verification.Checks = []Check{{Schema: ptr("{}")}} }},
		{"no checks", "verification.checks", match()},
		{"equal nothing", "verification.checks.0", match(Check{Equal: &[]string{}})},
		{"equal no pointer", "verification.checks.1", match(Check{Schema: ptr("{}")}, Check{Equal: &[]string{"/a", "b"}})},
		{"tolerate no pointer", "verification.checks.0", match(Check{Tolerance: &Tolerance{Pointer: "/~2"}})},
		{"no range", "verification.checks.0", match(Check{Range: &Range{Pointer: "", Min: 2, Max: 1}})},
		{"a range of no pointer", "verification.checks.0", match(Check{Range: &Range{Pointer: "~", Max: 1}})},
	} {
		s := specWith(c.change)
		var wrong *SpecError
		if err := s.Check(); !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%s: %v, want %s", c.name, err, c.field)
		}
	}
	for name, change := range map[string]func(*JobSpec){
		"MajorityVote": func(s *JobSpec) { committee(MajorityVote, 3)(s); s.Verification.Field = ptr("/a/~0~1") },
		"StructuredMatch": match(Check{Schema: ptr("{}")}, Check{Equal: &[]string{""}}, Check{Tolerance: &Tolerance{Pointer: "/x"}},
			Check{Range: &Range{Pointer: "/x", Min: 9, Max: 9}}),
		"Deterministic":      committee(Deterministic, 31),
		"SemanticSimilarity": committee(SemanticSimilarity, 3),
		"EconomicBond":       committee(EconomicBond, 1),
		"a threshold":        func(s *JobSpec) { committee(Deterministic, 3)(s); s.Verification.Threshold = ptr(uint64(3)) },
	} {
		if s := specWith(change); s.Check() != nil {
			t.Errorf("%s: %v", name, s.Check())
		}
	}
}

func TestASpecHasOneEncodingWhereverItStands(t *testing.T) {
	s := spec()
	data := codec.Marshal(s)
	var read JobSpec
	if err := codec.Unmarshal(data, 1<<16, &read); err != nil || read.Hash() != s.Hash() || s.Hash() != types.Keccak(data) {
		t.Fatalf("%+v, %v", read, err)
	}
	if err := codec.Unmarshal(append(data, 0), 1<<16, &read); err == nil {
		t.Error("a byte after it was read")
	}
	if err := codec.Unmarshal([]byte{0xa0}, 1<<16, &read); err == nil || !strings.Contains(err.Error(), "the field tip is missing") {
		t.Errorf("of an empty map: %v", err)
	}
	kinds := []JobType{{}, {Llm: &Llm{}}, {Http: &Http{}}, {Mcp: &Mcp{}}, {EthSend: &EthSend{}}, {Custom: &Custom{}}}
	for kind, of := range kinds {
		if of.Kind() != JobKind(kind) {
			t.Errorf("%+v has kind %d", of, of.Kind())
		}
	}
}

// The limits in tags equal the named limits with reasons.
func TestTagsRepeatTheLimits(t *testing.T) {
	for n := range kinds() {
		if !Type(n).Known() {
			continue
		}
		of := kinds()[n].frame
		for i := range of.NumField() {
			f := of.Field(i)
			if limit, there := f.Tag.Lookup("max"); there && limit != "1024" || limitTag(f.Tag, "entries", MaxNames) != MaxNames {
				t.Errorf("%s.%s has the tag %s", of.Name(), f.Name, f.Tag)
			}
			free := f.Type == reflect.TypeFor[*string]() || f.Type == reflect.TypeFor[[]string]() || f.Type == reflect.TypeFor[Reason]()
			if _, there := f.Tag.Lookup("max"); there != free {
				t.Errorf("%s.%s is free text without a limit, or has one and is not free text", of.Name(), f.Name)
			}
		}
	}
	if MaxText != 1024 {
		t.Error("the tags have 1024")
	}
}

func TestReasonsOfGoodbye(t *testing.T) {
	for _, r := range Reasons {
		data, err := Encode(&Goodbye{r})
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Decode(Raw{TypeGoodbye, data[5:]}); err != nil || f.(*Goodbye).Reason != r {
			t.Errorf("%s came as %v, %v", r, f, err)
		}
		if code := r.Code(); (code == 0) != (r == Shutdown) || code > 1 {
			t.Errorf("%s closes with %d", r, code)
		}
	}
	if len(Reasons) != 18 {
		t.Errorf("%d reasons", len(Reasons))
	}
}
