package mem

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Log keeps records in a list. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	records [][]byte
	size    int64
	closed  bool
}

var _ env.Log = (*Log)(nil)

// NewLog returns an empty log.
func NewLog() *Log { return &Log{} }

// Replay calls each with a copy of every record, oldest first; the error is
// each's own.
func (l *Log) Replay(each func(record []byte) error) error {
	l.mu.Lock()
	records, closed := l.records, l.closed // appended to, never changed
	l.mu.Unlock()
	if closed {
		return ErrClosed
	}
	for _, r := range records {
		if err := each(append([]byte{}, r...)); err != nil {
			return err
		}
	}
	return nil
}

// Append keeps copies of records.
func (l *Log) Append(records ...[]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.addRecords(records)
	return nil
}

func (l *Log) addRecords(records [][]byte) {
	for _, r := range records {
		l.records = append(l.records, append([]byte{}, r...))
		l.size += int64(len(r))
	}
}

// Rewrite replaces all records.
func (l *Log) Rewrite(records [][]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.records, l.size = nil, 0
	l.addRecords(records)
	return nil
}

// Size is the bytes of all records.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Close lets the records go.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.closed = nil, true
	return nil
}
