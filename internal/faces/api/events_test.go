package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// reach waits until the feed has taken a height.
func (f *feed) reach(t *testing.T, h types.Height) {
	t.Helper()
	for f.latestHeight() < h {
		f.mu.Lock()
		news, head := f.news, f.head
		f.mu.Unlock()
		if head < h {
			<-news
		}
	}
}

// dataOf is the JSON of an event.
func dataOf(e event) []byte {
	_, data, _ := strings.Cut(e.text, "\ndata: ")
	return []byte(data)
}

var errEnough = errors.New("enough")

// follow collects n events, as "id kind".
func follow(t *testing.T, w *world, f client.Follow, n int) (got []string) {
	t.Helper()
	server := httptest.NewServer(w.server.Handler())
	defer server.Close()
	err := client.NewAPI(server.URL).Events(context.Background(), f, func(e client.Event) error {
		id, mark := e.ID[:strings.LastIndex(e.ID, ".")], e.ID[strings.LastIndex(e.ID, ".")+1:]
		if len(mark) != 8 || strings.Trim(mark, "0123456789abcdef") != "" {
			t.Errorf("the id %s does not end with the beginning of a hash", e.ID)
		}
		got = append(got, id+" "+e.Kind)
		if len(got) == n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("the stream ended with %v after %v", err, got)
	}
	return got
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}

// busyWorld has an actor whose deploy, call and fire are blocks 1, 2 and 3.
func busyWorld(t *testing.T) (*world, types.Address) {
	w := newWorld(t)
	actor := w.deploy("ping").Address
	post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "bob", To: "ping", Handler: "echo"})
	w.chain.mine(history.TimerMark{ID: types.Hash{1}, Actor: actor, Status: types.TimerFired},
		history.TimerMark{ID: types.Hash{2}, Actor: types.Address{4}, Status: types.TimerExpired})
	return w, actor
}

func TestEventsComeInTheOrderOfTheBlock(t *testing.T) {
	w, _ := busyWorld(t)
	expect(t, follow(t, w, client.Follow{From: 1}, 8),
		"1.0 block", "1.1 tx", "2.0 block", "2.1 tx", "2.2 log", "3.0 block", "3.1 timer", "3.2 timer")
}

// A proxy that holds answers back is told not to: nginx holds 4,096 bytes, and in a quiet
// network so much never comes.
func TestAStreamOfEventsIsNotHeldBack(t *testing.T) {
	w, _ := busyWorld(t)
	server := httptest.NewServer(w.server.Handler())
	defer server.Close()
	answer, err := http.Get(server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 1)
	if _, err := answer.Body.Read(first); err != nil || answer.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v, %v", answer.Header, err)
	}
}

func TestAReaderGoesOnBehindItsLastEvent(t *testing.T) {
	w, _ := busyWorld(t)
	expect(t, follow(t, w, client.Follow{LastID: "2.0", From: 1}, 3), "2.1 tx", "2.2 log", "3.0 block")
	expect(t, follow(t, w, client.Follow{LastID: "2.2"}, 1), "3.0 block")
	w.refused(400, "invalid_event_id", "GET", "/events", nil, "Last-Event-ID", "soon")
	w.refused(400, "invalid_event_id", "GET", "/events", nil, "Last-Event-ID", "1.-1")
	w.refused(400, "invalid_event_id", "GET", "/events", nil, "Last-Event-ID", "1.1.ab")
}

// A stream whose last event was of another chain is refused, however alike the chains began.
func TestAStreamOfAnotherChainIsRefused(t *testing.T) {
	w, _ := busyWorld(t)
	b, err := (&memoryView{w.chain}).Block(2)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, follow(t, w, client.Follow{LastID: "2.1." + markOf(b)}, 2), "2.2 log", "3.0 block")
	e := w.refused(409, "other_chain", "GET", "/events", nil, "Last-Event-ID", "2.1.00000000")
	if !strings.Contains(e.Message, "block 2 is another one here") || !strings.Contains(e.Hint, "Connect without Last-Event-ID") {
		t.Errorf("%+v", e)
	}
}

// Where the block of the last event is not there, as on a chain that was begun anew, a stream
// waits for it, since a validator may be behind the others. It says so when none comes, and
// when the block comes and is another one.
func TestAStreamThatWaitsForAnotherChainSaysSo(t *testing.T) {
	for said, comes := range map[string]bool{
		"it was of block 3, and the highest one here is 2": false,
		"block 3 is another one here":                      true,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := fed()
			f.add()
			f.add()
			r := &reader{feed: f, height: 3, skip: 1, kinds: kinds, after: "deadbeef", awaits: true}
			w := httptest.NewRecorder()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				r.sendEvents(t.Context(), stream{w, http.NewResponseController(w)})
			}()
			if comes {
				synctest.Wait()
				f.add()
			}
			<-ended
			for _, want := range []string{"event: dropped", "other_chain", said} {
				if got := w.Body.String(); !strings.Contains(got, want) {
					t.Errorf("the stream ends with %q, want %q", got, want)
				}
			}
		})
	}
}

func TestEventsAreFilteredByTypeAndActor(t *testing.T) {
	w, actor := busyWorld(t)
	expect(t, follow(t, w, client.Follow{From: 1, Kinds: []string{"tx", "log"}}, 3), "1.1 tx", "2.1 tx", "2.2 log")
	expect(t, follow(t, w, client.Follow{From: 1, Actor: "ping"}, 4), "1.1 tx", "2.1 tx", "2.2 log", "3.1 timer")
	expect(t, follow(t, w, client.Follow{From: 2, Actor: "bob"}, 1), "2.1 tx")
	expect(t, follow(t, w, client.Follow{From: 2, Actor: actor.String(), Kinds: []string{"block", "timer"}}, 3), "2.0 block", "3.0 block",
		"3.1 timer")
}

func TestAReaderWithoutAStartSeesWhatComesNext(t *testing.T) {
	w, _ := busyWorld(t)
	w.server.feed.reach(t, 3)
	r, err := w.server.newReader(&eventsInput{})
	if err != nil || r.height != 4 {
		t.Fatalf("it begins with %d: %v", r.height, err)
	}
}

func TestAFireEventHasItsReceipt(t *testing.T) {
	w, actor := busyWorld(t)
	b, _ := (&memoryView{w.chain}).Block(3)
	var fired model.TimerEvent
	err := json.Unmarshal(dataOf(eventsOf(b, TypesOf(nil))[1]), &fired)
	if err != nil || fired.Receipt == nil || fired.Receipt.Origin != "timer" || fired.Actor != actor {
		t.Fatalf("%v %+v", err, fired)
	}
}

// TestASlowReaderIsToldAndDropped: the reader has been up to date, and then the
// ring passes it.
func TestASlowReaderIsToldAndDropped(t *testing.T) {
	w := newWorld(t)
	w.server.feed.maxCount = 2
	recorder := httptest.NewRecorder()
	r := &reader{feed: w.server.feed, height: 1, kinds: kinds, live: true}
	for range 4 {
		w.chain.mine()
	}
	w.server.feed.reach(t, 4)
	r.sendEvents(context.Background(), stream{recorder, http.NewResponseController(recorder)})
	_, last, found := strings.Cut(recorder.Body.String(), "event: dropped\ndata: ")
	var e model.ErrorBody
	if err := json.Unmarshal([]byte(last), &e); !found || err != nil || e.Code != "slow_reader" || e.Hint == "" {
		t.Fatalf("%v in %s", err, recorder.Body)
	}
}

// TestAReaderFromTheBeginningReadsTheArchive: it was never up to date, so that
// the ring's end does not drop it.
func TestAReaderFromTheBeginningReadsTheArchive(t *testing.T) {
	w := newWorld(t)
	w.server.feed.maxCount = 2
	for range 6 {
		w.chain.mine()
	}
	w.server.feed.reach(t, 6)
	got := follow(t, w, client.Follow{From: 1, Kinds: []string{"block"}}, 6)
	expect(t, got, "1.0 block", "2.0 block", "3.0 block", "4.0 block", "5.0 block", "6.0 block")
}

func TestTheRingIsBoundedInBlocksAndBytes(t *testing.T) {
	w := newWorld(t)
	f := w.server.feed
	f.maxCount, f.maxBytes = 3, 1<<20
	for range 10 {
		w.chain.mine()
	}
	f.reach(t, 10)
	if len(f.ring) != 3 || f.oldest != 8 || f.bytes != eventBytes(f.ring[8])+eventBytes(f.ring[9])+eventBytes(f.ring[10]) {
		t.Fatalf("%d blocks from %d, %d bytes", len(f.ring), f.oldest, f.bytes)
	}
	f.maxBytes = 1
	w.chain.mine()
	f.reach(t, 11)
	if len(f.ring) != 1 || f.oldest != 11 {
		t.Fatalf("%d blocks from %d: the latest has to stay", len(f.ring), f.oldest)
	}
}

func TestTheEndOfTheNetworkIsTheLastEvent(t *testing.T) {
	w, _ := busyWorld(t)
	server := httptest.NewServer(w.server.Handler())
	defer server.Close()
	err := client.NewAPI(server.URL).Events(context.Background(), client.Follow{From: 3, Kinds: []string{"block"}}, func(client.Event) error {
		go w.server.Close()
		return nil
	})
	var ended *client.Error
	if !errors.As(err, &ended) || ended.Code != "stopped" {
		t.Fatalf("%v", err)
	}
}

func TestReadersOfEventsAreLimited(t *testing.T) {
	w := newWorld(t)
	w.server.readers.taken = make(chan struct{})
	w.refused(503, "too_many_readers", "GET", "/events", nil)
}

func TestAHeightThatTimeTravelSkippedHasNoEvents(t *testing.T) {
	w, _ := busyWorld(t)
	w.chain.mu.Lock()
	w.chain.blocks[1] = nil
	w.chain.mu.Unlock()
	f := newFeed(w.chain)
	if events, block, err := f.loadEvents(2); len(events) != 0 || block != nil || err != nil {
		t.Fatal(events, block, err)
	}
}

// A height whose first validator has stopped has its events once another validator has the block.
func TestAHeightThatTheBestValidatorLacksIsAwaited(t *testing.T) {
	w, _ := busyWorld(t)
	f := newFeed(w.chain)
	f.startAfterLatest()
	defer f.closeFeed()
	next := f.latestHeight() + 1
	f.onHeight(next) // before any validator here has it
	if f.takeHeight(next) {
		t.Fatal("the feed left the height empty")
	}
	w.chain.mine()
	f.reach(t, next)
	if events, at := f.nextEvents(t.Context(), next); at != ready || len(events) == 0 {
		t.Errorf("the height has the events %v, %v", events, at)
	}
}
