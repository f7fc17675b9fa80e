// Package cassette records what was answered to requests over HTTP, and replays it
// without a network: a job's result is the same on every runner and every day.
//
// # The file
//
// JSON lines, the first {"cassette":1}, each further one an exchange:
//
//	{"request":{"method":…,"url":…,"headers":[[name,value]…],"body":…},"response":{"status":…,"body":…}}
//
// Bodies are base64. Lines are sorted by the bytes of their requests, so that a
// file is the same whatever order its requests came in. A request is what a job
// asked for: what the runner adds, its keys for a start, is not in it, and nothing
// of an answer is but what a result can be made of.
package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Limits of a file: what a person can look through, and hold in memory.
const (
	MaxExchanges = 4096
	MaxFile      = 64 << 20 // bytes
)

// Mode is what a cassette is for.
type Mode string

// The modes.
const (
	Record Mode = "record" // ask, and store the answer, replacing an earlier one
	Replay Mode = "replay" // never ask
)

// Request is what was asked.
type Request struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers [][2]string `json:"headers"`
	Body    []byte      `json:"body"`
}

// Response is what was answered.
type Response struct {
	Status int    `json:"status"`
	Body   []byte `json:"body"`
}

type exchange struct {
	Request  Request  `json:"request"`
	Response Response `json:"response"`
}

// Cassette holds exchanges and keeps them in a file. It is safe for concurrent use.
type Cassette struct {
	path      string
	mode      Mode
	mu        sync.Mutex
	exchanges []exchange // by the bytes of their requests
}

// ModeError says that a cassette was opened in a mode that there is not.
type ModeError struct{ Mode Mode }

func (e *ModeError) Error() string {
	if e.Mode == "" {
		return fmt.Sprintf("a cassette needs a mode: %q or %q", Record, Replay)
	}
	return fmt.Sprintf("there is no mode %.20q: want %q or %q", e.Mode, Record, Replay)
}

// Open reads a file, which may be missing for Record. Invalid content is refused
// with its line.
func Open(path string, mode Mode) (*Cassette, error) {
	if mode != Record && mode != Replay {
		return nil, &ModeError{mode}
	}
	c := &Cassette{path: path, mode: mode}
	if info, err := os.Stat(path); err == nil && info.Size() > MaxFile {
		return nil, fmt.Errorf("the cassette %s has %d bytes, at most %d", path, info.Size(), MaxFile)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && mode == Record {
		folder := filepath.Dir(path)
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("there is no folder %s for the cassette: make it", folder)
		}
		return c, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the cassette: %w: record it first, with mode = %q", err, Record)
	}
	if err != nil {
		return nil, fmt.Errorf("the cassette: %w", err)
	}
	if err := c.parseText(text); err != nil {
		return nil, fmt.Errorf("the cassette %s, %w", path, err)
	}
	return c, nil
}

const heading = `{"cassette":1}`

func (c *Cassette) parseText(text []byte) error {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if string(lines[0]) != heading {
		return fmt.Errorf("line 1: it is not %s", heading)
	}
	if len(lines) > MaxExchanges+1 {
		return fmt.Errorf("line %d: more than %d exchanges", MaxExchanges+2, MaxExchanges)
	}
	for i, line := range lines[1:] {
		var e exchange
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil || d.More() {
			return fmt.Errorf("line %d: invalid exchange: %v", i+2, err)
		}
		if at, twice := c.findExchange(e.Request); twice || at != len(c.exchanges) {
			return fmt.Errorf("line %d: lines must be sorted by request, without duplicates", i+2)
		}
		c.exchanges = append(c.exchanges, e)
	}
	return nil
}

func (r Request) canonicalBytes() []byte {
	if r.Headers == nil {
		r.Headers = [][2]string{}
	}
	if r.Body == nil {
		r.Body = []byte{}
	}
	return mustMarshal(r)
}

// mustMarshal returns the JSON of a value that always has one.
func mustMarshal(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("cassette: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func (c *Cassette) findExchange(r Request) (int, bool) {
	key := r.canonicalBytes()
	return slices.BinarySearchFunc(c.exchanges, key, func(e exchange, key []byte) int {
		return bytes.Compare(e.Request.canonicalBytes(),
			key)
	})
}

// MissingError says that a cassette that is replayed lacks a request.
type MissingError struct {
	Path    string
	Request Request
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the cassette %s has no %.20s %.200s with its %s and %s of body: record it",
		e.Path, e.Request.Method, e.Request.URL, plural.Of(len(e.Request.Headers), "header"), plural.Of(len(e.Request.Body), "byte"))
}

// Do answers a request from the cassette, or, to Record, by asking and keeping the
// answer. A nil cassette only asks.
func (c *Cassette) Do(r Request, ask func() (Response, error)) (Response, error) {
	if c == nil {
		return ask()
	}
	if c.mode == Replay {
		if at, there := c.findExchange(r); there {
			return c.exchanges[at].Response, nil
		}
		return Response{}, &MissingError{c.path, r}
	}
	answer, err := ask()
	if err != nil {
		return Response{}, err
	}
	return answer, c.keepExchange(exchange{r, answer})
}

// keepExchange writes the whole file again, so that it is complete at any moment.
func (c *Cassette) keepExchange(e exchange) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := slices.Clone(c.exchanges)
	at, there := c.findExchange(e.Request)
	if there {
		kept[at] = e
	} else {
		kept = slices.Insert(kept, at, e)
	}
	text := []byte(heading + "\n")
	for _, each := range kept {
		text = append(append(text, `{"request":`...), each.Request.canonicalBytes()...)
		text = append(append(append(text, `,"response":`...), mustMarshal(each.Response)...), "}\n"...)
	}
	if len(kept) > MaxExchanges || len(text) > MaxFile {
		return fmt.Errorf("the cassette %s is full (%d exchanges, %d bytes at most): take another file", c.path, MaxExchanges, MaxFile)
	}
	if err := replaceFile(c.path, text); err != nil {
		return fmt.Errorf("the cassette: %w", err)
	}
	c.exchanges = kept
	return nil
}

// replaceFile replaces a file whole. Other processes may replace the same one.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".cassette-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return store.TakeName(f.Name(), path)
}
