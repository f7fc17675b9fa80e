package api

import (
	"bytes"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
)

// J11: jobs with much in their specs come in pages over HTTP. A client that asks for each
// next page has each job once; one that does not know pages has the first. An invalid
// cursor is refused.
func TestJ11PolledJobsComeInPages(t *testing.T) {
	w := labouring(t)
	r0 := w.chain.keys["r0"].Address()
	var all []model.PolledJob
	for i := range 9 {
		all = append(all, model.PolledJob{JobID: types.Hash{byte(i + 1)}, JobSpec: make(types.Bytes, 240<<10),
			DeadlineBlock: types.Height(9 + i/2)})
	}
	w.chain.assignments[r0] = all
	var told []types.Hash
	path, pages := "/runner/r0/jobs", 0
	for after := ""; pages == 0 || after != ""; pages++ {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path+after, nil)
		answer := httptest.NewRecorder()
		w.server.Handler().ServeHTTP(answer, r)
		for _, j := range decode[[]model.PolledJob](w, path, answer.Code, answer.Body.Bytes()) {
			told = append(told, j.JobID)
		}
		if after = answer.Header().Get(polling.NextPage); after != "" {
			after = "?after=" + after
		}
	}
	if len(told) != len(all) || pages != 3 {
		t.Fatalf("%d of %d jobs in %d pages, want 3", len(told), len(all), pages)
	}
	for i := range told {
		if told[i] != all[i].JobID {
			t.Fatalf("job %d is %s", i, told[i])
		}
	}
	w.refused(400, "bad_cursor", "GET", path+"?after=7", nil)
}

// J24: an address polls for one runner without a wait within its ration, then in turn, and
// is refused beyond PollWait. Another address, and another runner, have separate rations.
func TestJ24PollsHaveARation(t *testing.T) {
	p := polls{full: map[pollCaller]time.Time{}, waits: true}
	now := time.Unix(1_000, 0)
	one := pollCaller{netip.MustParsePrefix("10.0.0.1/32"), types.Address{1}}
	for i := range 2 * PollsPerSecond {
		if wait, ok := p.enterPoll(now, one); wait != 0 || !ok {
			t.Fatalf("poll %d waits %v, %t", i, wait, ok)
		}
	}
	last := time.Duration(0)
	refused := 0
	for range 4 * PollsPerSecond {
		wait, ok := p.enterPoll(now, one)
		if !ok {
			refused++
			continue
		}
		if wait <= last || wait > PollWait {
			t.Fatalf("a wait of %v after one of %v", wait, last)
		}
		last = wait
	}
	if refused != 2*PollsPerSecond {
		t.Errorf("%d are refused", refused)
	}
	for _, other := range []pollCaller{{netip.MustParsePrefix("10.0.0.2/32"), one.runner}, {one.from, types.Address{2}}} {
		if wait, ok := p.enterPoll(now, other); wait != 0 || !ok {
			t.Errorf("%v waits %v, %t", other, wait, ok)
		}
		p.chargeBytes(now, other, 3*PollBytesPerSecond)
		if wait, ok := p.enterPoll(now, other); wait < time.Second || !ok {
			t.Errorf("after the bytes of three seconds %v waits %v, %t", other, wait, ok)
		}
	}
	if wait, ok := p.enterPoll(now.Add(time.Minute), one); wait != 0 || !ok {
		t.Errorf("a minute later it waits %v, %t", wait, ok)
	}
	for i := range 10 * minPollSweep {
		p.enterPoll(now.Add(time.Duration(i)*time.Minute), pollCaller{one.from, types.Address{3, byte(i), byte(i >> 8)}})
	}
	if len(p.full) > 2*minPollSweep {
		t.Errorf("%d rations are remembered", len(p.full))
	}
	p.waits = false
	p.chargeBytes(now.Add(1e6*time.Minute), one, math.MaxInt32)
	if _, ok := p.enterPoll(now.Add(1e6*time.Minute), one); ok {
		t.Error("a caller waits who holds up the world")
	}
}

// Bytes of answers on their way are bounded: the oldest make room, and a client that takes
// its answer in time keeps its connection.
func TestAnswersOnTheirWayAreBounded(t *testing.T) {
	a := newAnswerWriter()
	a.most = 100
	ended := map[int]bool{}
	begin := func(i, size int) *flight {
		return a.beginAnswer(size, func(at time.Time) error {
			ended[i] = !at.IsZero() && !at.After(time.Now())
			return nil
		})
	}
	first, second := begin(1, 40), begin(2, 40)
	a.finishAnswer(second, true)
	third := begin(3, 40)
	if ended[1] || a.bytes != 80 {
		t.Fatalf("ended %v, %d bytes", ended, a.bytes)
	}
	fourth := begin(4, 50)
	if !ended[1] || ended[2] || ended[3] || ended[4] || a.bytes != 90 {
		t.Fatalf("ended %v, %d bytes", ended, a.bytes)
	}
	for _, f := range []*flight{first, third, fourth} {
		a.finishAnswer(f, true)
	}
	if a.bytes != 0 || a.writing.Len() != 0 {
		t.Errorf("%d bytes are left", a.bytes)
	}
}

// A long answer waits for a place to be encoded, a short one does not.
func TestShortAnswersPassLongOnes(t *testing.T) {
	a := newAnswerWriter()
	for range cap(a.encoders) {
		a.encoders <- struct{}{}
	}
	var to bytes.Buffer
	if err := a.encodeAnswer(&to, map[string]any{"height": 1}); err != nil || to.Len() == 0 {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- a.encodeAnswer(&to, []model.PolledJob{{JobSpec: make(types.Bytes, freeAnswer+1)}}) }()
	select {
	case <-done:
		t.Fatal("a long answer has a place beyond the limit")
	default:
	}
	<-a.encoders
	if err := <-done; err != nil || to.Len() < freeAnswer {
		t.Fatal(err)
	}
	for what, v := range map[string]any{"a map": map[string]string{"a": string(make([]byte, freeAnswer))},
		"numbers": make([]uint64, freeAnswer), "a pointer": &model.Job{Spec: make(types.Bytes, freeAnswer)}} {
		if left := freeAnswer; !isLong(reflect.ValueOf(v), &left) {
			t.Errorf("%s is short", what)
		}
	}
}

// J24: a signed poll is in a ration of its runner's alone, so that strangers at the same address
// do not starve it. A replay, an old clock and a stranger's signature gain nothing.
func TestJ24ASignedPollHasItsOwnRation(t *testing.T) {
	key, stranger := crypto.DeriveKey(1, "runner/r0"), crypto.DeriveKey(1, "runner/r1")
	s := &Server{info: answers.Info{ChainID: 8011}, polls: polls{full: map[pollCaller]time.Time{}, waits: true}}
	from := netip.MustParsePrefix("10.0.0.1/32")
	now := uint64(time.Now().UnixMilli())
	caller := func(by *crypto.Key, chain, at uint64) (pollCaller, error) {
		in := &pollInput{At: at, Text: by.Sign(polling.Digest(chain, at)).String(), from: from}
		return s.pollCaller(in, key.Address())
	}
	plain := pollCaller{from, key.Address()}
	for one, err := 0, error(nil); err == nil; one++ {
		if _, ok := s.polls.enterPoll(time.Now(), plain); !ok {
			break
		} else if one > 1_000_000 {
			t.Fatal("the ration of the address has no end")
		}
	}
	own, err := caller(key, 8011, now)
	if err != nil || own != (pollCaller{netip.Prefix{}, key.Address()}) {
		t.Fatal(own, err)
	}
	if wait, ok := s.polls.enterPoll(time.Now(), own); !ok || wait > 0 {
		t.Errorf("after strangers used up the ration of the address it waits %v", wait)
	}
	for what, at := range map[string]uint64{"a replay": now, "an earlier one": now - 1, "a clock that is wrong": now + 10*60_000} {
		if got, err := caller(key, 8011, at); err != nil || got != plain {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	if _, err := caller(stranger, 8011, now+1); err == nil {
		t.Error("a stranger signs the runner's poll")
	}
	if _, err := caller(key, 8012, now+1); err == nil {
		t.Error("a poll of another chain is signed")
	}
	if got, err := s.pollCaller(&pollInput{from: from}, key.Address()); err != nil || got != plain {
		t.Error("a poll without signature", got, err)
	}
	if _, err := s.pollCaller(&pollInput{Text: "0x12", from: from}, key.Address()); err == nil {
		t.Error("a signature of one byte")
	}
}
