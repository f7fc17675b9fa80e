package process

import (
	"bytes"
	"strconv"
	"strings"
)

const (
	// maxStderr bounds the last words of a program that messages have, in bytes.
	maxStderr = 512
	// maxFirst bounds the first line, in bytes: where a runtime says why it ends, before its
	// stacks.
	maxFirst = 200
	// maxProgress bounds a line of progress, in bytes: a percent, and words of the length
	// that a JobProgress carries.
	maxProgress = 1100
)

// stderr reads lines of progress out of a program's standard error, and keeps the first line
// and the end of all else.
type stderr struct {
	progress func(percent uint8, words string) // nil: no line is one
	line     []byte                            // the line begun, at most maxProgress bytes
	long     bool                              // the line is too long for progress: its beginning is kept already
	first    []byte                            // the first line other than progress, at most maxFirst bytes; empty lines do not count
	whole    bool                              // the first line has ended
	kept     []byte                            // the end of the output other than progress, at most maxStderr bytes
	cut      bool                              // the beginning of the output is not among kept
}

// Write implements io.Writer.
func (s *stderr) Write(data []byte) (int, error) {
	n := len(data)
	if s.progress == nil {
		s.keepData(data)
		return n, nil
	}
	for len(data) > 0 {
		part, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		if s.long || len(s.line)+len(part) > maxProgress {
			s.keepData(s.line)
			s.keepData(part)
			s.line, s.long = s.line[:0], true
		} else {
			s.line = append(s.line, part...)
		}
		if ended {
			s.endLine()
		}
	}
	return n, nil
}

// endLine judges a line that is whole.
func (s *stderr) endLine() {
	if percent, words, is := parseProgress(string(s.line)); is && !s.long {
		s.progress(percent, words)
	} else {
		s.keepData(s.line)
		s.keepData([]byte{'\n'})
	}
	s.line, s.long = s.line[:0], false
}

// parseProgress reads "progress PERCENT WORDS". PERCENT is a whole number from 0 to 100;
// another line is none of progress.
func parseProgress(line string) (percent uint8, words string, is bool) {
	said, is := strings.CutPrefix(line, "progress ")
	number, words, _ := strings.Cut(said, " ")
	n, err := strconv.ParseUint(number, 10, 8)
	return uint8(n), strings.TrimSpace(words), is && err == nil && n <= 100
}

func (s *stderr) keepData(data []byte) {
	s.keepFirst(data)
	s.cut = s.cut || len(s.kept)+len(data) > maxStderr
	s.kept = append(s.kept, data[max(0, len(data)-maxStderr):]...)
	if len(s.kept) > maxStderr {
		s.kept = append([]byte{}, s.kept[len(s.kept)-maxStderr:]...)
	}
}

// keepFirst takes what belongs to the first line that is not empty.
func (s *stderr) keepFirst(data []byte) {
	if s.whole {
		return
	}
	if len(s.first) == 0 {
		data = bytes.TrimLeft(data, " \r\n\t")
	}
	part, _, ended := bytes.Cut(data, []byte{'\n'})
	s.whole = ended
	s.first = append(s.first, part[:min(len(part), maxFirst-len(s.first))]...)
}

// String is the kept text on one line, with the first line before it where that is lost. It
// is read when the program has ended.
func (s *stderr) String() string {
	s.keepData(s.line)
	s.line = nil
	text := oneLine(s.kept)
	if first := oneLine(s.first); s.cut && s.whole {
		return first + " … " + text
	}
	return text
}

func oneLine(text []byte) string {
	return strings.Join(strings.Fields(string(bytes.ToValidUTF8(text, []byte("?")))), " ")
}
