package api

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A body that stops coming is answered in time and its connection closed, so that
// who sends slowly holds no connection.
func TestABodyThatStopsComingIsAnsweredInTime(t *testing.T) {
	w := newWorld(t)
	w.server.bodyTime = 50 * time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = w.server.Serve(listener) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, "POST /submit HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "+
		"100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(body), "too_slow") {
		t.Errorf("%d %s %v", answer.StatusCode, body, err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection stays open: %v", err)
	}
}

// An id or address may be shortened as long as it stays the only one.
func TestIDsMayBeShortened(t *testing.T) {
	w := newWorld(t)
	a := w.deploy("one").Address
	w.deploy("two")
	id := w.chain.addTimer(a, 20, types.TimerPending)
	sent := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: a.String()[:12], Handler: "go"})
	if sent.To != a {
		t.Fatalf("the call went to %s, not %s", sent.To, a)
	}
	text, hash := a.String(), sent.Hash.String()
	for _, short := range []string{text[:10], strings.ToUpper(text[2:12]), text[:8] + "…" + text[38:], text[:8] + "..." + text[38:]} {
		if !strings.HasPrefix(short, "0x") {
			short = "0x" + short
		}
		if got := get[model.Actor](w, "/actor/"+short); got.Address != a {
			t.Errorf("%s is %s", short, got.Address)
		}
	}
	if got := get[model.TimerDetail](w, "/timer/"+id.String()[:9]); got.ID != id { // an odd number of digits
		t.Errorf("another timer: %s", got.ID)
	}
	if got := get[model.Transaction](w, "/transaction/"+hash[:20]); got.Hash != sent.Hash {
		t.Errorf("another transaction: %s", got.Hash)
	}
	if got := get[model.Receipt](w, "/transaction/"+hash[:20]+"/receipt"); got.Hash != sent.Hash {
		t.Errorf("another receipt: %s", got.Hash)
	}
	latest := get[model.Block](w, "/block/latest")
	if got := get[model.Block](w, "/block/"+latest.Hash.String()[:30]); got.Height != latest.Height {
		t.Errorf("another block: %d", got.Height)
	}
	w.refused(400, "invalid_hash", "GET", "/timer/0x22", nil) // too short to be meant
	w.refused(404, "unknown_prefix", "GET", "/timer/0x22222222", nil)
	w.refused(404, "unknown_prefix", "GET", "/actor/0x22222222", nil)
	// A request that matches two is answered with both.
	twin := a
	twin[19] ^= 1
	w.chain.actors[twin] = &answers.Actor{Address: twin}
	if e := w.refused(409, "ambiguous_prefix", "GET", "/actor/"+text[:12], nil); !strings.Contains(e.Message, twin.String()) {
		t.Error(e.Message)
	}
}

// A block's executions are listed whole, with their printed lines, and failed ones
// are found by their actor.
func TestReceiptsAreListedByBlockAndActor(t *testing.T) {
	w := newWorld(t)
	a := w.deploy("one").Address
	sent := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "one", Handler: "go"})
	if len(sent.Logs) != 1 || sent.Logs[0] != "ran go" {
		t.Errorf("the call printed %q", sent.Logs)
	}
	if dry := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "one", Handler: "go",
		DryRun: true}); len(dry.Logs) != 1 {
		t.Errorf("the dry run printed %q", dry.Logs)
	}
	in := get[[]model.Receipt](w, "/block/latest/receipts")
	if len(in) != 1 || in[0].Hash != sent.Hash || len(in[0].Logs) != 1 {
		t.Errorf("the block executed %+v", in)
	}
	w.chain.mu.Lock()
	last := w.chain.blocks[len(w.chain.blocks)-1]
	last.Receipts = append(last.Receipts, types.Receipt{Hash: types.Hash{9}, Origin: types.OriginMessage, To: a, Handler: "boom",
		Status: types.StatusReverted})
	w.chain.mu.Unlock()
	if failed := get[[]model.Receipt](w, "/actor/one/receipts?failed=true"); len(failed) != 1 || failed[0].Handler != "boom" ||
		failed[0].Origin != "message" {
		t.Errorf("failed: %+v", failed)
	}
	all := get[[]model.Receipt](w, "/actor/one/receipts")
	if len(all) < 2 || all[0].Handler != "boom" || all[1].Handler != "go" {
		t.Errorf("newest first: %+v", all)
	}
}

// A list that history makes longer begins with the newest if that is requested.
func TestListsBeginWithTheNewest(t *testing.T) {
	w := newWorld(t)
	a := w.deploy("one").Address
	for _, due := range []types.Height{10, 20, 30} {
		w.chain.addTimer(a, due, types.TimerPending)
	}
	if timers := get[[]model.Timer](w, "/timers?order=newest&limit=2"); len(timers) != 2 || timers[0].Height != 30 || timers[1].Height != 20 {
		t.Errorf("%+v", timers)
	}
	for range 3 {
		post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "one", Handler: "go"})
	}
	if lines := get[[]model.LogLine](w, "/actor/one/logs?order=newest&limit=1"); len(lines) != 1 || lines[0].Height != 4 {
		t.Errorf("%+v", lines)
	}
	w.refused(422, "invalid_request", "GET", "/timers?order=last", nil)
}
