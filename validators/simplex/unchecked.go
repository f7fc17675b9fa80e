package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// Unchecked holds the parts of a certificate with unchecked signatures that could be new
// to a machine. Each validator forwards a certificate at each view, and of a hundred
// all but one say what is known: to recover their signers would be most of a
// validator's work. Where all three are empty the certificate is of no use.
type Unchecked struct {
	Whole bool          // it may prove something new: to be checked, and received, as it is
	Votes []*types.Vote // what it proves is proven here already, by other votes than these: each to be checked and received
	Past  *Past         // it belongs to a view before a final one: process this instead
}

// Past reports that a peer may be at an earlier view, so that the machine sends it
// the certificates that it lacks. It proves nothing, and changes nothing here.
type Past struct {
	Epoch types.Epoch
	View  types.View
}

func (*Past) isVerified() {}

// Unchecked returns the parts of a certificate that are new to the machine. It must not
// be called during a Step. Step would not use the parts that Unchecked leaves out, even
// if all were well signed: forged parts there have no effect.
func (m *Machine) Unchecked(c *types.Certificate) Unchecked {
	switch {
	case checkContent(c.Kind, c.View, c.Height, c.Block) != nil || c.Epoch != m.set.Epoch || m.contradictsChain(c):
		return Unchecked{Whole: true}
	case c.Kind == types.Notarize && c.Block == m.root.Hash && m.root.Notarization == nil:
		return Unchecked{Whole: true}
	case c.View < m.rootView():
		return Unchecked{Past: &Past{c.Epoch, c.View}}
	case c.View == m.rootView() && c.Block != m.root.Hash:
		return Unchecked{}
	}
	r := m.rounds[c.View]
	if m.gone.hasView(c.View) {
		return Unchecked{}
	}
	if r == nil {
		return Unchecked{Whole: true}
	}
	if held := *r.certificateOf(c.Kind); held == nil || held.Block != c.Block || held.Height != c.Height {
		return Unchecked{Whole: true}
	}
	if c.View+MaxPastViews <= m.view {
		return Unchecked{}
	}
	return m.lackingVotes(r.ballotOf(c.Kind), c)
}

// lackingVotes finds the votes of a certificate that a ballot does not have: the next leader
// carries all that it has (decision C3).
func (m *state) lackingVotes(b *ballot, c *types.Certificate) (s Unchecked) {
	members := m.set.Members
	next := 0
	for i := range c.Votes {
		for next < len(members) && members[next].Address != c.Votes[i].Validator {
			next++
		}
		if next == len(members) {
			return Unchecked{Whole: true} // out of order, or of no member: to be refused
		}
		if b.votes == nil || b.votes[next] == nil {
			vote := c.Vote(i)
			s.Votes = append(s.Votes, &vote)
		}
		next++
	}
	return s
}
