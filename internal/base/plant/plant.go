// Package plant holds deliberate faults of the protocol's code, to prove that
// scenarios and campaigns find such faults: `make plants` builds devnet with each,
// one at a time, and fails if no seed finds it. A build without one of the tags
// below has none of them: the constant Planted is then empty, and the compiler
// drops every branch on it.
//
//	plant_votes_twice         a validator that restarts knows nothing of its votes (C1, C5)
//	plant_forgets_carried     a timer that is deferred a second time is dropped (T9)
//	plant_refunds_twice       what a transaction did not use is returned twice (C14, C15)
//	plant_loses_last_write    a log that is read again lacks its last record (C5)
//	plant_map_order           due timers fire in the order of a Go map (T27)
//	plant_no_turns            messages are delivered in the order sent, without turns (C16, J16)
//	plant_refuser_drawn       a runner that refused a job is drawn for it again (J21)
//
// One per link in the chain of signing, counting, persisting, committing and
// paying:
//
//	plant_anyones_vote        a member's signature is good for a vote of any other (C1)
//	plant_anyones_certificate a certificate is good whoever signed its votes (C1)
//	plant_one_vote_less       n - f - 1 votes are a certificate (C1)
//	plant_members_stay        who was told to leave or join is not reckoned with at the epoch's end (C6)
//	plant_sends_before_log    votes leave before they are in the log (C5)
//	plant_tip_before_state    the tip is committed before the block it names (C5)
//	plant_same_nonce          a transaction does not use its nonce up
//	plant_tips_before         tips go to who proposed the block before (C14)
//	plant_price_of_today      a delivery is charged the base fees of its own block (C16)
package plant

// Fault names a planted fault, like its build tag without plant_.
type Fault string

// The faults.
const (
	None               Fault = ""
	VotesTwice         Fault = "votes_twice"
	ForgetsCarried     Fault = "forgets_carried"
	RefundsTwice       Fault = "refunds_twice"
	LosesLastWrite     Fault = "loses_last_write"
	MapOrder           Fault = "map_order"
	NoTurns            Fault = "no_turns"
	RefuserDrawn       Fault = "refuser_drawn"
	AnyonesVote        Fault = "anyones_vote"
	AnyonesCertificate Fault = "anyones_certificate"
	OneVoteLess        Fault = "one_vote_less"
	MembersStay        Fault = "members_stay"
	SendsBeforeLog     Fault = "sends_before_log"
	TipBeforeState     Fault = "tip_before_state"
	SameNonce          Fault = "same_nonce"
	TipsBefore         Fault = "tips_before"
	PriceOfToday       Fault = "price_of_today"
)

// Shuffled returns what it is given in the order of a Go map, which is another
// one each time.
func Shuffled(in []int) []int {
	set := make(map[int]bool, len(in))
	for _, one := range in {
		set[one] = true
	}
	out := make([]int, 0, len(in))
	for one := range set { // order: none, which is the fault
		out = append(out, one)
	}
	return out
}
