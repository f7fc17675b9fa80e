package simulated

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/bench"
)

// talk is the test's end of a conversation.
type talk struct {
	t     *testing.T
	in    io.Writer
	out   *bufio.Reader
	asked int
	ended chan error
}

// begin begins a conversation, which ends with the test.
func begin(t *testing.T) *talk {
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	c := &talk{t: t, in: in, out: bufio.NewReader(out), ended: make(chan error, 1)}
	go func() {
		c.ended <- bench.Hold(t.Context(), inRead, outWrite, OpenBench("test", nil))
		outWrite.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// ask sends the fields of a frame and reads the status and the body of its answer.
func (c *talk) ask(fields string, into any) int {
	c.t.Helper()
	c.asked++
	fmt.Fprintf(c.in, "{\"id\": %d, %s}\n", c.asked, fields)
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	var a struct {
		ID     int
		Status int
		Body   json.RawMessage
	}
	if err := json.Unmarshal(line, &a); err != nil || a.ID != c.asked {
		c.t.Fatalf("%s is no answer to %d", line, c.asked)
	}
	if into != nil {
		if err := json.Unmarshal(a.Body, into); err != nil {
			c.t.Fatalf("%s: %v", line, err)
		}
	}
	return a.Status
}

// must asks for what has to be done.
func (c *talk) must(fields string, into any) {
	c.t.Helper()
	var body json.RawMessage
	if status := c.ask(fields, &body); status != http.StatusOK {
		c.t.Fatalf("%s is answered with %d: %s", fields, status, body)
	}
	if into != nil {
		if err := json.Unmarshal(body, into); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *talk) refused(fields, code string) {
	c.t.Helper()
	var e model.Error
	if status := c.ask(fields, &e); status < 400 || e.Error.Code != code || e.Error.Message == "" {
		c.t.Errorf("%s is answered with %d, %+v, and not with %s", fields, status, e.Error, code)
	}
}

const (
	send    = `"do": "request", "method": "POST", "path": "/devnet/send", "body": `
	advance = `"do": "request", "method": "POST", "path": "/devnet/advance", "body": `
	start   = send + `{"from": "bob", "to": "heart", "handler": "start", "payload": "0x0000000000000003"}`
	pay     = send + `{"from": "alice", "to": "bob", "value": "5"}`
)

func get(path string) string { return `"do": "request", "method": "GET", "path": "` + path + `"` }

func TestABenchGoesBackToItsSnapshots(t *testing.T) {
	c := begin(t)
	c.must(`"do": "open", "open": {"version": 1, "seed": 5}`, nil)
	var deployed model.Deployed
	c.must(`"do": "request", "method": "POST", "path": "/devnet/deploy",`+
		`"body": {"from": "alice", "code": "go:heartbeat", "name": "heart", "fund": "1000000000000"}`, &deployed)
	var before model.Height
	c.must(get("/height"), &before)
	c.must(`"do": "snapshot"`, nil)
	var receipts []model.Receipt
	for range 3 {
		c.must(`"do": "revert", "snapshot": 1`, nil)
		var at model.Height
		if c.must(get("/height"), &at); at != before {
			t.Fatalf("it goes back to height %d, and the snapshot was at %d", at.Height, before.Height)
		}
		var r model.Receipt
		if c.must(start, &r); r.Status != "ok" {
			t.Fatalf("the call ended with %s: %+v", r.Status, r.Error)
		}
		receipts = append(receipts, r)
		var travelled model.Advance
		if c.must(advance+`{"blocks": 20}`, &travelled); travelled.Fired < 5 {
			t.Fatalf("on 20 blocks a heart that beats every third fired %d times", travelled.Fired)
		}
	}
	for _, r := range receipts[1:] {
		if r.Hash != receipts[0].Hash || r.Height != receipts[0].Height || r.Fee.Cmp(receipts[0].Fee) != 0 {
			t.Errorf("the same call after a revert has another receipt: %+v, %+v", r, receipts[0])
		}
	}
}

func TestABenchSendsWithoutWaiting(t *testing.T) {
	c := begin(t)
	c.must(`"do": "open", "open": {"version": 1}`, nil)
	var one, two model.Submitted
	a, b := c.ask(`"wait": false, `+pay, &one), c.ask(`"wait": false, `+pay, &two)
	if a != http.StatusAccepted || b != http.StatusAccepted || one == two {
		t.Fatalf("two payments are answered with %d %v, %d %v", a, one, b, two)
	}
	c.must(advance+`{"blocks": 2}`, nil)
	for _, sent := range []model.Submitted{one, two} {
		var r model.Receipt
		if c.must(get("/transaction/"+sent.Hash.String()+"/receipt"), &r); r.Status != "ok" {
			t.Errorf("a payment ended with %s", r.Status)
		}
	}
	c.must(`"do": "snapshot"`, nil)
}

// A fault of the scenarios' is made, and no snapshot while it is in force; who waits
// for a transaction sees the network through it.
func TestABenchHasTheScenariosFaults(t *testing.T) {
	c := begin(t)
	c.must(`"do": "open", "open": {"version": 1, "validators": 4, "apart": true}`, nil)
	fault := func(body string) string {
		return `"do": "request", "method": "POST", "path": "/devnet/fault", "body": ` + body
	}
	c.must(fault(`{"verb": "crash", "node": "v1"}`), nil)
	c.refused(`"do": "snapshot"`, "not_at_rest")
	var r model.Receipt
	if c.must(pay, &r); r.Status != "ok" {
		t.Fatalf("it ended with %s", r.Status)
	}
	c.must(fault(`{"verb": "restart", "node": "v1"}`), nil)
	c.must(advance+`{"blocks": 3}`, nil)
	c.must(`"do": "snapshot"`, nil)
	var set model.ParamChange
	c.must(`"do": "request", "method": "POST", "path": "/devnet/params", "body": {"key": "cip3.min_basefee", "value": "7"}`,
		&set)
	if set.Height == 0 {
		t.Errorf("a parameter holds from no height: %+v", set)
	}
	var move model.Move
	c.must(`"do": "request", "method": "POST", "path": "/devnet/validator/join", "body": {}`, &move)
	if move.Name != "v4" || move.Status != "joining" {
		t.Errorf("who joins stands so: %+v", move)
	}
}

// A job waits for its result, and a network with an open job is not at rest; the same
// runners are there after a revert.
func TestABenchDeliversTheResultOfAJob(t *testing.T) {
	c := begin(t)
	c.must(`"do": "open", "open": {"version": 1, "runners": 2}`, nil)
	c.must(`"do": "snapshot"`, nil)
	c.refused(`"do": "answer", "job": "0x`+strings.Repeat("11", 32)+`", "result": "0x01"`, "refused")
	for range 2 {
		c.must(`"do": "revert", "snapshot": 1`, nil)
		var job model.Job
		c.must(`"do": "request", "method": "POST", "path": "/devnet/job/submit",`+
			`"body": {"from": "alice", "kind": "custom", "executor": "manual", "params": "hello"}`, &job)
		c.must(`"do": "run", "for": "5s"`, nil)
		c.refused(`"do": "snapshot"`, "not_at_rest")
		c.must(`"do": "answer", "job": "`+job.ID.String()+`", "result": "0x6f6b"`, nil)
		c.must(`"do": "run", "for": "5s"`, nil)
		if c.must(get("/job/"+job.ID.String()), &job); job.Status != "Completed" {
			t.Fatalf("the job is %s", job.Status)
		}
	}
}

func TestABenchRefusesWhatIsNoFrame(t *testing.T) {
	c := begin(t)
	c.refused(get("/height"), "not_open")
	c.refused(`"do": "open"`, "invalid_request")
	c.refused(`"do": "open", "open": {"version": 2}`, "version")
	c.refused(`"do": "open", "open": {"version": 1, "validators": 101}`, "invalid_request")
	c.refused(`"do": "open", "open": {"version": 1, "block_time": "500"}`, "invalid_request")
	c.refused(`"do": "open", "open": {"version": 1, "params": {"no.such": "1"}}`, "invalid_request")
	c.must(`"do": "open", "open": {"version": 1}`, nil)
	c.refused(`"do": "open", "open": {"version": 1}`, "open")
	c.refused(`"do": "dance"`, "unknown_verb")
	c.refused(`"do": "revert", "snapshot": 1`, "unknown_snapshot")
	c.refused(`"do": "run", "for": "2h"`, "invalid_duration")
	c.refused(`"do": "run"`, "invalid_duration")
	c.refused(get("/events"), "no_stream")
	c.refused(get("/metrics?x"), "no_stream")
	c.refused(get("height"), "invalid_request")
	c.refused(get("/no/such"), "unknown_path")
	c.refused(send+`{"to": 5}`, "invalid_request")
	c.must(get("/height"), nil)
}

func TestAFrameThatIsNoneIsRefused(t *testing.T) {
	for _, text := range []string{"hello\n", `{"id": 1, "dance": true}` + "\n", "[]\n"} {
		c := begin(t)
		fmt.Fprint(c.in, text)
		line, err := c.out.ReadString('\n')
		if err != nil || !strings.Contains(line, "invalid frame") {
			t.Errorf("%q is answered with %q, %v", text, line, err)
		}
	}
	for text, want := range map[string]string{strings.Repeat(" ", bench.MaxFrameBytes+1): "at most", `{"id": 1`: "within a frame"} {
		var out strings.Builder
		err := bench.Hold(t.Context(), strings.NewReader(text), &out, OpenBench("test", nil))
		if err == nil || !strings.Contains(out.String(), want) {
			t.Errorf("it ends with %v, and says %.200s", err, out.String())
		}
	}
}
