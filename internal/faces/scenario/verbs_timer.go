package scenario

import (
	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// netStory is what HTTP's /timer/{id}/story tells, whole: a row of blocks in which
// the same happened is one entry, so that a long wait is a short list.
func netStory(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	story, err := v.Story(argOf[types.Hash](c, "id"), 0, MaxListed)
	if err != nil || story == nil {
		return starlark.None, err
	}
	list := make([]starlark.Value, len(story.Entries))
	for i := range story.Entries {
		story.Entries[i].NameNodes(netOf(c).nodeName)
		list[i] = recordOf("story entry", story.Entries[i])
	}
	return frozenList(list), nil
}

// nodeName is the name of the node whose validator has an address, or "".
func (n *network) nodeName(a types.Address) string {
	for _, node := range n.backend.Nodes() {
		if node.Validator.Address == a {
			return node.Name
		}
	}
	return ""
}

// MaxLaneBlocks bounds what net.lane returns, as HTTP's /timers/lane is bounded.
const MaxLaneBlocks = 1000

func netLane(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	last := c.countOr("last", 40)
	if last < 1 || last > MaxLaneBlocks {
		return nil, newMistake("net.lane: last is a number of blocks from 1 to %d; got %d", MaxLaneBlocks, last)
	}
	lane, err := v.Lane(int(last))
	if err != nil {
		return nil, err
	}
	list := make([]starlark.Value, len(lane))
	for i := range lane {
		list[i] = recordOf("lane", lane[i])
	}
	return frozenList(list), nil
}
