package log

import (
	"errors"
	"fmt"
	"io"
)

// readBytes is how much of the file is read at a time, at least; a record that
// is longer is read whole.
const readBytes = 1 << 20

// Replay calls each with every record, oldest first; a record is each's to keep.
// A torn tail is cut off, and Cut returns its length. The error is each's own, or
// ErrDamaged with the place, after the records before it were handed out.
func (l *Log) Replay(each func(record []byte) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return ErrClosed
	}
	if l.failed != nil {
		return l.poisonError()
	}
	return l.replayRecords(each)
}

func (l *Log) replayRecords(each func(record []byte) error) error {
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("log: read %s: %w", l.path, err)
	}
	r := reader{file: l.file, at: int64(headerBytes), piece: int(min(info.Size(), readBytes))}
	for {
		record, err := r.nextRecord()
		if err == io.EOF {
			break
		}
		if err == errNoRecord {
			if err := l.cutTail(r.at); err != nil {
				return err
			}
			break
		}
		if err != nil {
			return fmt.Errorf("log: read %s at %d: %w", l.path, r.at, err)
		}
		if err := each(append([]byte{}, record...)); err != nil {
			return err
		}
	}
	l.size, l.replayed = r.at, true
	return nil
}

// cutTail cuts off what begins at offset, if a crash can have left it.
func (l *Log) cutTail(offset int64) error {
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("log: read %s: %w", l.path, err)
	}
	rest := info.Size() - offset
	tail := make([]byte, min(rest, MaxAppendBytes+1))
	if _, err := l.file.ReadAt(tail, offset); err != nil && err != io.EOF {
		return fmt.Errorf("log: read %s at %d: %w", l.path, offset, err)
	}
	if !isTornTail(tail) {
		return fmt.Errorf("%w: %s at byte %d, with %d bytes after it; restore this validator's files from a backup, or start it empty under "+
			"a new key",
			ErrDamaged, l.path, offset, rest)
	}
	if err := l.file.Truncate(offset); err != nil {
		return l.poisonWith(fmt.Errorf("log: cut the torn tail off %s: %w", l.path, err))
	}
	if err := l.syncFile(l.file, l.path, false); err != nil {
		return l.poisonWith(err)
	}
	l.cut += rest
	return nil
}

// errNoRecord reports that the current bytes are not a record.
var errNoRecord = errors.New("log: no record")

// reader reads records from a file, a buffer at a time.
type reader struct {
	file  io.ReaderAt
	piece int    // bytes read at once, if no record is longer
	at    int64  // where the next record begins
	buf   []byte // read and not used yet, from at on
	end   bool   // buf reaches the end of the file
}

// nextRecord returns the next record, valid until the next call; io.EOF at the end.
func (r *reader) nextRecord() ([]byte, error) {
	if err := r.fillBuffer(frameBytes); err != nil {
		return nil, err
	}
	if len(r.buf) == 0 {
		return nil, io.EOF
	}
	if len(r.buf) < frameBytes {
		return nil, errNoRecord
	}
	size, _ := sizeOf(r.buf)
	if size > MaxRecordBytes {
		return nil, errNoRecord
	}
	if err := r.fillBuffer(frameBytes + size); err != nil {
		return nil, err
	}
	record, _, ok := parseRecord(r.buf)
	if !ok {
		return nil, errNoRecord
	}
	r.at += int64(frameBytes + size)
	r.buf = r.buf[frameBytes+size:]
	return record, nil
}

// fillBuffer reads until n bytes are buffered, or the file ends.
func (r *reader) fillBuffer(n int) error {
	if len(r.buf) >= n || r.end {
		return nil
	}
	buf := make([]byte, max(n, r.piece))
	have := copy(buf, r.buf)
	got, err := r.file.ReadAt(buf[have:], r.at+int64(have))
	if err != nil && err != io.EOF {
		return err
	}
	r.buf, r.end = buf[:have+got], err == io.EOF
	return nil
}
