package model

import "github.com/cowboyinc/devnet/internal/base/types"

// FaultRequest is a fault to make. Which fields a verb reads its description
// says; the others are empty.
type FaultRequest struct {
	Verb  string `json:"verb"`
	Node  string `json:"node,omitempty" maxLength:"32" doc:"Node of the fault, or the middle of a bridge."`
	Kind  string `json:"kind,omitempty" maxLength:"32" doc:"For misbehave. For a validator: equivocate, withhold_votes, silent_leader, bad_state_root, tamper_body, withhold_body, impersonate, forge, flood, passes_over, fabricate_presence, suppress_presence, misshape_presence, choose_votes, false_commit, false_cancel, withhold_result, double_assign. For a runner: wrong_result, late_result, duplicate_result, no_reveal, bad_signature, replay_nonce, reject. honest ends it."`
	Actor string `json:"actor,omitempty" maxLength:"64" doc:"For host_fail: the actor's name or address."`
	How   string `json:"how,omitempty" maxLength:"32" doc:"For host_fail: crash, hang or crawl; works ends it."`
	On    bool   `json:"on,omitempty"`
	Skew  string `json:"skew,omitempty" maxLength:"32" doc:"Of clock_skew: a duration."`
	Delay string `json:"delay,omitempty" maxLength:"32" doc:"For slow, disk_slow and cpu_slow: a duration; 0s ends it. For hang: time that it hangs, 1ms to 1m0s."`
	Up    string `json:"up,omitempty" maxLength:"32" doc:"For flap: time that connections stay up, a duration."`
	Down  string `json:"down,omitempty" maxLength:"32" doc:"For flap: time that they are down, a duration."`
	Times int    `json:"times,omitempty" minimum:"0" maximum:"100000" doc:"For flap: number of times, up to 1000. For crash_amid: at which such instant from now; 1 where it is absent."`

	Instant string `json:"instant,omitempty" maxLength:"32" doc:"For crash_amid: before append, torn append, after append, before send, after send, before commit or after commit."`

	Add      []string `json:"add,omitempty" maxItems:"64" doc:"For capability: the runner says that it offers these from now on; entitlement:NAME is a pool."`
	Remove   []string `json:"remove,omitempty" maxItems:"64" doc:"For capability: it says that it does not offer these any more."`
	Role     string   `json:"role,omitempty" maxLength:"32" doc:"For panic and hang: archive, execution, consensus, intake, gateway or parent of a validator, runner or parent of a runner."`
	Contract string   `json:"contract,omitempty" maxLength:"32" doc:"For panic and hang of a validator, instead of a role: registry, dispatcher, verifier, treasury or governance."`

	AfterBlocks uint64 `json:"after_blocks,omitempty" maximum:"1000000" doc:"For rejoin: number of blocks until it starts."`
	NewIdentity bool   `json:"new_identity,omitempty" doc:"For rejoin: start under another key, and register that key."`

	Groups    [][]string `json:"groups,omitempty" maxItems:"100" doc:"For partition: the groups; a node reaches only its own. Nodes that are not named form one more group, which an empty last group stands for. Runners reach all where none is named."`
	Left      []string   `json:"left,omitempty" maxItems:"100" doc:"For bridge: the nodes on one side."`
	Right     []string   `json:"right,omitempty" maxItems:"100" doc:"For bridge: the nodes on the other side."`
	A         string     `json:"a,omitempty" maxLength:"32" doc:"For link: one end."`
	B         string     `json:"b,omitempty" maxLength:"32" doc:"For link: the other end."`
	Latency   string     `json:"latency,omitempty" maxLength:"32" example:"20ms" doc:"For link: a duration."`
	Jitter    string     `json:"jitter,omitempty" maxLength:"32" example:"5ms" doc:"For link: maximum extra latency."`
	Loss      float64    `json:"loss,omitempty" minimum:"0" maximum:"1"`
	Duplicate float64    `json:"duplicate,omitempty" minimum:"0" maximum:"1"`
	Reorder   float64    `json:"reorder,omitempty" minimum:"0" maximum:"1"`
	Bandwidth int64      `json:"bandwidth,omitempty" minimum:"0" doc:"For link: bytes a second; 0 for no limit."`
	OneWay    bool       `json:"one_way,omitempty" doc:"For link: affect only packets from a to b."`
}

// FaultReceipt says what a fault did so far.
type FaultReceipt struct {
	Verb    string        `json:"verb"`
	Detail  string        `json:"detail" doc:"Whom, and how."`
	Did     string        `json:"did" doc:"Its effect so far, for people; empty if none yet."`
	Idle    bool          `json:"idle" doc:"True while it had no effect."`
	Ended   bool          `json:"ended" doc:"True where it can have no effect any more."`
	BeganMS types.Millis  `json:"began_ms,omitempty" doc:"When it was ordered, by the network's clock; absent in the event of a cheat."`
	EndedMS *types.Millis `json:"ended_ms" doc:"When it ended; null while it lasts."`
	// Order makes the same fault again.
	Order *FaultRequest `json:"order,omitempty" doc:"The order that made it, as POST /devnet/fault takes it; absent where that takes none such."`
}
