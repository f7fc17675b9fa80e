package mem

import "slices"

// pageEntries bounds a page; a full one is split in halves. A write moves at
// most a page and, once a split, the list of pages.
const pageEntries = 256

// table is a sorted map: a sorted list of sorted pages, none empty. It is quick
// enough for millions of keys, and simple.
type table struct {
	pages [][]entry
}

type entry struct {
	key   string
	value []byte
}

// place is the place of an entry, or the place for a new one.
type place struct{ page, index int }

func (p place) isBefore(q place) bool {
	return p.page < q.page || p.page == q.page && p.index < q.index
}

// seekKey returns the place of the first key at or after key, or the end.
func (t *table) seekKey(key string) place {
	page, _ := slices.BinarySearchFunc(t.pages, key, func(page []entry, key string) int {
		if page[len(page)-1].key < key {
			return -1
		}
		return 1
	})
	if page == len(t.pages) {
		return t.endPlace()
	}
	index, _ := findInPage(t.pages[page], key)
	return place{page, index}
}

func findInPage(page []entry, key string) (int, bool) {
	return slices.BinarySearchFunc(page, key, func(e entry, key string) int {
		switch {
		case e.key < key:
			return -1
		case e.key > key:
			return 1
		}
		return 0
	})
}

func (t *table) endPlace() place { return place{len(t.pages), 0} }

func (t *table) entryAt(p place) entry { return t.pages[p.page][p.index] }

// placeAfter returns the place that follows an entry's place.
func (t *table) placeAfter(p place) place {
	if p.index+1 < len(t.pages[p.page]) {
		return place{p.page, p.index + 1}
	}
	return place{p.page + 1, 0}
}

// placeBefore returns the place of the entry in front of p.
func (t *table) placeBefore(p place) (place, bool) {
	if p.index > 0 {
		return place{p.page, p.index - 1}, true
	}
	if p.page == 0 {
		return place{}, false
	}
	return place{p.page - 1, len(t.pages[p.page-1]) - 1}, true
}

func (t *table) getValue(key string) ([]byte, bool) {
	p := t.seekKey(key)
	if p == t.endPlace() || t.entryAt(p).key != key {
		return nil, false
	}
	return t.entryAt(p).value, true
}

func (t *table) putValue(key string, value []byte) {
	p := t.seekKey(key)
	if p == t.endPlace() {
		t.appendEntry(entry{key, value})
		return
	}
	page := t.pages[p.page]
	if page[p.index].key == key {
		page[p.index].value = value
		return
	}
	page = slices.Insert(page, p.index, entry{key, value})
	t.pages[p.page] = page
	if len(page) < pageEntries {
		return
	}
	half := len(page) / 2
	right := make([]entry, len(page)-half, pageEntries)
	copy(right, page[half:])
	clear(page[half:])
	t.pages[p.page] = page[:half]
	t.pages = slices.Insert(t.pages, p.page+1, right)
}

// appendEntry adds an entry after all others. Pages filled in order stay full.
func (t *table) appendEntry(e entry) {
	last := len(t.pages) - 1
	if last >= 0 && len(t.pages[last]) < pageEntries-1 {
		t.pages[last] = append(t.pages[last], e)
		return
	}
	t.pages = append(t.pages, []entry{e})
}

func (t *table) removeKey(key string) {
	p := t.seekKey(key)
	if p == t.endPlace() || t.entryAt(p).key != key {
		return
	}
	t.pages[p.page] = slices.Delete(t.pages[p.page], p.index, p.index+1)
	if len(t.pages[p.page]) == 0 {
		t.pages = slices.Delete(t.pages, p.page, p.page+1)
	}
}
