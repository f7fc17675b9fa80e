package simplex

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Logged is what the logs of a network's validators know of its chain. Its zero value is
// that of no log.
type Logged struct {
	Final   types.Height // the highest that has a finalization
	view    types.View   // of that
	parents map[types.Hash]bool
}

// Add reads the records of one more log. It fails at a record that cannot be read.
func (l *Logged) Add(records [][]byte) error {
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			return err
		}
		switch r.Kind {
		case bodyKind:
			var block types.Block
			if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &block); err != nil {
				return fmt.Errorf("simplex: record %d of the log: %w", i, err)
			}
			l.followTo(block.Header.Parent)
		case certificateKind:
			var c types.Certificate
			if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &c); err != nil {
				return fmt.Errorf("simplex: record %d of the log: %w", i, err)
			}
			if c.Kind == types.Finalize && c.Height > l.Final {
				l.Final, l.view = c.Height, c.View
			}
		}
	}
	return nil
}

func (l *Logged) followTo(parent types.Hash) {
	if l.parents == nil {
		l.parents = map[types.Hash]bool{}
	}
	l.parents[parent] = true
}

// Join adds what other logs know.
func (l *Logged) Join(other *Logged) {
	if other.Final > l.Final {
		l.Final, l.view = other.Final, other.view
	}
	for parent := range other.parents { // order: a set
		l.followTo(parent)
	}
}

// Lost reports whether validators whose highest tip is this one cannot go on: later blocks were
// final, and no log has those that follow the tip, or so many follow that a machine does not
// execute them from its log.
func (l *Logged) Lost(tip Root) bool {
	h := &tip.Block.Header
	return l.Final > h.Height && (!l.parents[tip.Hash] || l.Final > h.Height+MaxFetchBlocks && l.view > h.View+MaxFetchBlocks)
}
