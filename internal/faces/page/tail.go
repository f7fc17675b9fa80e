package page

const (
	// maxRows bounds the blocks and views of a beat.
	maxRows = 64
	// recent is the number of samples whose rows a beat repeats, at least half a second. A
	// reader that misses less needs no further request. A beat costs more with more rows.
	recent = 5
)

// tail is where a beat's rows of one kind begin: half a second ago or more.
type tail struct {
	again uint64         // how many rows are told again, since they may have changed
	heads [recent]uint64 // the latest numbers, oldest first
	head  uint64
}

// firstRow is the first row to ask for: those of the last samples, at most maxRows, at least
// the latest.
func (t *tail) firstRow() uint64 {
	begin := t.heads[0] + 1
	if begin > t.head {
		begin = t.head
	}
	begin -= min(t.again, begin)
	if t.head >= maxRows {
		begin = max(begin, t.head-maxRows+1)
	}
	return max(begin, 1)
}

// beginAt notes the latest number, and has the next rows begin maxRows before it.
func (t *tail) beginAt(head uint64) (fell bool) {
	fell = t.noteLatest(head)
	for i := range t.heads {
		t.heads[i] = head - min(head, maxRows)
	}
	return fell
}

// noteLatest keeps the latest number, and reports whether it fell: what it counts began again.
func (t *tail) noteLatest(head uint64) (fell bool) {
	if fell = head < t.head; fell {
		t.heads = [recent]uint64{}
	}
	t.head = head
	copy(t.heads[:], t.heads[1:])
	t.heads[recent-1] = head
	return fell
}
