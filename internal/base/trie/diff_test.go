package trie

// Diff calls each for every key whose value differs between two trees, in
// order, until it returns false. A value is nil where that tree lacks the key.
// Shared parts are skipped, so the cost follows the number of changes if one tree
// came from the other.
func Diff(old, new *Tree, each func(key, old, new []byte) bool) {
	d := comparison{each}
	d.nodes(old.root, new.root)
}

// comparison compares subtrees until each returns false, and so do its methods.
type comparison struct {
	each func(key, old, new []byte) bool
}

func (d *comparison) nodes(old, new node) bool {
	switch {
	case old == new:
		return true
	case old == nil:
		return d.only(new, d.added)
	case new == nil:
		return d.only(old, d.removed)
	}
	if a, ok := old.cachedDigest().publishedHash(); ok {
		if b, ok := new.cachedDigest().publishedHash(); ok && a == b {
			return true
		}
	}
	oldBit, newBit := bitOf(old), bitOf(new)
	oldKey, newKey := first(old).key(), first(new).key()
	apart := firstDifference(oldKey, newKey)
	switch {
	case apart < min(oldBit, newBit):
		if bitAt(oldKey, apart) == 0 {
			return d.only(old, d.removed) && d.only(new, d.added)
		}
		return d.only(new, d.added) && d.only(old, d.removed)
	case oldBit < newBit: // all of new lies on one side of old
		in := old.(*inner)
		if bitAt(newKey, oldBit) == 0 {
			return d.nodes(in.left, new) && d.only(in.right, d.removed)
		}
		return d.only(in.left, d.removed) && d.nodes(in.right, new)
	case newBit < oldBit:
		in := new.(*inner)
		if bitAt(oldKey, newBit) == 0 {
			return d.nodes(old, in.left) && d.only(in.right, d.added)
		}
		return d.only(in.left, d.added) && d.nodes(old, in.right)
	case oldBit == noBit:
		return d.leaves(old.(*leaf), new.(*leaf))
	}
	a, b := old.(*inner), new.(*inner)
	return d.nodes(a.left, b.left) && d.nodes(a.right, b.right)
}

// bitOf is where n parts; a leaf parts nowhere.
func bitOf(n node) uint32 {
	if in, ok := n.(*inner); ok {
		return in.bit
	}
	return noBit
}

func (d *comparison) leaves(old, new *leaf) bool {
	return new.hasValue(old.value()) || d.each(new.key(), old.value(), new.value())
}

func (d *comparison) only(n node, visit func(*leaf) bool) bool {
	s := scanner{visit}
	return s.visitUp(n)
}

func (d *comparison) added(l *leaf) bool   { return d.each(l.key(), nil, l.value()) }
func (d *comparison) removed(l *leaf) bool { return d.each(l.key(), l.value(), nil) }

// first returns the leaf with the lowest key.
func first(n node) *leaf {
	for {
		in, ok := n.(*inner)
		if !ok {
			return n.(*leaf)
		}
		n = in.left
	}
}
