package trie

// putter carries a batch through the tree and counts its keys.
type putter struct {
	len int
}

// putChanges returns n after the changes, which are sorted, one a key, and agree with
// each other and with n in every bit before those n parts at. near is nearest of
// the first change, or nil if unknown: each change walks its own path once, however
// many nodes it passes.
func (p *putter) putChanges(n node, near *leaf, changes []Change) node {
	if len(changes) == 0 {
		return n
	}
	if n == nil {
		return p.buildTree(changes)
	}
	if near == nil {
		near = nearestLeaf(n, changes[0].Key)
	}
	last := &changes[len(changes)-1]
	// Sorted changes stray from n first at one of their ends.
	stray := min(firstDifference(near.key(), changes[0].Key), firstDifference(near.key(), last.Key))
	in, ok := n.(*inner)
	if !ok {
		return p.putLeaf(n.(*leaf), stray, changes)
	}
	if stray < in.bit {
		return p.putBeside(n, near, stray, changes)
	}
	zeros, ones := partByBit(changes, in.bit)
	left := p.putChanges(in.left, near, zeros)
	if len(zeros) > 0 {
		near = nil
	}
	right := p.putChanges(in.right, near, ones)
	if left == in.left && right == in.right {
		return n
	}
	return joinNodes(in.bit, left, right)
}

// putBeside parts the changes at a bit before all those of n: one side of it is
// new.
func (p *putter) putBeside(n node, near *leaf, at uint32, changes []Change) node {
	zeros, ones := partByBit(changes, at)
	if bitAt(near.key(), at) == 0 {
		return joinNodes(at, p.putChanges(n, near, zeros), p.buildTree(ones))
	}
	return joinNodes(at, p.buildTree(zeros), p.putChanges(n, nil, ones))
}

// putLeaf changes a leaf, or puts changes next to it.
func (p *putter) putLeaf(l *leaf, stray uint32, changes []Change) node {
	if stray != noBit {
		return p.putBeside(l, l, stray, changes)
	}
	c := &changes[0] // the only one: all agree with the leaf to the end
	switch {
	case c.Value == nil:
		p.len--
		return nil
	case l.hasValue(c.Value):
		return l
	}
	return newLeaf(*c)
}

// buildTree returns the tree of only the changes; deletes among them have no effect.
func (p *putter) buildTree(changes []Change) node {
	switch len(changes) {
	case 0:
		return nil
	case 1:
		if changes[0].Value == nil {
			return nil
		}
		p.len++
		return newLeaf(changes[0])
	}
	at := firstDifference(changes[0].Key, changes[len(changes)-1].Key)
	zeros, ones := partByBit(changes, at)
	return joinNodes(at, p.buildTree(zeros), p.buildTree(ones))
}

// partByBit splits sorted changes that agree before a bit by that bit.
func partByBit(changes []Change, at uint32) (zeros, ones []Change) {
	p, low, high := placeOf(at), 0, len(changes)
	for low < high { // before low it is 0, from high on 1
		if middle := int(uint(low+high) >> 1); p.isSetIn(changes[middle].Key) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return changes[:low], changes[low:]
}
