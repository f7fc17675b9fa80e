package devnettest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// requestNotes enters the test's actions on the devnet into the timeline.
type requestNotes struct {
	world
	timeline *scenario.Timeline
}

// maxNoted bounds a request that is told; maxWord a value in it.
const maxNoted, maxWord = 64 << 10, 40

// ServeHTTP implements http.Handler.
func (n requestNotes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if verb, cheat := strings.CutPrefix(r.URL.Path, "/devnet/"); cheat && r.Method == http.MethodPost {
		head, err := io.ReadAll(io.LimitReader(r.Body, maxNoted))
		if err == nil {
			n.timeline.Do(n.timeNow(), requestWords(verb, head))
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), r.Body), r.Body}
	}
	n.world.ServeHTTP(w, r)
}

// requestWords is a request in words: what it is, and its short fields by name.
func requestWords(verb string, body []byte) string {
	text := "the test: " + strings.ReplaceAll(verb, "/", " ")
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(body, &fields) != nil {
		return text
	}
	var words []string
	for name, value := range fields {
		if s := string(value); len(s) <= maxWord && s != `""` && s != `"0"` && s != `"0x"` {
			words = append(words, fmt.Sprintf("%s=%s", name, strings.Trim(s, `"`)))
		}
	}
	slices.Sort(words)
	return strings.Join(append([]string{text}, words...), " ")
}

// log keeps the last lines that are written to it.
type log struct {
	mu   sync.Mutex
	kept []string
}

// maxLines and maxLine bound the kept part of a log.
const maxLines, maxLine = 50, 500

// Write takes one line, as a handler of slog writes it.
func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSuffix(string(line), "\n")
	if len(text) > maxLine {
		text = text[:maxLine] + "…"
	}
	if len(l.kept) == maxLines {
		l.kept = append(l.kept[:0], l.kept[1:]...)
	}
	l.kept = append(l.kept, text)
	return len(line), nil
}

func (l *log) logLines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.kept)
}
