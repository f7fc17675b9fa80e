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

func (p place) less(q place) bool {
	return p.page < q.page || p.page == q.page && p.index < q.index
}

// seek returns the place of the first key at or after key, or the end.
func (t *table) seek(key string) place {
	page, _ := slices.BinarySearchFunc(t.pages, key, func(page []entry, key string) int {
		if page[len(page)-1].key < key {
			return -1
		}
		return 1
	})
	if page == len(t.pages) {
		return t.end()
	}
	index, _ := find(t.pages[page], key)
	return place{page, index}
}

func find(page []entry, key string) (int, bool) {
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

func (t *table) end() place { return place{len(t.pages), 0} }

func (t *table) at(p place) entry { return t.pages[p.page][p.index] }

// after returns the place that follows an entry's place.
func (t *table) after(p place) place {
	if p.index+1 < len(t.pages[p.page]) {
		return place{p.page, p.index + 1}
	}
	return place{p.page + 1, 0}
}

// before returns the place of the entry in front of p.
func (t *table) before(p place) (place, bool) {
	if p.index > 0 {
		return place{p.page, p.index - 1}, true
	}
	if p.page == 0 {
		return place{}, false
	}
	return place{p.page - 1, len(t.pages[p.page-1]) - 1}, true
}

func (t *table) get(key string) ([]byte, bool) {
	p := t.seek(key)
	if p == t.end() || t.at(p).key != key {
		return nil, false
	}
	return t.at(p).value, true
}

func (t *table) put(key string, value []byte) {
	p := t.seek(key)
	if p == t.end() {
		t.extend(entry{key, value})
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

// extend adds an entry after all others. Pages filled in order stay full.
func (t *table) extend(e entry) {
	last := len(t.pages) - 1
	if last >= 0 && len(t.pages[last]) < pageEntries-1 {
		t.pages[last] = append(t.pages[last], e)
		return
	}
	t.pages = append(t.pages, []entry{e})
}

func (t *table) remove(key string) {
	p := t.seek(key)
	if p == t.end() || t.at(p).key != key {
		return
	}
	t.pages[p.page] = slices.Delete(t.pages[p.page], p.index, p.index+1)
	if len(t.pages[p.page]) == 0 {
		t.pages = slices.Delete(t.pages, p.page, p.page+1)
	}
}
