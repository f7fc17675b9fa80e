package trie

import "bytes"

// Scan calls each for every key in [from, to), in order, until it returns
// false. A nil to means the end.
func (t *Tree) Scan(from, to []byte, each func(key, value []byte) bool) {
	if t.root == nil {
		return
	}
	s := scanner{func(l *leaf) bool {
		return (to == nil || bytes.Compare(l.key(), to) < 0) && each(l.key(), l.value())
	}}
	s.visitFrom(t.root, from, firstDifference(nearestLeaf(t.root, from).key(), from))
}

// ScanBack is Scan from the highest key to the lowest.
func (t *Tree) ScanBack(from, to []byte, each func(key, value []byte) bool) {
	if t.root == nil {
		return
	}
	s := scanner{func(l *leaf) bool {
		return bytes.Compare(l.key(), from) >= 0 && each(l.key(), l.value())
	}}
	if to == nil {
		s.visitDown(t.root)
		return
	}
	s.visitBelow(t.root, to, firstDifference(nearestLeaf(t.root, to).key(), to))
}

// scanner visits leaves until visit returns false, and so do its methods.
type scanner struct {
	visit func(*leaf) bool
}

// visitFrom visits, upwards, the leaves of n whose key is at least bound. stray is
// the first bit in which bound differs from the leaf that it leads to.
func (s *scanner) visitFrom(n node, bound []byte, stray uint32) bool {
	in, ok := n.(*inner)
	if !ok || stray < in.bit { // all of n lies on one side of bound
		if stray != noBit && bitAt(bound, stray) == 1 {
			return true
		}
		return s.visitUp(n)
	}
	if bitAt(bound, in.bit) == 1 {
		return s.visitFrom(in.right, bound, stray)
	}
	return s.visitFrom(in.left, bound, stray) && s.visitUp(in.right)
}

// visitBelow visits, downwards, the leaves of n whose key is less than bound.
func (s *scanner) visitBelow(n node, bound []byte, stray uint32) bool {
	in, ok := n.(*inner)
	if !ok || stray < in.bit {
		if stray == noBit || bitAt(bound, stray) == 0 {
			return true
		}
		return s.visitDown(n)
	}
	if bitAt(bound, in.bit) == 0 {
		return s.visitBelow(in.left, bound, stray)
	}
	return s.visitBelow(in.right, bound, stray) && s.visitDown(in.left)
}

func (s *scanner) visitUp(n node) bool {
	if in, ok := n.(*inner); ok {
		return s.visitUp(in.left) && s.visitUp(in.right)
	}
	return s.visit(n.(*leaf))
}

func (s *scanner) visitDown(n node) bool {
	if in, ok := n.(*inner); ok {
		return s.visitDown(in.right) && s.visitDown(in.left)
	}
	return s.visit(n.(*leaf))
}
