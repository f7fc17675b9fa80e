package audit

import "fmt"

// kind is which of a node's files a problem is about; the remedy depends on it.
type kind uint8

const (
	ofState   kind = iota // state.db: the other validators have the same
	ofVotes               // votes.log cannot be read
	ofLost                // votes.log is gone
	ofOaths               // votes contradict each other
	ofOthers              // a block differs from another node's
	ofNoState             // state.db is missing
)

// Commands are the commands that a remedy prints besides those that remove or copy files.
type Commands struct {
	Up       string              // starts the network, or the node, on the home
	Reset    string              // begins a new network there
	Snapshot string              // returns the home to its latest snapshot; "": it has none
	Quote    func(string) string // a path as a shell takes it
}

// Advise writes into the report which commands repair its nodes, in their order. alone says
// that the home belongs to one validator, which fetches its state from validators that the
// report does not have.
func (r *Report) Advise(c Commands, alone bool) {
	if r.Lost != "" {
		r.Remedy = []string{c.Reset}
		if c.Snapshot != "" {
			r.Remedy = []string{c.Snapshot, c.Up}
		}
		return
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if len(n.Problems) == 0 {
			continue
		}
		files, ok := r.remedyCommands(n, c, alone)
		if !ok {
			r.Remedy = []string{c.Reset}
			return
		}
		r.Remedy = append(r.Remedy, files...)
	}
	if !r.Clean() {
		r.Remedy = append(r.Remedy, c.Up)
	}
}

// remedyCommands returns the commands for a node's files; ok is false if none help.
func (r *Report) remedyCommands(n *NodeReport, c Commands, alone bool) (typed []string, ok bool) {
	source := r.wholeSource(n)
	switch {
	case n.hasKind(ofOaths), n.hasKind(ofState) && source == nil && !alone, r.countLostVoters() > (len(r.Nodes)-1)/3 && !alone:
		return nil, false
	}
	if n.hasKind(ofVotes) {
		typed = append(typed, "rm "+c.Quote(n.files.Votes))
	}
	switch {
	case n.hasKind(ofState) && r.isDroppedElsewhere(n):
		typed = append(typed, fmt.Sprintf("cp %s %s", c.Quote(source.files.State), c.Quote(n.files.State)))
	case n.hasKind(ofState):
		typed = append(typed, "rm "+c.Quote(n.files.State))
	case n.hasKind(ofOthers) && !r.hasDamage():
		return nil, false // two final blocks of one height: no node's files are known to be wrong
	}
	return typed, true
}

func (n *NodeReport) hasKind(k kind) bool { return n.kinds&(1<<k) != 0 }

// wholeSource is another node whose state is whole, or nil.
func (r *Report) wholeSource(n *NodeReport) *NodeReport {
	for i := range r.Nodes {
		if other := &r.Nodes[i]; other.Name != n.Name && other.Height > 0 && !other.hasKind(ofState) {
			return other
		}
	}
	return nil
}

// isDroppedElsewhere says whether another node kept the last blocks only: of those a state cannot
// be fetched.
func (r *Report) isDroppedElsewhere(n *NodeReport) bool {
	for i := range r.Nodes {
		if other := &r.Nodes[i]; other.Name != n.Name && other.From > 1 {
			return true
		}
	}
	return false
}

// countLostVoters counts the nodes that cannot vote until the others have gone on.
func (r *Report) countLostVoters() (n int) {
	for i := range r.Nodes {
		if r.Nodes[i].hasKind(ofVotes) || r.Nodes[i].hasKind(ofLost) {
			n++
		}
	}
	return n
}

func (r *Report) hasDamage() bool {
	for i := range r.Nodes {
		if r.Nodes[i].hasKind(ofState) {
			return true
		}
	}
	return false
}
