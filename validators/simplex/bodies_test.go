package simplex

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Of two children of one parent each is found until it is dropped, and then the other alone.
func TestASiblingStaysWhenTheOtherIsDropped(t *testing.T) {
	for dropped := range 2 {
		b := bodies{nodes: map[types.Hash]*node{}, children: map[types.Hash][]*node{}}
		parent := types.Hash{9}
		var siblings []*node
		for i := range 2 {
			block := &types.Block{Header: types.Header{Parent: parent, View: types.View(i)}}
			siblings = append(siblings, b.attachBody(block, types.Hash{byte(i)}, types.Address{}))
		}
		other := siblings[1-dropped]
		b.detachBody(siblings[dropped])
		if got := b.children[parent]; !slices.Equal(got, []*node{other}) || b.nodes[other.hash] != other || len(b.nodes) != 1 {
			t.Errorf("without child %d the parent has %v, and %d bodies are held", dropped, got, len(b.nodes))
		}
		b.detachBody(other)
		if _, has := b.children[parent]; has || len(b.nodes) != 0 {
			t.Errorf("without children the parent has some, and %d bodies are held", len(b.nodes))
		}
	}
}
