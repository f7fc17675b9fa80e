package log

import (
	"errors"
	"fmt"
	"os"

	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Append writes records by one write, and syncs it where Disk is promised. An
// error other than ErrTooLong poisons the log.
func (l *Log) Append(records ...[]byte) error {
	if len(records) == 0 {
		return nil
	}
	total := 0
	for _, r := range records {
		if len(r) > MaxRecordBytes {
			return fmt.Errorf("%w: a record of %d bytes, at most %d", ErrTooLong, len(r), MaxRecordBytes)
		}
		total += frameBytes + len(r)
	}
	if total > MaxAppendBytes {
		return fmt.Errorf("%w: %d bytes appended, at most %d", ErrTooLong, total, MaxAppendBytes)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ensureWritable(); err != nil {
		return err
	}
	return l.appendRecords(records, total)
}

// ensureWritable first reads the log to its end if that was not done: records appended
// after a torn tail would be lost.
func (l *Log) ensureWritable() error {
	if l.file == nil {
		return ErrClosed
	}
	if l.failed != nil {
		return l.poisonError()
	}
	if l.replayed {
		return nil
	}
	return l.replayRecords(func([]byte) error { return nil })
}

func (l *Log) appendRecords(records [][]byte, total int) error {
	buf := l.buf[:0]
	for i, r := range records {
		buf = appendRecord(buf, r, i == 0)
	}
	if cap(buf) <= keepBytes {
		l.buf = buf
	}
	if _, err := l.file.WriteAt(buf, l.size); err != nil {
		return l.poisonWith(fmt.Errorf("log: write %d bytes to %s: %w", total, l.path, err))
	}
	if err := l.syncFile(l.file, l.path, false); err != nil {
		return l.poisonWith(err)
	}
	l.size += int64(total)
	return nil
}

// keepBytes bounds the buffer that is kept between appends: votes fit.
const keepBytes = 64 << 10

func (l *Log) poisonWith(err error) error {
	l.failed = err
	return err
}

func (l *Log) poisonError() error {
	return fmt.Errorf("%w, and what it left is unknown; restart the node: %w", ErrPoisoned, l.failed)
}

// Rewrite replaces the whole log by records: a new file takes the old one's
// name. If it fails before that, the old content stays and the log remains usable.
func (l *Log) Rewrite(records [][]byte) error {
	for _, r := range records {
		if len(r) > MaxRecordBytes {
			return fmt.Errorf("%w: a record of %d bytes, at most %d", ErrTooLong, len(r), MaxRecordBytes)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return ErrClosed
	}
	if l.failed != nil {
		return l.poisonError()
	}
	f, size, err := l.writeNew(records)
	if err != nil {
		return err
	}
	if err := store.Rename(l.rewritePath(), l.path); err != nil {
		return errors.Join(fmt.Errorf("log: rewrite %s: %w", l.path, err), f.Close())
	}
	old := l.file
	l.file, l.size, l.replayed = f, size, true
	if err := old.Close(); err != nil {
		return l.poisonWith(fmt.Errorf("log: close what %s was: %w", l.path, err))
	}
	if err := l.syncFile(l.file, l.path, true); err != nil {
		return l.poisonWith(err)
	}
	return nil
}

// writeNew writes records to a file next to the log, which is locked before any
// process can find it under the log's name.
func (l *Log) writeNew(records [][]byte) (f *os.File, size int64, err error) {
	f, err = os.OpenFile(l.rewritePath(), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("log: rewrite %s: %w", l.path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("log: rewrite %s: %w", l.path, err), f.Close(), os.Remove(f.Name()))
		}
	}()
	if err = lockFile(f, l.path); err != nil {
		return nil, 0, err
	}
	buf := fileHeader()
	for _, r := range records {
		buf = appendRecord(buf, r, true) // each is written whole before the file is the log
		if len(buf) < readBytes {
			continue
		}
		if _, err = f.Write(buf); err != nil {
			return nil, 0, err
		}
		size, buf = size+int64(len(buf)), buf[:0]
	}
	if _, err = f.Write(buf); err != nil {
		return nil, 0, err
	}
	return f, size + int64(len(buf)), l.syncFile(f, f.Name(), false)
}
