package writeback

import (
	"bytes"
	"slices"

	"github.com/google/btree"
)

// cursorRows is how many rows a cursor reads at once: a tree has only callbacks, and most scans want few rows.
const cursorRows = 32

// cursor goes over the rows of a tree in [from, to), up or backwards. The tree must not change.
type cursor struct {
	tree      *btree.BTreeG[row]
	from      []byte // the first key that is in
	to        []byte // the first key that is not, unless open
	open      bool   // to the end
	backwards bool
	rows      []row // that were read and not passed
}

func newCursor(tree *btree.BTreeG[row], from, to []byte, backwards bool) *cursor {
	c := &cursor{tree: tree, from: from, to: to, open: to == nil, backwards: backwards}
	c.readRows()
	return c
}

// peekRow returns the next row, or nil at the end.
func (c *cursor) peekRow() *row {
	if len(c.rows) == 0 {
		return nil
	}
	return &c.rows[0]
}

// skipRow goes to the row after the next.
func (c *cursor) skipRow() {
	passed := c.rows[0].key
	if c.rows = c.rows[1:]; len(c.rows) > 0 {
		return
	}
	if c.backwards {
		c.to, c.open = passed, false
	} else {
		c.from = append(bytes.Clone(passed), 0) // the least key above it
	}
	c.readRows()
}

// readRows reads the next rows of what is left of the range.
func (c *cursor) readRows() {
	c.rows = nil
	take := func(r row) bool {
		if !c.open && bytes.Compare(r.key, c.to) >= 0 { // backwards the first one alone
			return c.backwards
		}
		if bytes.Compare(r.key, c.from) < 0 {
			return false
		}
		c.rows = append(c.rows, r)
		return len(c.rows) < cursorRows
	}
	switch {
	case !c.backwards:
		c.tree.AscendGreaterOrEqual(row{key: c.from}, take)
	case c.open:
		c.tree.Descend(take)
	default:
		c.tree.DescendLessOrEqual(row{key: c.to}, take)
	}
	c.rows = slices.Clip(c.rows)
}
