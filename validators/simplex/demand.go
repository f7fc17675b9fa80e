package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// demand is why blocks are made (decision C7).
type demand struct {
	hasWork bool         // the application has something to put into a block
	paused  bool         // no blocks are made, by Hold
	goal    types.Height // blocks are asked for up to it
	leap    types.Height // up to it they may skip heights
}
