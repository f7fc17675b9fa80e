package process

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// Limits of the input from a node's outputs.
const (
	// maxLineBytes bounds a line; a longer one is told in parts.
	maxLineBytes = 64 << 10
	// maxWordLines and maxWordBytes bound the kept end of a node's output: an error
	// and its hint, or the head of a stack.
	maxWordLines = 12
	maxWordBytes = 2 << 10
)

// output is what a node writes, in one life.
type output struct {
	log     io.Writer         // the node's log
	stamped *slog.Logger      // the same for lines without a time
	each    func(line string) // called for each line of standard error; may be nil

	mu      sync.Mutex
	words   []string // of standard error, but for log lines: the last ones
	failure string   // the last log line of level ERROR
}

func newOutput(name string, log io.Writer, each func(string)) *output {
	return &output{log: log, stamped: slog.New(slog.NewTextHandler(log, nil)).With("node", name), each: each}
}

// readLines takes lines until the node, and each process that has its outputs, has
// ended.
func (o *output) readLines(from io.Reader, errors bool) {
	lines := bufio.NewReaderSize(from, maxLineBytes)
	for {
		line, _, err := lines.ReadLine() // in parts, if it is too long
		if err != nil {
			return
		}
		o.takeLine(line, errors)
	}
}

// logged is the beginning of a line of the log, which has its own time.
var logged = []byte("time=")

func (o *output) takeLine(line []byte, errors bool) {
	isLog := bytes.HasPrefix(line, logged)
	text := string(line)
	switch {
	case isLog:
		_, _ = o.log.Write(append(bytes.Clone(line), '\n'))
	case len(bytes.TrimSpace(line)) > 0:
		o.stamped.Info(text)
	}
	if !errors {
		return
	}
	o.mu.Lock()
	switch {
	case isLog && strings.Contains(text, " level=ERROR "):
		o.failure = text
	case !isLog:
		o.words = append(o.words, text)
		if over := len(o.words) - maxWordLines; over > 0 {
			o.words = o.words[over:]
		}
	}
	o.mu.Unlock()
	if o.each != nil {
		o.each(text)
	}
}

// stderrTail is what a node said last on standard error, "" where it said nothing.
func (o *output) stderrTail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	words := strings.TrimSpace(strings.Join(o.words, "\n"))
	if words == "" {
		words = o.failure
	}
	if over := len(words) - maxWordBytes; over > 0 {
		words = "…" + strings.ToValidUTF8(words[over:], "")
	}
	return words
}
