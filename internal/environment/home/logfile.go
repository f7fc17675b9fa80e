package home

import (
	"io"
	"os"
	"sync"
)

// maxLogBytes bounds the log of a node; older lines are kept, one file more, under
// NODE-old.
const maxLogBytes = 16 << 20

// oldSuffix follows a node's name in the name of its older log.
const oldSuffix = "-old"

// LogFile is the log of a node; a full file is started again. Lines logged before its
// folder exists, or when the disk is full, are lost: a log is not worth a stop. Its
// zero value keeps nothing.
type LogFile struct {
	mu        sync.Mutex
	path, old string // "": nothing is kept
	file      *os.File
	size      int64
	closed    bool
}

// NewLogFile is the log of a node in a home, or in any folder that has a folder of
// logs.
func NewLogFile(dir, node string) *LogFile {
	return &LogFile{path: NodeLog(dir, node), old: NodeLog(dir, node+oldSuffix)}
}

// Write implements io.Writer. It never fails.
func (f *LogFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" || f.closed {
		return len(line), nil
	}
	if f.file != nil && f.size+int64(len(line)) > maxLogBytes {
		_ = f.file.Close()
		_ = os.Rename(f.path, f.old)
		f.file = nil
	}
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
		if err != nil {
			return len(line), nil
		}
		f.file, f.size = file, 0
		if info, err := file.Stat(); err == nil {
			f.size = info.Size()
		}
	}
	n, _ := f.file.Write(line)
	f.size += int64(n)
	return len(line), nil
}

// Close ends the log.
func (f *LogFile) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file != nil {
		_ = f.file.Close()
	}
}

// OpenLog reads what a node has logged so far, the older first. A node that has logged
// nothing yet has an empty log.
func OpenLog(dir, node string) (io.ReadCloser, error) {
	r := &logReader{}
	var parts []io.Reader
	for _, path := range []string{NodeLog(dir, node+oldSuffix), NodeLog(dir, node)} {
		file, err := os.Open(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			_ = r.Close()
			return nil, err
		}
		r.files, parts = append(r.files, file), append(parts, file)
	}
	r.Reader = io.MultiReader(parts...)
	return r, nil
}

// logReader reads a log and the older one.
type logReader struct {
	io.Reader
	files []*os.File
}

func (r *logReader) Close() (err error) {
	for _, file := range r.files {
		if end := file.Close(); err == nil {
			err = end
		}
	}
	return err
}
