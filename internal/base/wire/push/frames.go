package push

import (
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Version is the version of the wire that Hello states, ALPN the protocol of its
// connections.
const (
	Version = 1
	ALPN    = "cowboy-cip11/1"
)

// MaxText bounds free text in bytes: reasons, details, capabilities and
// entitlements. The tags below repeat it, which a test holds to it.
const MaxText = 1024

// MaxNames bounds each list of a CapabilityDelta, which a validator keeps as long
// as the connection; a runner that has more registers them. The tags repeat it.
const MaxNames = 1024

// Role is the role of a party.
type Role string

// The two roles of CIP-11 §6.2.
const (
	Runner    Role = "Runner"
	Validator Role = "Validator"
)

func (Role) words() []string { return []string{string(Runner), string(Validator)} }

// Hello opens a connection, from both sides (CIP-11 §6.2).
type Hello struct {
	Version        uint16          `cbor:"version"`
	PartyPubkey    types.PublicKey `cbor:"party_pubkey"`
	PartyRole      Role            `cbor:"party_role"`
	BlockHeight    types.Height    `cbor:"block_height"` // of the sender's head, 0 when unknown; never judged
	ChallengeNonce types.Hash      `cbor:"challenge_nonce"`
}

// HelloAck proves the sender's key to the sender of a Hello (CIP-11 §6.2).
type HelloAck struct {
	Version         uint16          `cbor:"version"`
	PartyPubkey     types.PublicKey `cbor:"party_pubkey"`
	PartyRole       Role            `cbor:"party_role"`
	SignedChallenge types.Signature `cbor:"signed_challenge"`
	BlockHeight     types.Height    `cbor:"block_height"`
}

// HeartbeatPing reports that a runner is present (CIP-11 §6.3).
type HeartbeatPing struct {
	BlockHeight types.Height    `cbor:"block_height"` // of the runner's head
	Nonce       uint64          `cbor:"nonce"`        // greater than any before on the connection
	Signed      types.Signature `cbor:"signed"`
}

// HeartbeatPong reports a validator's head to a runner: as the answer to a ping,
// and unasked at each new one (decision J13).
type HeartbeatPong struct {
	BlockHeight     types.Height    `cbor:"block_height"`
	ValidatorSigned types.Signature `cbor:"validator_signed"`
}

// BackpressureSignal says whether a runner wants jobs (CIP-11 §6.4).
type BackpressureSignal struct {
	ActiveJobs    uint32  `cbor:"active_jobs"`
	MaxConcurrent uint32  `cbor:"max_concurrent"`
	AcceptingNew  bool    `cbor:"accepting_new"`
	Reason        *string `cbor:"reason" max:"1024"`
}

// CapabilityDelta reports a runner's present capabilities; it amends no
// registration (CIP-11 §6.5). A reader skips unknown names.
type CapabilityDelta struct {
	BlockHeight         types.Height    `cbor:"block_height"`
	AddedCapabilities   []string        `cbor:"added_capabilities" entries:"1024" max:"1024"`
	RemovedCapabilities []string        `cbor:"removed_capabilities" entries:"1024" max:"1024"`
	AddedEntitlements   []string        `cbor:"added_entitlements" entries:"1024" max:"1024"`
	RemovedEntitlements []string        `cbor:"removed_entitlements" entries:"1024" max:"1024"`
	Signed              types.Signature `cbor:"signed"`
}

// JobAssignment gives a runner a job (CIP-11 §10.1).
type JobAssignment struct {
	JobID           types.Hash      `cbor:"job_id"`
	JobSpec         JobSpec         `cbor:"job_spec"`
	BlockHeight     types.Height    `cbor:"block_height"` // of the draw
	DeadlineBlock   types.Height    `cbor:"deadline_block"`
	ValidatorSigned types.Signature `cbor:"validator_signed"`
}

// JobAck is a runner's first answer to an assignment (CIP-11 §10.2).
type JobAck struct {
	JobID  types.Hash      `cbor:"job_id"`
	Status AckStatus       `cbor:"status"`
	Reason *string         `cbor:"reason" max:"1024"`
	Signed types.Signature `cbor:"signed"`
	// RefusalSigned makes a Reject count on chain (RefusalDigest); nil if it is not to.
	RefusalSigned *types.Signature `cbor:"refusal_signed"`
}

// AckStatus is one of three; the two without content are flags.
type AckStatus struct {
	_         choice
	Accepted  bool          `cbor:"Accepted"`  // of a first delivery
	Duplicate bool          `cbor:"Duplicate"` // of every other
	Reject    *RejectReason `cbor:"Reject"`
}

// RejectReason is why a present runner cannot take a job.
type RejectReason string

// The reasons to reject a job.
const (
	Capacity           RejectReason = "Capacity"
	Unsupported        RejectReason = "Unsupported"
	MissingEntitlement RejectReason = "MissingEntitlement"
	BadSpec            RejectReason = "BadSpec"
	PastDeadline       RejectReason = "Expired"
)

func (RejectReason) words() []string {
	return []string{string(Capacity), string(Unsupported), string(MissingEntitlement), string(BadSpec), string(PastDeadline)}
}

// JobProgress informs, and changes nothing (CIP-11 §10.4).
type JobProgress struct {
	JobID    types.Hash `cbor:"job_id"`
	Fraction uint8      `cbor:"fraction" most:"100"` // percent
	Detail   *string    `cbor:"detail" max:"1024"`
}

// JobResult is a runner's result: the data itself, of which the chain first gets
// a Commitment (CIP-11 §10.3, decision J15).
type JobResult struct {
	JobID        types.Hash       `cbor:"job_id"`
	ResultData   []byte           `cbor:"result_data"`
	RunnerSigned types.Signature  `cbor:"runner_signed"`
	CommitSigned *types.Signature `cbor:"commit_signed"` // of the commitment (CommitmentDigest); nil for a committee of one
}

// JobCancel ends an assignment (CIP-11 §10.5).
type JobCancel struct {
	JobID           types.Hash      `cbor:"job_id"`
	Reason          CancelReason    `cbor:"reason"`
	ValidatorSigned types.Signature `cbor:"validator_signed"`
}

// CancelReason is why an assignment ends.
type CancelReason string

// The reasons of JobCancel.
const (
	Reassigned CancelReason = "Reassigned" // the deadline passed, and there are retries left
	Expired    CancelReason = "Expired"    // it passed and there are none, or the others settled the job
	Failed     CancelReason = "Failed"     // the submitter cancelled it, or it failed otherwise
)

func (CancelReason) words() []string {
	return []string{string(Reassigned), string(Expired), string(Failed)}
}

// Goodbye ends a connection. Its reason is one of Reasons, or one of a later
// version.
type Goodbye struct {
	Reason Reason `cbor:"reason" max:"1024"`
}
