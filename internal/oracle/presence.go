package oracle

import (
	"encoding/binary"
	"math/bits"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The presence rules, by the protocol's names (decision J9).
const (
	byQuorum       = "quorum"
	byValidatorSet = "validator-set"
	bySubset       = "subset"
	bySafe         = "safe"
)

// assignment is what the subsets in force follow from, as far as P does.
type assignment struct {
	epoch    uint64
	height   types.Height // of the rotation
	members  []types.Validator
	rule     string
	min, max uint64
}

// presences holds the present runners, by this package's own count.
type presences struct {
	subsets assignment
	length  int         // of the registry at the parent's parent: of the votes on the parent
	epoch   types.Epoch // of the parent
	links   map[link]int
	ended   map[link]int // blocks judged when its last connection ended
}

// link is a runner's connection with a validator.
type link struct{ validator, runner types.Address }

func newPresences(r *Rules) presences {
	return presences{links: map[link]int{}, ended: map[link]int{},
		subsets: assignment{members: r.Set.Members, rule: r.Jobs.PresenceRule, min: r.Jobs.MinSubset, max: r.Jobs.MaxSubset}}
}

// maxFaulty is f of n validators.
func maxFaulty(n int) int {
	if n == 0 {
		return 0
	}
	return (n - 1) / 3
}

// subsetSize is k, the validators of one runner.
func (a *assignment) subsetSize() int {
	n := len(a.members)
	if a.rule == bySafe {
		return 3*maxFaulty(n) + 1
	}
	k := uint64(bits.Len(uint(n-1))) + 1 // ceil(log2 n) + 1
	return int(min(max(k, a.min), a.max, uint64(n)))
}

// presenceThreshold is how many of the votes that a block carries a runner needs.
func (a *assignment) presenceThreshold(votes, voters int) int {
	switch a.rule {
	case byValidatorSet, bySafe:
		return maxFaulty(voters) + 1
	case bySubset:
		return maxFaulty(a.subsetSize()) + 1
	}
	return maxFaulty(votes) + 1
}

// judgePresence judges P(parent) in a block, which follows from the votes on the parent
// that it carries (CIP-11 §8, decisions C3, J9, J12), and returns it, one byte per
// runner; then it follows the rotation of the subsets.
func (w *work) judgePresence(o *Observation) []byte {
	h := &o.Block.Header
	wrong := func(format string, args ...any) {
		w.reportViolation("presence", h.Height, types.Address{}, format, args...)
	}
	p := &w.attendance
	present := make([]byte, p.length)
	if c := o.Block.Parent; c != nil && p.length > 0 {
		w.seen.Presences++
		parentSet := w.setOf(p.epoch)
		voters := len(c.Votes)
		if parentSet != nil {
			voters = len(parentSet.Members)
		}
		threshold := p.subsets.presenceThreshold(len(c.Votes), voters)
		for i := range present {
			if n := attestingVotes(c, i); len(n) >= threshold && w.runners.holderOf(i, parentOf(h)) != nil {
				present[i] = 1
				w.seen.Present++
				w.judgeReachable(c, i, n, threshold, wrong)
			}
		}
	}
	if own := keccak256(bitmapOf(present)); own != h.Presence {
		wrong("the header holds %s for P of its parent; by the votes it is %s, %d of %d present", h.Presence, own, countPresent(present),
			len(present))
	}
	w.rotateSubsets(h, wrong)
	p.epoch = h.Epoch
	return present
}

// parentOf is the height of a block's parent (decision C8).
func parentOf(h *types.Header) types.Height { return h.Height - 1 - types.Height(h.Skipped) }

// attestingVotes are the votes, by their place, that show a runner.
func attestingVotes(c *types.Certificate, runner int) (votes []int) {
	for i := range c.Votes {
		if hasBit(c.Votes[i].Bitmap, runner) {
			votes = append(votes, i)
		}
	}
	return votes
}

// hasBit reads one bit of bit_length_be4 ‖ bytes. A shorter bitmap's missing bits
// are 0 (CIP-11 §8.4).
func hasBit(bitmap []byte, runner int) bool {
	if len(bitmap) < 4 || uint32(runner) >= binary.BigEndian.Uint32(bitmap) || 4+runner/8 >= len(bitmap) {
		return false
	}
	return bitmap[4+runner/8]>>(runner%8)&1 == 1
}

func bitmapOf(present []byte) []byte {
	if len(present) == 0 {
		return nil
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(present)))
	out = append(out, make([]byte, (len(present)+7)/8)...)
	for i, there := range present {
		out[4+i/8] |= there << (i % 8)
	}
	return out
}

func countPresent(present []byte) (n int) {
	for _, there := range present {
		n += int(there)
	}
	return n
}

// rotateSubsets follows and judges the subset epoch (CIP-11 §5.3, decision J10).
func (w *work) rotateSubsets(h *types.Header, wrong func(string, ...any)) {
	p := &w.attendance
	p.length = len(w.runners.places)
	a, set := &p.subsets, w.setOf(h.Epoch)
	if set == nil {
		return
	}
	next := assignment{a.epoch + 1, h.Height, set.Members, w.rules.PresenceRule, w.rules.MinSubset, w.rules.MaxSubset}
	begins := h.Epoch != p.epoch
	due := uint64(h.Height-a.height) >= w.rules.SubsetEpochBlocks || begins && (a.churnTo(&next)*permille >
		w.rules.ChurnPermille*uint64(len(a.members)) || a.rule != next.rule || a.min != next.min || a.max != next.max)
	want := a.epoch
	if due {
		want, p.subsets = next.epoch, next
	}
	if h.SubsetEpoch != want {
		wrong("wrong subset epoch of the header: got %d, want %d", h.SubsetEpoch, want)
	}
}

// churnTo is how many left and joined between two assignments.
func (a *assignment) churnTo(next *assignment) (n uint64) {
	in := map[types.Address]int{}
	for _, m := range a.members {
		in[m.Address]++
	}
	for _, m := range next.members {
		in[m.Address]--
	}
	for _, left := range in { // order: they are counted
		if left != 0 {
			n++
		}
	}
	return n
}

// linger is the number of judged blocks after its end for which a connection can
// still explain a bit: votes precede the judgement of their block, more than one if
// views fail.
const linger = 16

// Connected says that a runner's connection with a validator began. The judge gets
// all of them, or Rules.Connects is false.
func (j *Judge) Connected(validator, runner types.Address) {
	j.attendance.links[link{validator, runner}]++
}

// Disconnected says that one ended.
func (j *Judge) Disconnected(validator, runner types.Address) {
	at := link{validator, runner}
	if j.attendance.links[at] > 0 {
		j.attendance.links[at]--
		j.attendance.ended[at] = j.seen.Heights
	}
}

// endConnections ends the connections that a validator's process had before it boots.
func (j *Judge) endConnections(validator types.Address) {
	for at := range j.attendance.links { // order: each is ended separately
		for at.validator == validator && j.attendance.links[at] > 0 {
			j.Disconnected(at.validator, at.runner)
		}
	}
}

// judgeReachable judges that a present runner has a real connection with an honest
// validator that reports it. If fewer voters lie than make a runner present, such a
// validator exists; with more the rule claims nothing (decision J9).
func (w *work) judgeReachable(c *types.Certificate, runner int, votes []int, threshold int, wrong func(string, ...any)) {
	if !w.Judge.rules.Connects {
		return
	}
	liars := 0
	for i := range c.Votes {
		if w.votes.excused[c.Votes[i].Validator] {
			liars++
		}
	}
	if liars >= threshold {
		return
	}
	who := w.runners.places[runner].Address
	for _, i := range votes {
		at := link{c.Votes[i].Validator, who}
		if ended, was := w.attendance.ended[at]; w.attendance.links[at] > 0 || was && w.seen.Heights-ended <= linger {
			return
		}
	}
	wrong("runner %s is present by %d votes, of which at most %d lie, and has a connection with none of them", who, len(votes), liars)
}
