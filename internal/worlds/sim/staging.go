package sim

// Methods that a stage needs to show a network to scripts.

// Wipe empties the disk of a validator that does not run. A validator that has lost
// its votes abstains for a while when it restarts (finding F17).
func (n *Network) Wipe(name string) (*Effect, error) {
	r, err := n.World.Wipe(name)
	if err == nil {
		n.wiped[name] = true
		n.lost(name)
	}
	return r, err
}

// SyncLies makes a validator's disk lie about its syncs. A crash may then cost it votes
// that it sent, which no log shows: it is one of the f that may contradict themselves.
func (n *Network) SyncLies(name string, on bool) *Effect {
	if on {
		n.wiped[name] = true // it may lose all
		n.lost(name)
		n.excuse(name)
	}
	return n.World.SyncLies(name, on)
}

// CutLog takes the youngest records from the log of votes of a validator that does not run.
// If the log then ends before the store's tip, the validator sits out (decision C5).
// Otherwise it is one of the f that may contradict themselves (finding F63).
func (n *Network) CutLog(name string, records int) (*Effect, error) {
	r, err := n.World.CutLog(name, records)
	if err == nil {
		n.wiped[name] = true
		n.lost(name)
		n.excuse(name)
	}
	return r, err
}

// Flip flips a bit on the disk of a validator that does not run. A log that is
// damaged in its midst is refused, and lost with that. A log that is damaged at its
// end looks as if a crash had torn it. The record is cut, a sent vote may be lost
// unseen, and its validator is one of the f that may contradict themselves (F17).
func (n *Network) Flip(name string) (*Effect, error) {
	r, err := n.World.Flip(name)
	if err != nil {
		return r, err
	}
	n.lost(name)
	if n.World.find(name).disk.looksTorn() {
		n.excuse(name)
	}
	return r, nil
}
