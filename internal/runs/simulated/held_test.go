package simulated

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// failing has an actor whose timers fire, a payment, a leader that crashes, and an expectation that does not hold. It
// prints what it saw at its end.
const failing = `
net = network(validators = 4, block_time = "500ms", link = link(latency = "20ms", jitter = "5ms"))
hb = net.deploy("go:heartbeat", name = "hb", fund = "100 CBY")
net.call(hb, "start", be8(3))
paid = net.transfer("bob", "5 wei")
net.run(blocks = 6)
net.leader().crash()
net.run(blocks = 2)
pending = net.timers(actor = hb, status = "pending")[0]
def hex(b):
    return "0x" + "".join(["0123456789abcdef"[x // 16] + "0123456789abcdef"[x % 16] for x in b.elems()])
print(json.encode({"height": net.height, "hash": hex(paid.hash), "at": paid.height, "fee": str(paid.fee), "timer": hex(pending.id),
    "due": pending.height, "fired": len(net.timers(actor = hb, status = "fired")), "time": net.time_ms,
    "down": [v.name for v in net.validators if not v.running], "bob": str(net.balance("bob")), "hb": str(net.balance(hb))}))
expect_eq(net.height, 1000, "the network is fast")
`

// seen is what failing prints.
type seen struct {
	Height, At, Due  uint64
	Hash, Fee, Timer string
	Fired            int
	Time             int64
	Down             []string
	Bob, HB          string
}

const failingSeed = 3

// holding is a held run that answers as devnet run --hold does.
type holding struct {
	t       *testing.T
	path    string
	run     *Held
	driven  *api.Driven
	printed strings.Builder
	reached bool
}

// hold plays a script to a moment, and serves it until the test ends.
func hold(t *testing.T, path string, to moment.Moment) *holding {
	t.Helper()
	h := &holding{t: t, path: path}
	seed := uint64(failingSeed)
	pulse := &scenario.Pulse{}
	at := func() string {
		_, _, at := pulse.Look()
		return at.String()
	}
	h.run = NewHeld(t.Context(), "test", Script{Name: path, Out: &h.printed, At: at,
		Play: func(ctx context.Context, open scenario.Open, out io.Writer) string {
			_, err := scenario.Run(path, scenario.Options{Open: open, Seed: &seed, Out: out, Stop: ctx,
				Pulse: pulse})
			if err != nil {
				return err.Error()
			}
			return ""
		}})
	var err error
	if h.reached, err = h.run.Begin(to); err != nil {
		t.Fatal(err)
	}
	h.driven = api.NewDriven(h.run, api.Config{Held: h.run}, h.run.Tell)
	t.Cleanup(func() {
		if err := h.driven.Close(); err != nil {
			t.Error(err)
		}
		h.run.Close()
	})
	return h
}

// ask returns the status and the body of an answer.
func (h *holding) ask(method, path, body string) (int, []byte) {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.driven.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// see reads an answer.
func see[T any](h *holding, path string) (out T) {
	h.t.Helper()
	return answered[T](h, http.MethodGet, path, "")
}

// post makes a request that has to succeed.
func post[T any](h *holding, path, body string) T {
	h.t.Helper()
	return answered[T](h, http.MethodPost, path, body)
}

func answered[T any](h *holding, method, path, body string) (out T) {
	h.t.Helper()
	status, data := h.ask(method, path, body)
	if status != http.StatusOK {
		h.t.Fatalf("%s %s %s is answered with %d: %s", method, path, body, status, data)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		h.t.Fatalf("%s: %v in %s", path, err, data)
	}
	return out
}

func (h *holding) refused(path, body, code string) {
	h.t.Helper()
	status, data := h.ask(http.MethodPost, path, body)
	var e model.Error
	if err := json.Unmarshal(data, &e); err != nil || status < 400 || e.Error.Code != code || e.Error.Message == "" {
		h.t.Errorf("%s %s is answered with %d, %s; want %s", path, body, status, data, code)
	}
}

// reads are answers about all of a network, which two networks of one moment give alike.
func (h *holding) reads() string {
	h.t.Helper()
	var all strings.Builder
	for _, path := range []string{"/hold", "/ready", "/validators", "/blocks", "/timers", "/timers/lane", "/actors", "/actor/hb/state",
		"/actor/hb/logs", "/account/alice", "/account/bob", "/basefee", "/views", "/devnet/faults", "/links"} {
		status, data := h.ask(http.MethodGet, path, "")
		fmt.Fprintf(&all, "%s %d %s\n", path, status, data)
	}
	return all.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "failing.star")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run that fails is held at its failure: its digest is that of the run without a hold, and the API tells what the
// script saw.
func TestAFailedRunIsHeldAsItWas(t *testing.T) {
	path := write(t, failing)
	report, out, err := play(path, failingSeed)
	if err == nil || !strings.Contains(err.Error(), "the network is fast") {
		t.Fatalf("%v\n%s", err, out)
	}
	var saw seen
	if err := json.Unmarshal([]byte(out), &saw); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	h := hold(t, path, moment.Moment{})
	at := see[model.Held](h, "/hold")
	if !h.reached || !at.Ended || at.Moment != path+"@3:end" || at.Digest != report.Digest || uint64(at.Height) != saw.Height ||
		at.TimeMS != saw.Time || at.Failure != err.Error() || h.printed.String() != out || at.Changed != "" {
		t.Errorf("it is held at %+v, having printed %s; the run has %+v, and failed with %v", at, h.printed.String(), saw, err)
	}
	receipt := see[model.Receipt](h, "/transaction/"+saw.Hash+"/receipt")
	if receipt.Status != "ok" || uint64(receipt.Height) != saw.At || receipt.Fee.String() != saw.Fee {
		t.Errorf("the payment of %+v is %+v", saw, receipt)
	}
	timer := see[model.Timer](h, "/timer/"+saw.Timer)
	if timer.Status != "pending" || uint64(timer.Height) != saw.Due {
		t.Errorf("the timer of %+v is %+v", saw, timer)
	}
	if fired := see[[]model.Timer](h, "/timers?actor=hb&status=fired"); len(fired) != saw.Fired || saw.Fired == 0 {
		t.Errorf("%d timers have fired, and the script saw %d", len(fired), saw.Fired)
	}
	if bob := see[model.Account](h, "/account/bob"); bob.Balance.String() != saw.Bob {
		t.Errorf("bob has %s, and had %s", bob.Balance, saw.Bob)
	}
	if hb := see[model.Account](h, "/account/hb"); hb.Balance.String() != saw.HB {
		t.Errorf("the actor has %s, and had %s", hb.Balance, saw.HB)
	}
	var down []string
	for _, v := range see[[]model.Validator](h, "/validators") {
		if !v.Running {
			down = append(down, v.Name)
		}
	}
	if len(down) != 1 || fmt.Sprint(down) != fmt.Sprint(saw.Down) {
		t.Errorf("down are %v, and were %v", down, saw.Down)
	}
	if page, text := h.ask(http.MethodGet, "/", ""); page != http.StatusOK || !strings.Contains(string(text), "<!doctype html>") {
		t.Errorf("the page is answered with %d", page)
	}
	if again := see[model.Held](h, "/hold"); fmt.Sprint(again) != fmt.Sprint(at) {
		t.Errorf("reading moved it from %+v to %+v", at, again)
	}
}

// drawn is the seed of a test's draws.
var drawn = flag.Uint64("drawn", 0, "draw moments by this seed; 0: by any")

// At twenty drawn moments, forward and back, the run has the digest and the answers of a fresh run to there. A failing
// one is replayed with the command that it prints.
func TestAHeldRunIsAtEachMomentAFreshRunToThere(t *testing.T) {
	path := write(t, failing)
	h := hold(t, path, moment.Moment{Kind: moment.AtHeight, Height: 2})
	ends := post[model.Held](h, "/hold/step", `{"unit": "end"}`)
	if !ends.Ended || ends.Step < 1000 {
		t.Fatalf("the script ends at %+v", ends)
	}
	seed := cmp.Or(*drawn, rand.Uint64())
	t.Logf("replay: go test ./internal/runs/simulated -run TestAHeldRunIsAtEachMoment -drawn %d", seed)
	draw := rand.New(rand.NewPCG(seed, 1))
	back, past := 0, 0
	for range 20 {
		step := 1 + draw.Uint64N(ends.Step+ends.Step/8) // also after the script's end
		before := see[model.Held](h, "/hold").Step
		at := moment.Step(path, failingSeed, step)
		got := post[model.Held](h, "/hold/go", fmt.Sprintf(`{"to": %q}`, at))
		if step < before {
			back++
		}
		if step > ends.Step {
			past++
		}
		fresh := hold(t, path, moment.Moment{Kind: moment.AtHeight, Height: 1})
		want := post[model.Held](fresh, "/hold/go", fmt.Sprintf(`{"to": %q}`, at))
		if got.Step != step || got.Digest != want.Digest || got.Moment != at.String() || got.Ended != (step > ends.Step) {
			t.Errorf("from step %d to %d it comes to %+v, a fresh run to %+v", before, step, got, want)
		}
		if ours, theirs := h.reads(), fresh.reads(); ours != theirs {
			t.Errorf("from step %d to %d the answers are\n%s\na fresh run's\n%s", before, step, ours, theirs)
		}
	}
	if back == 0 || back == 20 {
		t.Errorf("of 20 moves %d went back", back)
	}
	t.Logf("%d of 20 moves went back, %d moments are after the script's end", back, past)
	if end := post[model.Held](h, "/hold/go", fmt.Sprintf(`{"to": "%s@3:end"}`, path)); end.Digest != ends.Digest {
		t.Errorf("the end is %+v, and was %+v", end, ends)
	}
}

// Steps, blocks and fires are counted on and back, and their answers say what happened.
func TestAHeldRunMovesByStepsBlocksAndFires(t *testing.T) {
	path := write(t, failing)
	h := hold(t, path, moment.Moment{Kind: moment.AtHeight, Height: 3})
	began := see[model.Held](h, "/hold")
	if !h.reached || began.Height != 3 || began.Ended || began.At != "failing.star:4:9" ||
		!strings.HasPrefix(began.Moment, path+"@3:") || h.printed.Len() > 0 {
		t.Fatalf("at h3 it is at %+v, and printed %s", began, h.printed.String())
	}
	on := post[model.Held](h, "/hold/step", `{"count": 3}`)
	if on.Step != began.Step+3 || on.From != began.Step || len(on.Happened) != 3 || !strings.HasSuffix(on.Happened[0], " stepped") {
		t.Errorf("three steps lead to %+v", on)
	}
	block := post[model.Held](h, "/hold/step", `{"unit": "block"}`)
	if block.Height != 4 || block.Step <= on.Step || !strings.Contains(fmt.Sprint(block.Happened), "block 4: ") {
		t.Errorf("a block leads to %+v", block)
	}
	fire := post[model.Held](h, "/hold/step", `{"unit": "fire"}`)
	if fired := see[[]model.Timer](h, "/timers?status=fired"); len(fired) == 0 || fired[len(fired)-1].EndedAt == nil ||
		*fired[len(fired)-1].EndedAt != fire.Height || !strings.Contains(fmt.Sprint(fire.Happened), "timer ") {
		t.Errorf("a fire leads to %+v, and what fired is %+v", fire, fired)
	}
	if at := post[model.Held](h, "/hold/back", `{"unit": "block"}`); at.Height != fire.Height-1 || at.Step >= fire.Step {
		t.Errorf("a block back from %d is %+v", fire.Height, at)
	}
	if at := post[model.Held](h, "/hold/go", `{"to": "h4"}`); at.Digest != block.Digest || at.Step != block.Step {
		t.Errorf("h4 is %+v, and was %+v", at, block)
	}
	if at := post[model.Held](h, "/hold/back", fmt.Sprintf(`{"count": %d}`, block.Step-on.Step)); at.Digest != on.Digest {
		t.Errorf("as many steps back it is %+v, and was %+v", at, on)
	}
	end := post[model.Held](h, "/hold/step", `{"unit": "end"}`)
	if !end.Ended || !strings.Contains(fmt.Sprint(end.Happened), "the script failed: "+filepath.Base(path)) || h.printed.Len() == 0 {
		t.Errorf("the end is %+v, and it printed %s", end, h.printed.String())
	}
	after := post[model.Held](h, "/hold/step", `{"unit": "block"}`)
	if after.Height != end.Height+1 || !after.Ended || after.Moment == end.Moment {
		t.Errorf("after the end a block leads to %+v", after)
	}
	if at := post[model.Held](h, "/hold/back", `{"unit": "end"}`); at.Digest != end.Digest || at.Moment != end.Moment {
		t.Errorf("back at the end it is %+v, and was %+v", at, end)
	}
	if at := post[model.Held](h, "/hold/back", `{"unit": "fire"}`); !strings.Contains(h.reads(), `"status":"fired"`) || at.Step >= end.Step {
		t.Errorf("a fire back is %+v", at)
	}
	if twice := strings.Count(h.printed.String(), "\n"); twice != 1 {
		t.Errorf("played again, it printed\n%s", h.printed.String())
	}
	h.refused("/hold/back", `{"count": 999999}`, "too_far_back")
	h.refused("/hold/back", `{"unit": "block", "count": 999}`, "too_far_back")
	h.refused("/hold/back", `{"unit": "end"}`, "script_ended")
	h.refused("/hold/step", `{"unit": "year"}`, "invalid_request")
	h.refused("/hold/step", `{"count": 1000001}`, "invalid_request")
	h.refused("/hold/go", `{"to": "57"}`, "invalid_moment")
	h.refused("/hold/go", `{"to": "other.star@3:57"}`, "invalid_moment")
	h.refused("/hold/go", fmt.Sprintf(`{"to": "%s@4:57"}`, path), "invalid_moment")
}

// What is done by hand changes the run, which says so, and is gone after a way back. The script goes on with the
// network that it has.
func TestAHeldRunThatIsChangedByHandSaysSo(t *testing.T) {
	path := write(t, failing)
	h := hold(t, path, moment.Moment{Kind: moment.AtHeight, Height: 4})
	began := see[model.Held](h, "/hold")
	if r := post[model.Receipt](h, "/devnet/send", `{"from": "alice", "to": "bob", "value": "7"}`); r.Status != "ok" {
		t.Fatalf("the payment is %+v", r)
	}
	changed := see[model.Held](h, "/hold")
	if changed.Changed != began.Moment || changed.Step <= began.Step {
		t.Errorf("after a payment it is at %+v, and was at %+v", changed, began)
	}
	if end := post[model.Held](h, "/hold/step", `{"unit": "end"}`); !end.Ended || end.Changed != began.Moment {
		t.Errorf("its end is %+v", end)
	}
	if at := post[model.Held](h, "/hold/go", fmt.Sprintf(`{"to": %q}`, began.Moment)); at.Digest != began.Digest || at.Changed != "" {
		t.Errorf("back it is at %+v, and was at %+v", at, began)
	}
	post[model.Pace](h, "/devnet/pause", `{}`) // which drives nothing
	if at := see[model.Held](h, "/hold"); at.Changed != began.Moment {
		t.Errorf("paused, it is at %+v", at)
	}
	back := post[model.Held](h, "/hold/back", `{}`)
	if back.Changed != "" || back.Step != began.Step-1 {
		t.Errorf("a step back is %+v", back)
	}
	if at := see[model.Held](h, "/hold"); at.Changed != "" {
		t.Errorf("reading changed it: %+v", at)
	}
}

// A script that was edited meanwhile is another run, which a way back says.
func TestAWayBackSaysThatTheScriptHasChanged(t *testing.T) {
	path := write(t, failing)
	h := hold(t, path, moment.Moment{})
	if err := os.WriteFile(path, []byte(strings.Replace(failing, "5 wei", "6 wei", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	h.refused("/hold/back", `{}`, "not_reproducible")
}

// A script with two networks and a snapshot is held in the network that it has at the moment.
func TestAHeldRunOfSeveralNetworks(t *testing.T) {
	path := write(t, `
net = network(validators = 1, block_time = "500ms")
net.run(blocks = 4)
net.snapshot("four")
net.run(blocks = 4)
net.restore("four")
net.run(blocks = 2)
print(net.height)
net.close()
net = network(validators = 2, block_time = "500ms")
net.run(blocks = 3)
print(net.height)
`)
	report, out, err := play(path, failingSeed)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h := hold(t, path, moment.Moment{})
	end := see[model.Held](h, "/hold")
	if end.Failure != "" || !end.Ended || end.Height != 3 || len(see[[]model.Validator](h, "/validators")) != 2 {
		t.Errorf("the end is %+v; the run has %d blocks", end, report.Height)
	}
	at := post[model.Held](h, "/hold/go", `{"to": "h7"}`)
	if at.Height != 7 || len(see[[]model.Validator](h, "/validators")) != 1 {
		t.Errorf("h7 is %+v", at)
	}
	for _, want := range []uint64{8, 5, 6, 1, 2, 3} { // the snapshot is restored, and the next network comes
		at = post[model.Held](h, "/hold/step", `{"unit": "block"}`)
		if uint64(at.Height) != want {
			t.Errorf("the next block is %+v, want height %d", at, want)
		}
		if head := see[model.Height](h, "/height"); uint64(head.Height) != want {
			t.Errorf("the API shows %+v at height %d", head, want)
		}
	}
	if at = post[model.Held](h, "/hold/step", `{"unit": "end"}`); at.Digest != end.Digest || at.Moment != end.Moment {
		t.Errorf("again the end is %+v, and was %+v", at, end)
	}
}

// cutRun has a validator cut off, so that views fail.
const cutRun = `
net = network(validators = 4, block_time = "500ms", link = link(latency = "20ms"))
net.run(blocks = 3)
net.partition([["v0"], ["v1", "v2", "v3"]])
net.run(blocks = 5)
net.heal()
net.run(blocks = 2)
`

// A held run says how long no block came, and a view is open, by its own clock.
func TestAHeldRunSaysSinceWhenNoBlockCame(t *testing.T) {
	h := hold(t, write(t, `
net = network(validators = 4, block_time = "500ms")
net.run(blocks = 3)
net.partition([["v0", "v1"], ["v2", "v3"]])
net.run(time = "9s")
`), moment.Moment{})
	at, ready := see[model.Held](h, "/hold"), see[model.Ready](h, "/ready")
	views := see[model.Views](h, fmt.Sprintf("/views?from=%d&to=%[1]d", see[model.Block](h, "/block/latest").View))
	last := int64(views.Views[0].BeganMS) + int64(*views.Views[0].TookUS/1000)
	since := at.TimeMS - last
	open := see[model.Views](h, "/views")
	if text := open.Views[len(open.Views)-1].Text; !strings.HasPrefix(text, fmt.Sprintf("open for %d.", since/1000)) {
		t.Errorf("%d ms after the last block the open view is %q", since, text)
	}
	if got := int64(ready.SinceMS); since < 8000 || got < since-1 || got > since+1 {
		t.Errorf("%d ms after the last block it says %d", since, got)
	}
}

// Links that are as the script configured them have no rule: a rule is of a fault.
func TestALinkAsConfiguredIsNoFault(t *testing.T) {
	h := hold(t, write(t, `
net = network(validators = 4, link = link(latency = "20ms", jitter = "5ms"))
net.run(blocks = 2)
net.link("v0", "v1", latency = "90ms")
net.run(blocks = 2)
`), moment.Moment{})
	ruled := 0
	for _, l := range see[model.Links](h, "/links").Links {
		if l.Rule != nil {
			ruled++
		}
	}
	if ruled != 2 {
		t.Errorf("%d directions of links have a rule", ruled)
	}
}

// A held run tells the frames of its views: those that were lost with the fault that did it and their bytes, the others by their times.
func TestAHeldRunTellsItsFrames(t *testing.T) {
	h := hold(t, write(t, cutRun), moment.Moment{})
	lost := see[model.Frames](h, "/hold/frames?lost=true").Frames
	votes := 0
	for _, f := range lost {
		tag := map[string]byte{"proposal": 1, "vote": 2, "certificate": 3}[f.What]
		if (f.From == "v0") == (f.To == "v0") || f.ArrivesMS != nil || f.Why != "cut" && f.Why != "not connected" ||
			f.By != "partition v0 / v1,v2,v3" || len(f.Data) != f.Size && f.Size <= maxFrameData || len(f.Data) > 0 && f.Data[0] != tag {
			t.Errorf("a frame that was lost is %+v", f)
		}
		if f.What == "vote" && f.Vote == "nullify" {
			votes++
		}
	}
	if len(lost) == 0 || votes == 0 {
		t.Errorf("of %d lost frames %d are votes to nullify", len(lost), votes)
	}
	counts := map[string]int{}
	for _, f := range see[model.Frames](h, "/hold/frames?from=2&to=2").Frames {
		if f.Why != "" || f.View != 2 || f.ArrivesMS == nil || *f.ArrivesMS-f.SentMS != 20 || f.Data != nil {
			t.Errorf("a frame of a view that went as usual is %+v", f)
		}
		counts[f.What+f.Vote]++
	}
	if counts["proposal"] != 3 || counts["votenotarize"] != 12 || counts["votefinalize"] != 12 {
		t.Errorf("the frames of a view that went as usual are %v", counts)
	}
	before := fmt.Sprint(see[model.Frames](h, "/hold/frames?lost=true"))
	post[model.Held](h, "/hold/back", `{"unit": "block"}`)
	if post[model.Held](h, "/hold/step", `{"unit": "end"}`); fmt.Sprint(see[model.Frames](h, "/hold/frames?lost=true")) != before {
		t.Error("played again, it had other frames")
	}
}

// busyRun has timers that are deferred and fire, jobs that are refused and done, a runner that leaves, and a change of parameters.
const busyRun = `
net = network(validators = 4, runners = 3, block_time = "500ms", link = link(latency = "20ms", jitter = "5ms"),
              params = {"cip1.lane_timer_cycles": 251000})
hearts = [net.deploy("go:heartbeat", name = "hb%d" % i, fund = "1000 CBY") for i in range(4)]
for heart in hearts:
    net.send(heart, "start", be8(1))
job = net.submit_job(kind = "custom", executor = "echo", params = "hello", timeout_blocks = 40)
net.run(blocks = 2)
typo = net.submit_job(kind = "custom", executor = "sha265", timeout_blocks = 40)
net.set_param("cip3.min_basefee", 700)
net.run(blocks = 3)
late = net.submit_job(kind = "custom", executor = "echo", params = "late", timeout_blocks = 40, sender = "bob")
net.leave_runner("r2")
for t in net.timers(status = "pending")[:1]:
    net.cancel_timer(t)
net.transfer("carol", "3 wei")
net.run(blocks = 12)
`

// readsAt are the reads that an earlier moment is compared by. Each is of the chain alone.
var readsAt = []string{"/height", "/account/alice", "/account/hb0", "/actors?limit=1000", "/actor/hb1", "/actor/hb0/state",
	"/actor/hb1/receipts", "/actor/hb2/logs", "/basefee", "/params", "/timers?limit=1000", "/timers?status=pending&limit=1000",
	"/timers?actor=hb1&status=fired", "/timers/lane", "/timers/calendar", "/jobs", "/jobs?status=Pending",
	"/jobs?status=Completed&order=newest", "/jobs?submitter=bob", "/subsets", "/blocks?limit=1000", "/block/latest",
	"/block/latest/receipts", "/blocks/columns", "/presence", "/devnet/accounts"}

// Twenty moments drawn at random are read as they were when the run was there, and as another run of the seed shows them
// that is held there.
func TestMomentsAreReadAsTheyWere(t *testing.T) {
	path := write(t, busyRun)
	h := hold(t, path, moment.Moment{Kind: moment.AtHeight, Height: 1})
	was := map[string]map[string]string{}
	at := see[model.Held](h, "/hold")
	paths := func(h *holding) []string {
		all := slices.Clone(readsAt)
		for _, job := range see[[]model.Job](h, "/jobs") {
			for _, part := range []string{"", "/status", "/runners", "/draws", "/results", "/verified", "/story"} {
				all = append(all, "/job/"+job.ID.String()+part)
			}
		}
		for _, timer := range see[[]model.Timer](h, "/timers?limit=20&order=newest") {
			all = append(all, "/timer/"+timer.ID.String(), "/timer/"+timer.ID.String()+"/story")
		}
		for _, r := range see[[]model.Runner](h, "/runners") {
			all = append(all, "/jobs?runner="+r.Address.String())
		}
		return all
	}
	for ; !at.Ended; at = post[model.Held](h, "/hold/step", `{"unit": "block"}`) {
		answers := map[string]string{}
		for _, path := range paths(h) {
			status, body := h.ask(http.MethodGet, path, "")
			answers[path] = fmt.Sprintf("%d %s", status, body)
		}
		was[fmt.Sprintf("h%d", at.Height)] = answers
	}
	if len(was) < 20 {
		t.Fatalf("the run has %d heights", len(was))
	}
	rng := rand.New(rand.NewPCG(43, 1))
	moments := slices.Sorted(maps.Keys(was))
	rng.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	for i, name := range moments[:20] {
		at, err := moment.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		fresh := hold(t, path, at)
		for path, want := range was[name] { // order: each is judged alone
			sign := "?"
			if strings.Contains(path, "?") {
				sign = "&"
			}
			if status, body := fresh.ask(http.MethodGet, path, ""); fmt.Sprintf("%d %s", status, body) != want {
				t.Fatalf("%s of a fresh run to %s is\n%s\nand was\n%s", path, name, body, want)
			}
			full := name
			if i%2 == 0 {
				full = moment.Moment{Script: h.path, Seed: failingSeed, Kind: moment.AtHeight, Height: at.Height}.String()
			}
			status, body := h.ask(http.MethodGet, path+sign+"at="+url.QueryEscape(full), "")
			if got := fmt.Sprintf("%d %s", status, body); got != want {
				t.Fatalf("%s at %s is\n%s\nand was\n%s", path, name, got, want)
			}
		}
	}
}

// byHand is done to a network: deploys, a call with an address in it, a payment, a job, changes of parameters and of a balance, faults.
const byHand = `
net = network(validators = 4, runners = 3, block_time = "500ms", link = link(latency = "20ms", jitter = "5ms"),
              params = {"cip1.lane_timer_cycles": 251000})
heart = net.deploy("go:heartbeat", name = "heart", fund = "1000 CBY")
count = net.deploy("go:counter", name = "count", sender = "bob")
relay = net.deploy("go:relay", fund = "100 CBY")
net.send(heart, "start", be8(2))
net.run(blocks = 2)
net.send(relay, "send", b"\x85\x54" + bytes(count.address) + b"\x69increment\x40\x1a\x00\x03\x0d\x40\x19\x03\xe8", sender = "carol")
net.set_param("cip3.min_basefee", 700)
net.transfer("bob", "3 wei", sender = "carol")
net.submit_job(kind = "custom", executor = "echo", params = "hello", timeout_blocks = 40)
net.set_balance("erin", "7 CBY")
net.partition([["v0", "v1"], ["v2", "v3"]])
net.run(time = "3s")
net.heal()
net.run(blocks = 2)
net.validator("v3").crash()
net.run(blocks = 3)
net.validator("v3").restart()
net.validator("v2").misbehave("withhold_votes")
net.runner("r1").slow("300ms", may_be_idle = True)
net.run(blocks = 3)
net.validator("v2").misbehave("")
net.run(blocks = 3)
`

// What was done by hand is told as a script, which does it again: in another run, with other keys.
func TestWhatWasDoneByHandIsAScript(t *testing.T) {
	h := hold(t, write(t, byHand), moment.Moment{Kind: moment.AtEnd})
	m := see[model.Retold](h, "/devnet/scenario")
	if len(m.LeftOut) > 0 || len(m.Files) > 0 {
		t.Errorf("left out: %q; files: %v", m.LeftOut, m.Files)
	}
	if found := see[[]model.Job](h, "/jobs"); len(found) != 1 {
		t.Fatalf("%d jobs", len(found))
	}
	script := m.Script + `
expect_eq([f.verb for f in net.faults() if f.verb != "set_balance"], ["partition", "crash", "misbehave", "slow"])
expect_eq(net.balance("erin"), 7000000000)
expect_eq(net.params["cip3.min_basefee"], "700")
expect_eq(net.params["cip1.lane_timer_cycles"], "251000")
expect_eq(len(net.jobs()), 1)
expect(len(net.timers(actor = "heart", status = "fired")) > 3, "the heart does not beat")
expect_eq(net.state("count").values(), [be8(1)], "the message did not reach the counter")
check("agreement", "supply")
`
	path := filepath.Join(t.TempDir(), "again.star")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, out, err := play(path, failingSeed+1); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, script)
	}
}

// The state of an actor at an earlier height is the state that it had there.
func TestAnEarlierStateIsTheStateThatWas(t *testing.T) {
	h := hold(t, write(t, failing), moment.Moment{Kind: moment.AtHeight, Height: 2})
	was := map[string]string{}
	distinct := map[string]bool{}
	at := see[model.Held](h, "/hold")
	for ; !at.Ended; at = post[model.Held](h, "/hold/step", `{"unit": "block"}`) {
		status, state := h.ask(http.MethodGet, "/actor/hb/state", "")
		if status == http.StatusNotFound {
			continue // it is not deployed yet
		}
		was[fmt.Sprintf("h%d", at.Height)], distinct[string(state)] = string(state), true
	}
	if len(was) < 6 || len(distinct) < 3 {
		t.Fatalf("%d heights have %d states", len(was), len(distinct))
	}
	for height, state := range was { // order: each is judged alone
		if status, got := h.ask(http.MethodGet, "/actor/hb/state?at="+height, ""); status != http.StatusOK || string(got) != state {
			t.Errorf("at %s the state is %d %s, and was %s", height, status, got, state)
		}
	}
	if before := see[[]model.StateEntry](h, "/actor/hb/state?at=h1"); len(before) != 0 {
		t.Errorf("before its deploy the actor has the state %+v", before)
	}
	for query, want := range map[string]string{"h999": "unknown_block", "12": "invalid_moment", "a.star@3:h2": "invalid_moment"} {
		status, data := h.ask(http.MethodGet, "/actor/hb/state?at="+query, "")
		if status < 400 || !strings.Contains(string(data), want) {
			t.Errorf("at %s is answered with %d %s, want %s", query, status, data, want)
		}
	}
}
