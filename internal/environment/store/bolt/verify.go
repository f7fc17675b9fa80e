package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

// bbolt's file format, in the byte order of the machine: pages of one size, each
// beginning with a head; the first two are metas, of which the valid one with the
// higher transaction counts. A meta names the page of the root bucket. Branches and
// leaves are lists of elements, whose keys and values follow the list. A leaf's
// value may be a bucket: the number of its root page or, if that is 0, a leaf
// within the value.
const (
	pageHead      = 16 // id u64, flags u16, count u16, overflow u32
	branchElement = 16 // pos u32, key u32, page u64
	leafElement   = 16 // flags u32, pos u32, key u32, value u32
	bucketHead    = 16 // root u64, sequence u64
	metaBytes     = 64 // magic, version, page size and flags u32; root bucket, freelist, end, transaction, checksum u64

	flagBranch   = 1
	flagLeaf     = 2
	flagMeta     = 4
	flagFreelist = 16
	leafBucket   = 1 // of a leaf's element

	metaMagic   = 0xED0CDAED
	metaVersion = 2
	noFreelist  = math.MaxUint64
	longList    = math.MaxUint16 // as a count: the first element of the list counts the others
	idBytes     = 8              // of a page in the freelist

	minPageBytes = 1 << 10
	maxPageBytes = 1 << 24
	maxRunBytes  = 1 << 30 // of a page with its overflow
	// maxTreeDepth bounds a bucket's tree: with two keys a branch it would hold
	// more than any file.
	maxTreeDepth = 64
)

var order = binary.NativeEndian

// verifyFile reads a whole file and returns what is wrong with it, or "". bbolt
// trusts what it finds, maps it, and walks it where nothing can recover: a page
// that is not what its parent says ends the process. value judges each value that
// is not a bucket.
func verifyFile(file io.ReaderAt, size int64, value func(bucket, key, value []byte) error) string {
	root, err := newestMeta(file, size)
	if err != nil {
		return err.Error()
	}
	w := &walk{file: file, page: int64(root.pageBytes), end: min(root.end, uint64(size)/uint64(root.pageBytes)), value: value}
	w.seen = make([]uint64, w.end/64+1)
	if err := w.walkTree(root.bucket, span{}, nil, 0); err != nil {
		return err.Error()
	}
	if err := w.checkFreelist(root); err != nil {
		return err.Error()
	}
	return ""
}

// checkFreelist judges the list of free pages, if the file has one: a new file has, and one that
// another program of bbolt wrote, such as a compaction. bbolt hands these pages out and writes
// over them, so none may be in use or be named twice. A page that is neither used nor listed is
// lost room only.
func (w *walk) checkFreelist(root meta) error {
	if root.freelist == noFreelist {
		return nil
	}
	page, err := w.readPage(root.freelist)
	if err != nil {
		return err
	}
	if flags := order.Uint16(page[8:]); flags != flagFreelist {
		return fmt.Errorf("page %d has kind %#x, want the list of free pages", root.freelist, flags)
	}
	list, count := page[pageHead:], uint64(order.Uint16(page[10:]))
	if count == longList && len(list) >= idBytes {
		count, list = order.Uint64(list), list[idBytes:]
	}
	if count > uint64(len(list)/idBytes) {
		return fmt.Errorf("page %d lists %d free pages, and has room for %d", root.freelist, count, len(list)/idBytes)
	}
	for at := range count {
		id := order.Uint64(list[at*idBytes:])
		if id < 2 || id >= root.end {
			return fmt.Errorf("page %d is free and does not exist, of %d", id, root.end)
		}
		if id < w.end && w.markSeen(id) {
			return fmt.Errorf("page %d is free, and is used or free already", id)
		}
	}
	return nil
}

// markSeen marks a page as seen, and reports whether it was.
func (w *walk) markSeen(id uint64) (before bool) {
	before = w.seen[id/64]&(1<<(id%64)) != 0
	w.seen[id/64] |= 1 << (id % 64)
	return before
}

type meta struct {
	pageBytes uint32
	bucket    uint64 // root page of the root bucket
	freelist  uint64 // page that lists the free ones; noFreelist: none does
	end       uint64 // no page has a higher number or the same
	tx        uint64
}

// newestMeta returns the meta that bbolt goes by. A meta that is damaged is as
// good as one that was not written: the last commit is lost, as by a crash.
func newestMeta(file io.ReaderAt, size int64) (meta, error) {
	first, ok := readMeta(file, 0)
	var second meta
	var also bool
	if ok {
		second, also = readMeta(file, int64(first.pageBytes))
	} else {
		for bytes := int64(minPageBytes); bytes <= maxPageBytes && bytes < size && !also; bytes *= 2 {
			second, also = readMeta(file, bytes)
			also = also && int64(second.pageBytes) == bytes
		}
	}
	switch {
	case !ok && !also:
		return meta{}, fmt.Errorf("neither of its first two pages says what it is")
	case !ok || also && second.tx > first.tx:
		return second, nil
	}
	return first, nil
}

func readMeta(file io.ReaderAt, at int64) (m meta, ok bool) {
	var page [pageHead + metaBytes]byte
	if _, err := file.ReadAt(page[:], at); err != nil {
		return m, false
	}
	b := page[pageHead:]
	sum := fnv.New64a()
	sum.Write(b[:metaBytes-8])
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[metaBytes-8:]) != sum.Sum64() {
		return m, false
	}
	m = meta{pageBytes: order.Uint32(b[8:]), bucket: order.Uint64(b[16:]), freelist: order.Uint64(b[32:]),
		end: order.Uint64(b[40:]), tx: order.Uint64(b[48:])}
	powerOfTwo := m.pageBytes&(m.pageBytes-1) == 0
	return m, powerOfTwo && m.pageBytes >= minPageBytes && m.pageBytes <= maxPageBytes
}

// walk visits every reachable page once.
type walk struct {
	file  io.ReaderAt
	page  int64
	end   uint64
	seen  []uint64 // a bit a page
	value func(bucket, key, value []byte) error
}

// span is the keys that a page may hold: from low on, below high; nil is unbounded.
type span struct{ low, high []byte }

func (s span) holdsKey(key []byte) bool {
	return bytes.Compare(key, s.low) >= 0 && (s.high == nil || bytes.Compare(key, s.high) < 0)
}

// walkTree visits the page id and all under it; bucket is nil for the root bucket,
// whose values are buckets.
func (w *walk) walkTree(id uint64, keys span, bucket []byte, depth int) error {
	if depth > maxTreeDepth {
		return fmt.Errorf("page %d lies %d deep", id, depth)
	}
	page, err := w.readPage(id)
	if err != nil {
		return err
	}
	switch flags := order.Uint16(page[8:]); flags {
	case flagBranch:
		return w.walkBranch(id, page, keys, bucket, depth)
	case flagLeaf:
		return w.walkLeaf(id, page, keys, bucket, false)
	default:
		return fmt.Errorf("page %d has kind %#x, want a branch or leaf of a tree", id, flags)
	}
}

// readPage reads a page with its overflow, and marks it.
func (w *walk) readPage(id uint64) ([]byte, error) {
	if id < 2 || id >= w.end {
		return nil, fmt.Errorf("page %d does not exist, of %d", id, w.end)
	}
	var head [pageHead]byte
	if _, err := w.file.ReadAt(head[:], int64(id)*w.page); err != nil {
		return nil, fmt.Errorf("page %d cannot be read: %w", id, err)
	}
	more := uint64(order.Uint32(head[12:]))
	if own := order.Uint64(head[:]); own != id || more >= w.end-id || int64(more+1)*w.page > maxRunBytes {
		return nil, fmt.Errorf("page %d calls itself %d, of %d pages, in a file of %d", id, own, more+1, w.end)
	}
	for at := id; at <= id+more; at++ {
		if w.markSeen(at) {
			return nil, fmt.Errorf("page %d is used twice", at)
		}
	}
	page := make([]byte, int64(more+1)*w.page)
	if _, err := w.file.ReadAt(page, int64(id)*w.page); err != nil {
		return nil, fmt.Errorf("page %d cannot be read: %w", id, err)
	}
	return page, nil
}

func (w *walk) walkBranch(id uint64, page []byte, keys span, bucket []byte, depth int) error {
	list, err := pageElements(id, page, branchElement)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("page %d is a branch without a child", id)
	}
	found, cut := make([][]byte, len(list)), piecesOf(id, page, list, branchElement)
	for i, element := range list {
		if found[i], _, err = cut.nextPiece(element, order.Uint32(element), order.Uint32(element[4:]), 0); err != nil {
			return err
		}
	}
	for i, element := range list {
		child := span{low: found[i], high: keys.high}
		if i == 0 {
			child.low = keys.low // bbolt keeps a branch's first key when smaller ones come in
		}
		if i+1 < len(found) {
			child.high = found[i+1]
		}
		if i > 0 && (bytes.Compare(found[i-1], found[i]) >= 0 || !keys.holdsKey(found[i])) {
			return fmt.Errorf("page %d holds its keys in a wrong order", id)
		}
		if err := w.walkTree(order.Uint64(element[8:]), child, bucket, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// walkLeaf judges a page of values; where bucket is nil these are buckets. bbolt keeps
// no empty leaf but within a value, inline, where a page ends with its last value.
func (w *walk) walkLeaf(id uint64, page []byte, keys span, bucket []byte, inline bool) error {
	list, err := pageElements(id, page, leafElement)
	if err != nil {
		return err
	}
	if len(list) == 0 && bucket != nil && !inline {
		return fmt.Errorf("page %d is a leaf without a value", id)
	}
	var before []byte
	cut := piecesOf(id, page, list, leafElement)
	for i, element := range list {
		key, value, err := cut.nextPiece(element, order.Uint32(element[4:]), order.Uint32(element[8:]), order.Uint32(element[12:]))
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(before, key) >= 0 || !keys.holdsKey(key) {
			return fmt.Errorf("page %d holds its keys in a wrong order", id)
		}
		before = key
		switch flags := order.Uint32(element); {
		case flags == leafBucket && bucket == nil:
			err = w.walkBucket(id, key, value)
		case flags == 0 && bucket != nil:
			err = w.value(bucket, key, value)
		default:
			err = fmt.Errorf("page %d holds a value of kind %d", id, flags)
		}
		if err != nil {
			return err
		}
	}
	if inline && cut.at != len(page) {
		return fmt.Errorf("page %d holds a bucket with data after its last value", id)
	}
	return nil
}

// walkBucket visits a bucket, whose head is a value of the page id.
func (w *walk) walkBucket(id uint64, name, head []byte) error {
	if len(head) < bucketHead {
		return fmt.Errorf("page %d holds a bucket of %d bytes", id, len(head))
	}
	if root := order.Uint64(head); root != 0 {
		return w.walkTree(root, span{}, name, 1)
	}
	inline := head[bucketHead:]
	if len(inline) < pageHead || order.Uint16(inline[8:]) != flagLeaf {
		return fmt.Errorf("page %d holds an inline bucket that is not a leaf", id)
	}
	return w.walkLeaf(id, inline, span{}, name, true)
}

// pageElements cuts a page's list of elements.
func pageElements(id uint64, page []byte, bytes int) ([][]byte, error) {
	count := int(order.Uint16(page[10:]))
	if pageHead+count*bytes > len(page) {
		return nil, fmt.Errorf("page %d says that it has %d elements, in %d bytes", id, count, len(page))
	}
	list := make([][]byte, count)
	for i := range list {
		list[i] = page[pageHead+i*bytes:] // to the page's end: positions count from the element
	}
	return list, nil
}

// pieces cuts the keys and values of a page's elements, one after the other. They
// follow the list without a gap: a list that lost elements leaves one.
type pieces struct {
	id   uint64
	page []byte
	at   int // where the next lies
}

func piecesOf(id uint64, page []byte, list [][]byte, bytes int) *pieces {
	return &pieces{id, page, pageHead + len(list)*bytes}
}

// nextPiece cuts the key and the value of an element that places them pos bytes after
// itself.
func (p *pieces) nextPiece(element []byte, pos, keyBytes, valueBytes uint32) (key, value []byte, err error) {
	start := uint64(len(p.page)-len(element)) + uint64(pos)
	keyEnd := start + uint64(keyBytes)
	end := keyEnd + uint64(valueBytes)
	if start != uint64(p.at) || end > uint64(len(p.page)) {
		return nil, nil, fmt.Errorf("page %d has an element that does not start at the end of the previous element", p.id)
	}
	p.at = int(end)
	return p.page[start:keyEnd:keyEnd], p.page[keyEnd:end:end], nil
}
