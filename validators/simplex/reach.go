package simplex

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Reach says how far a log goes, compared with the same validator's store (decision C5).
type Reach uint8

// The reaches.
const (
	Empty  Reach = iota // no record: the log is new, or lost
	Short               // the log ends before the store's tip: its end is lost
	Former              // a former version wrote the log, without records of batches: its end cannot be judged
	Whole               // the log has the store's tip
)

// Lost reports whether a validator with such a log may have forgotten votes. ran says
// that it ran before, by a store above genesis or by its owner's word.
func (r Reach) Lost(ran bool) bool { return r == Short || r == Empty && ran }

// String says what is wrong with the log.
func (r Reach) String() string {
	switch r {
	case Empty:
		return "its log of votes is lost: it holds no record"
	case Short:
		return "its log of votes is lost: it ends before the tip of the store"
	}
	return "its log of votes reaches the tip of the store"
}

// ReachOf compares records, the oldest first, with root, the store's tip. A validator
// logs the finalization of each tip before its store commits it: its own machine's,
// and by CaughtUpRecord a batch's. A log without it, and without a later one, was cut.
// Only records after the tip's finalization can be missing from a whole log, as after
// a crash. It fails at a record that cannot be read.
func ReachOf(records [][]byte, root Root) (Reach, error) {
	if len(records) == 0 {
		return Empty, nil
	}
	reach := Former
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			return Empty, err
		}
		there, err := reachesTip(&r, &root)
		if err != nil {
			return Empty, fmt.Errorf("simplex: record %d of the log: %w", i, err)
		}
		if there {
			return Whole, nil
		}
		if (r.Kind == beginKind || r.Kind == unprovenKind) && !r.Block.IsZero() {
			reach = Short
		}
	}
	return reach, nil
}

// reachesTip reports whether a record proves that the log goes up to a tip.
func reachesTip(r *record, tip *Root) (bool, error) {
	switch {
	case r.Kind == beginKind, r.Kind == unprovenKind:
		return r.Block == tip.Hash, nil
	case r.Kind != certificateKind || r.Height < tip.Block.Header.Height:
		return false, nil
	}
	var c types.Certificate
	err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &c)
	return err == nil && c.Kind == types.Finalize, err
}

// ReplayHeight returns the height up to which a machine on root executes by itself what a log
// holds: that of the highest final block whose ancestors above root are all in it, or root's own. It fails at a
// record that cannot be read.
func ReplayHeight(records [][]byte, root Root) (types.Height, error) {
	parents, final := map[types.Hash]types.Hash{}, map[types.Hash]types.Height{}
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			return 0, err
		}
		if r.Height <= root.Block.Header.Height {
			continue
		}
		switch r.Kind {
		case bodyKind:
			var block types.Block
			if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &block); err != nil {
				return 0, fmt.Errorf("simplex: record %d of the log: %w", i, err)
			}
			parents[r.Block] = block.Header.Parent
		case certificateKind:
			var c types.Certificate
			if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &c); err != nil {
				return 0, fmt.Errorf("simplex: record %d of the log: %w", i, err)
			}
			if c.Kind == types.Finalize {
				final[c.Block] = c.Height
			}
		}
	}
	highest := root.Block.Header.Height
	for hash, height := range final { // order: the highest
		if height > highest && leadsTo(parents, hash, root.Hash) {
			highest = height
		}
	}
	return highest, nil
}

// leadsTo reports whether the ancestors of a block go down to root.
func leadsTo(parents map[types.Hash]types.Hash, hash, root types.Hash) bool {
	for range len(parents) + 1 {
		if hash == root {
			return true
		}
		parent, held := parents[hash]
		if !held {
			return false
		}
		hash = parent
	}
	return false
}

// CaughtUpRecord is the record of a finalization that catch-up brought: that of a batch's
// last block, or of a later one. It is in the log before the store commits that block. This validator has no votes of those heights.
func CaughtUpRecord(finalization *types.Certificate) []byte { return certificateRecord(finalization) }

// Adopt returns the records of a log that a former version wrote, as this version
// writes one. The first names root, and the others are those that a machine on root
// needs. So a later cut shows. It fails at a record that cannot be read.
func Adopt(records [][]byte, root Root) ([][]byte, error) {
	kept, err := Compact(records, root)
	if err != nil {
		return nil, err
	}
	var until types.Millis
	adopted := make([][]byte, 1, 1+len(kept))
	for i, data := range kept {
		r, err := decodeEntry[unread](i, data)
		if err != nil {
			return nil, err
		}
		if r.Kind == beginKind {
			until = types.Millis(r.View)
			continue
		}
		adopted = append(adopted, data)
	}
	adopted[0] = beginRecord(until, root.Hash)
	return adopted, nil
}
