package simplex

import (
	"bytes"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// status is how far the execution of a body is.
type status uint8

const (
	pending   status = iota // execution is not asked for yet
	executing               // Execute is out
	valid                   // it was executed, and is right
	failed                  // the environment failed on it; asked again at retryAt
)

// node is a body above the root.
type node struct {
	block     *types.Block
	hash      types.Hash
	from      types.Address // who sent it
	status    status
	patience  time.Duration // how long the last retryAt was ahead
	retryAt   types.Time    // when it is executed again, where that failed
	notarized bool
	persisted bool
	runners   int                 // how many a vote on it has a bit for, once valid
	places    selection.Places    // of the registry after it, once valid
	gap       time.Duration       // how much later its children are stamped at least, once valid
	next      *types.ValidatorSet // the set after a border, once valid
}

// bodies are those above the root that are held, by hash and by parent, and the
// newest final ones, for peers that lack them.
type bodies struct {
	nodes    map[types.Hash]*node // what is held, at most MaxOpenBlocks
	children map[types.Hash][]*node
	failing  []*node // the environment failed on them; at most all of nodes
	recent   []*node // final ones, the oldest first, at most MaxRecentBlocks
}

func newBodies() bodies {
	return bodies{nodes: map[types.Hash]*node{}, children: map[types.Hash][]*node{}}
}

// isFull reports whether another body takes the place of one that is held.
func (b *bodies) isFull() bool { return len(b.nodes) >= MaxOpenBlocks }

// depthAbove is how many bodies lie above a root up to one of them, inclusive, as far as they
// are held. It does not count beyond MaxOpenDepth.
func (b *bodies) depthAbove(n *node, root types.Hash) (count int) {
	for n != nil && n.hash != root && count < MaxOpenDepth {
		n = b.nodes[n.block.Header.Parent]
		count++
	}
	return count
}

// attachBody takes a body that is not held, and for which there is room.
func (b *bodies) attachBody(block *types.Block, hash types.Hash, from types.Address) *node {
	n := &node{block: block, hash: hash, from: from}
	b.nodes[hash] = n
	b.children[block.Header.Parent] = append(b.children[block.Header.Parent], n)
	return n
}

// detachBody drops a body.
func (b *bodies) detachBody(n *node) {
	delete(b.nodes, n.hash)
	siblings := b.children[n.block.Header.Parent]
	for i := range siblings {
		if siblings[i] == n {
			siblings = append(siblings[:i:i], siblings[i+1:]...)
			break
		}
	}
	if len(siblings) == 0 {
		delete(b.children, n.block.Header.Parent)
	} else {
		b.children[n.block.Header.Parent] = siblings
	}
}

// parentOf returns the header of a block's parent, and whether that is the root
// or was executed. A nil header means that the parent is not held.
func (b *bodies) parentOf(block *types.Block, root *Root) (header *types.Header, ready bool) {
	if block.Header.Parent == root.Hash {
		return &root.Block.Header, true
	}
	if p := b.nodes[block.Header.Parent]; p != nil {
		return &p.block.Header, p.status == valid
	}
	return nil, false
}

// findBody returns a body for a peer that asks, or nil.
func (b *bodies) findBody(hash types.Hash) *types.Block {
	if n := b.nodes[hash]; n != nil {
		return n.block
	}
	for _, n := range b.recent {
		if n.hash == hash {
			return n.block
		}
	}
	return nil
}

// finalAt returns a recent block by its height, or nil: catch-up leaves gaps.
func (b *bodies) finalAt(height types.Height) *node {
	for _, n := range b.recent {
		if n.block.Header.Height == height {
			return n
		}
	}
	return nil
}

// rememberFinal keeps the newest final bodies, of a path from the newest down.
func (b *bodies) rememberFinal(path []*node) {
	for i := len(path) - 1; i >= 0; i-- {
		b.recent = append(b.recent, path[i])
	}
	if over := len(b.recent) - MaxRecentBlocks; over > 0 {
		b.recent = slices.Delete(b.recent, 0, over)
	}
}

// keepForRetry keeps for another try a body over which the environment failed.
func (b *bodies) keepForRetry(n *node, patience time.Duration, now types.Time) {
	n.status, n.patience, n.retryAt = failed, patience, now.Add(patience)
	b.failing = append(b.failing, n)
}

// takeRetries makes pending again what failed, is still held and has waited long
// enough.
func (b *bodies) takeRetries(now types.Time) (due []*node) {
	kept := b.failing[:0]
	for _, n := range b.failing {
		switch {
		case b.nodes[n.hash] != n || n.status != failed:
		case now < n.retryAt:
			kept = append(kept, n)
		default:
			n.status = pending
			due = append(due, n)
		}
	}
	clear(b.failing[len(kept):])
	b.failing = kept
	return due
}

// retryAt is when retry has something to do at the earliest.
func (b *bodies) retryAt() types.Time {
	at := types.Never
	for _, n := range b.failing {
		at = min(at, n.retryAt)
	}
	return at
}

// moveRoot drops bodies that do not descend from a later root. It keeps bodies
// whose descent is unknown yet: those higher than a child of the root whose parents
// are not held. It returns what it dropped above the root, in the order of hashes.
func (b *bodies) moveRoot(root *Root) (dropped []types.Hash) {
	height := root.Block.Header.Height
	kept := newBodies()
	kept.copyBelow(root.Hash, b)
	for hash, n := range b.nodes { // order: orphans do not descend from each other, so each is judged separately
		if b.nodes[n.block.Header.Parent] == nil && n.block.Header.Height > height+1 && kept.nodes[hash] == nil {
			kept.nodes[hash] = n
			kept.children[n.block.Header.Parent] = b.children[n.block.Header.Parent]
			kept.copyBelow(hash, b)
		}
	}
	return b.replaceFrom(kept, height)
}

// dropAll drops all but the final ones, and returns those of them above the root,
// in the order of hashes.
func (b *bodies) dropAll(root *Root) (dropped []types.Hash) {
	return b.replaceFrom(newBodies(), root.Block.Header.Height)
}

func (b *bodies) replaceFrom(kept bodies, height types.Height) (dropped []types.Hash) {
	for hash, n := range b.nodes { // order: sorted below
		if kept.nodes[hash] == nil && n.block.Header.Height > height {
			dropped = append(dropped, hash)
		}
	}
	slices.SortFunc(dropped, func(a, b types.Hash) int { return bytes.Compare(a[:], b[:]) })
	b.nodes, b.children = kept.nodes, kept.children
	return dropped
}

// copyBelow takes over the descendants of a block.
func (b *bodies) copyBelow(hash types.Hash, from *bodies) {
	open := []types.Hash{hash}
	for len(open) > 0 {
		hash, open = open[0], open[1:]
		if len(from.children[hash]) > 0 {
			b.children[hash] = from.children[hash]
		}
		for _, child := range from.children[hash] {
			b.nodes[child.hash] = child
			open = append(open, child.hash)
		}
	}
}
