package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// hand is a clock that a test turns.
type hand struct{ ticks chan time.Time }

func (h hand) clock() (<-chan time.Time, func()) { return h.ticks, func() {} }

// turned is a beat that a test makes by hand: each sample is another state, and counted.
func turned(t *testing.T) (b *beats, tick func(), samples *atomic.Int64) {
	t.Helper()
	h, at := hand{make(chan time.Time)}, time.Now()
	samples = new(atomic.Int64)
	b = newBeats(func(bool) []byte { return fmt.Appendf(nil, `{"n":%d}`, samples.Add(1)) }, h.clock)
	return b, func() {
		at = at.Add(time.Hour) // however long the sample before took
		h.ticks <- at
	}, samples
}

// await returns a beat with a number above after.
func await(t *testing.T, b *beats, after uint64) *beat {
	t.Helper()
	next := b.nextBeat(t.Context(), after)
	if next == nil {
		t.Fatal("no beat comes")
	}
	return next
}

func TestAHundredReadersEncodeOnce(t *testing.T) {
	b, tick, samples := turned(t)
	const readers, rounds = 100, 5
	var all, ready sync.WaitGroup
	got := make([][]*beat, readers)
	leaves := make([]func(), readers)
	numbers := make([]uint64, readers)
	for i := range readers {
		after, leave, ok := b.joinReaders()
		if !ok {
			t.Fatalf("reader %d is refused", i)
		}
		numbers[i], leaves[i] = after, leave
	}
	for round := range rounds {
		if round > 0 {
			tick()
		}
		ready.Add(readers)
		for i := range readers {
			all.Go(func() {
				defer ready.Done()
				next := b.nextBeat(t.Context(), numbers[i])
				numbers[i], got[i] = next.number, append(got[i], next)
			})
		}
		ready.Wait()
	}
	all.Wait()
	if n := samples.Load(); n != rounds {
		t.Errorf("%d beats were sampled %d times", rounds, n)
	}
	for i := range got {
		for round, one := range got[i] {
			if &one.data[0] != &got[0][round].data[0] {
				t.Fatalf("reader %d has a separate copy in round %d", i, round)
			}
		}
	}
	for _, leave := range leaves {
		leave()
	}
}

func TestASlowReaderSkipsToTheNewestBeat(t *testing.T) {
	b, tick, _ := turned(t)
	after, leave, _ := b.joinReaders()
	defer leave()
	first := await(t, b, after)
	last := first
	for range 7 { // the slow one takes none of these
		tick()
		last = await(t, b, last.number)
	}
	if next := await(t, b, first.number); next != last {
		t.Fatalf("it is sent beat %d, and the newest is %d", next.number, last.number)
	}
	if !strings.Contains(string(last.data), `"n":8}`) {
		t.Fatalf("the newest state is not in %s", last.data)
	}
}

func TestNobodyIsAskedWhileNobodyReads(t *testing.T) {
	b, _, samples := turned(t)
	if samples.Load() != 0 {
		t.Fatal("it was asked before the first reader")
	}
	after, leave, _ := b.joinReaders()
	await(t, b, after)
	leave()
	// The goroutine of the beats has ended: it takes no tick.
	again, leave, _ := b.joinReaders()
	defer leave()
	if next := await(t, b, again); next.number != again+1 || samples.Load() != 2 {
		t.Fatalf("a new reader gets beat %d with after %d, of %d samples", next.number, again, samples.Load())
	}
}

// A tab that loads again leaves while its beat is sampled, and joins at once.
func TestOneQuestionIsAskedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hand{make(chan time.Time)}
		var under, firsts atomic.Int64
		answer := make(chan struct{})
		b := newBeats(func(first bool) []byte {
			under.Add(1)
			defer under.Add(-1)
			if first {
				firsts.Add(1)
			}
			<-answer
			return []byte(`{"n":0}`)
		}, h.clock)
		_, leave, _ := b.joinReaders()
		synctest.Wait()
		leave()
		_, leave, _ = b.joinReaders()
		synctest.Wait()
		if n := under.Load(); n != 1 {
			t.Errorf("%d samples are taken at a time", n)
		}
		close(answer)
		synctest.Wait()
		if n := firsts.Load(); n != 2 {
			t.Errorf("%d samples know that they are the first, want 2", n)
		}
		leave()
	})
}

func TestTheStateNowIsThatOfTheBeat(t *testing.T) {
	p := &Page{}
	p.beats, _, _ = turned(t)
	w := httptest.NewRecorder()
	p.serveNow(w, httptest.NewRequest(http.MethodGet, NowPath, nil))
	if text := w.Body.String(); !regexp.MustCompile(`^{"t":\d+,"n":1}$`).MatchString(text) || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("the state is %q with %v", text, w.Header())
	}
	if p.beats.readers != 0 {
		t.Fatalf("%d readers are left", p.beats.readers)
	}
}

// A network that stops has no state to send: an empty answer of 200 left the page at "connecting".
func TestANetworkThatStopsHasNoStateNow(t *testing.T) {
	p := &Page{beats: newBeats(func(bool) []byte { return nil }, hand{make(chan time.Time)}.clock)}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	w := httptest.NewRecorder()
	p.serveNow(w, httptest.NewRequest(http.MethodGet, NowPath, nil).WithContext(ctx))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"closing"`) {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

func TestAStateThatStaysIsToldAgainOnceASecond(t *testing.T) {
	h := hand{make(chan time.Time)}
	var samples atomic.Int64
	b := newBeats(func(bool) []byte { samples.Add(1); return []byte(`{"n":0}`) }, h.clock)
	after, leave, _ := b.joinReaders()
	defer leave()
	first, at := await(t, b, after), time.Now()
	for range quiet {
		at = at.Add(time.Hour)
		h.ticks <- at
	}
	if next := await(t, b, first.number); next.number != first.number+1 {
		t.Fatalf("%d ticks made %d beats", quiet, next.number-first.number)
	}
}

func TestReadersBeyondTheLimitAreRefusedInWords(t *testing.T) {
	p := &Page{}
	b, _, _ := turned(t)
	p.beats = b
	for range MaxReaders {
		_, leave, ok := b.joinReaders()
		if !ok {
			t.Fatal("refused too early")
		}
		defer leave()
	}
	w := httptest.NewRecorder()
	p.serveLive(w, httptest.NewRequest(http.MethodGet, LivePath, nil))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "too_many_readers") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

func TestAReaderThatLeavesEndsItsStream(t *testing.T) {
	p := &Page{}
	b, _, _ := turned(t)
	p.beats = b
	ctx, leave := context.WithCancel(t.Context())
	w := &streamed{ResponseRecorder: httptest.NewRecorder(), first: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.serveLive(w, httptest.NewRequest(http.MethodGet, LivePath, nil).WithContext(ctx))
	}()
	<-w.first
	leave()
	<-done
	if text := w.Body.String(); !strings.Contains(text, "event: beat\ndata: {\"t\":") || !strings.HasSuffix(text, "\"n\":1}\n\n") {
		t.Fatalf("the stream is %q", text)
	}
	if b.readers != 0 {
		t.Fatalf("%d readers are left", b.readers)
	}
	if w.Header().Get("X-Accel-Buffering") != "no" {
		t.Error("nginx holds the stream back")
	}
}

// streamed signals the first flush with a beat.
type streamed struct {
	*httptest.ResponseRecorder
	first chan struct{}
}

func (s *streamed) Flush() {
	if !strings.Contains(s.Body.String(), "event: beat") {
		return
	}
	select {
	case s.first <- struct{}{}:
	default:
	}
}

func TestBeatsAreFartherApartTheMoreReadersThereAre(t *testing.T) {
	b, _, _ := turned(t)
	for readers := 1; readers <= MaxReaders; readers++ {
		_, leave, ok := b.joinReaders()
		if !ok {
			t.Fatalf("reader %d is refused", readers)
		}
		t.Cleanup(leave)
		if apart, want := b.beatInterval(), min(time.Duration(readers)*6*time.Millisecond, time.Second); apart != want {
			t.Fatalf("with %d readers beats are %v apart, want %v", readers, apart, want)
		}
	}
}
