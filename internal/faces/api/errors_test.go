package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// TestEveryErrorHasItsStatusAndCode goes through what a client can do wrong.
func TestEveryErrorHasItsStatusAndCode(t *testing.T) {
	w := newWorld(t)
	ping := w.deploy("ping")
	zero := "0x" + strings.Repeat("0", 64)
	send := func(change func(*model.SendRequest)) model.SendRequest {
		r := model.SendRequest{From: "alice", To: "ping", Handler: "echo"}
		change(&r)
		return r
	}
	deploy := func(change func(*model.DeployRequest)) model.DeployRequest {
		r := model.DeployRequest{From: "alice", Code: "x"}
		change(&r)
		return r
	}
	for _, c := range []struct {
		name         string
		status       int
		code, field  string
		method, path string
		body         any
	}{
		{"unknown path", 404, "unknown_path", "", "GET", "/nothing", nil},
		{"no folder of the author's", 404, "unknown_path", "", "GET", "/app/index.html", nil},
		{"path of nothing", 404, "unknown_path", "", "GET", "/dashboards", nil},
		{"wrong method", 405, "method_not_allowed", "", "POST", "/height", "{}"},
		{"unsupported method", 405, "method_not_allowed", "", "DELETE", "/faucet", nil},
		{"unknown query parameter", 422, "invalid_request", "colour", "GET", "/height?colour=red", nil},
		{"unknown node", 404, "unknown_node", "node", "GET", "/height?node=v9", nil},
		{"no block", 400, "invalid_block", "id", "GET", "/block/yesterday", nil},
		{"height above the head", 404, "unknown_block", "id", "GET", "/block/99", nil},
		{"unknown block hash", 404, "unknown_block", "id", "GET", "/block/" + zero, nil},
		{"list limit above the most", 422, "invalid_request", "limit", "GET", "/blocks?limit=1001", nil},
		{"list limit of none", 422, "invalid_request", "limit", "GET", "/actors?limit=0", nil},
		{"negative offset", 422, "invalid_request", "offset", "GET", "/timers?offset=-1", nil},
		{"invalid height", 422, "invalid_request", "from", "GET", "/blocks?from=soon", nil},
		{"invalid hash", 400, "invalid_hash", "hash", "GET", "/transaction/0x12", nil},
		{"unknown transaction", 404, "unknown_transaction", "hash", "GET", "/transaction/" + zero, nil},
		{"receipt of nothing", 404, "unknown_transaction", "hash", "GET", "/transaction/" + zero + "/receipt", nil},
		{"address too short", 400, "invalid_address", "address", "GET", "/account/0x12", nil},
		{"unknown name", 404, "unknown_name", "address", "GET", "/account/nobody", nil},
		{"account without an actor", 404, "unknown_actor", "address", "GET", "/actor/alice", nil},
		{"logs of nobody", 404, "unknown_name", "address", "GET", "/actor/nobody/logs", nil},
		{"prefix of odd digits", 400, "invalid_bytes", "prefix", "GET", "/actor/ping/state?prefix=0x1", nil},
		{"read without actor", 422, "invalid_request", "actor", "POST", "/actor/read", map[string]string{"handler": "x"}},
		{"read of nobody", 404, "unknown_name", "actor", "POST", "/actor/read", model.ReadRequest{Actor: "nobody", Handler: "x"}},
		{"read by nobody", 404, "unknown_name", "from", "POST", "/actor/read", model.ReadRequest{Actor: "ping", Handler: "x", From: "nobody"}},
		{"host crashed", 500, "internal", "", "POST", "/actor/read", model.ReadRequest{Actor: "ping", Handler: "crash"}},
		{"invalid timer id", 400, "invalid_hash", "id", "GET", "/timer/7", nil},
		{"unknown timer", 404, "unknown_timer", "id", "GET", "/timer/" + zero, nil},
		{"unknown timer status", 422, "invalid_request", "status", "GET", "/timers?status=late", nil},
		{"unknown event type", 400, "invalid_type", "type", "GET", "/events?type=weather", nil},
		{"events to nowhere", 400, "invalid_to", "to", "GET", "/events?from=1&to=99", nil},
		{"events to what is before them", 400, "missing_from", "from", "GET", "/events?to=1", nil},
		{"bid of nobody", 404, "unknown_name", "bidder", "POST", "/actor/bid", model.BidRequest{Bidder: "nobody"}},
		{"bid for nobody", 404, "unknown_name", "actor", "POST", "/actor/bid", model.BidRequest{Bidder: "ping", Actor: "nobody"}},
		{"bid under fifo", 409, "timer_policy_unknown", "", "POST", "/actor/bid", model.BidRequest{Bidder: "ping"}},
		{"events of nobody", 404, "unknown_name", "actor", "GET", "/events?actor=nobody", nil},
		{"body that is not JSON", 400, "invalid_request", "", "POST", "/faucet", "{"},
		{"empty body", 400, "invalid_request", "", "POST", "/faucet", ""},
		{"field of the wrong type", 422, "invalid_request", "address", "POST", "/faucet", `{"address":7}`},
		{"unknown field", 422, "invalid_request", "amount", "POST", "/faucet", `{"address":"alice","amount":1}`},
		{"faucet for nobody", 404, "unknown_name", "address", "POST", "/faucet", model.FaucetRequest{Address: "nobody"}},
		{"submit of JSON without tx", 400, "invalid_request", "tx", "POST", "/submit", `{}`},
		{"submit of JSON with more", 400, "invalid_request", "tx", "POST", "/submit", `{"tx":"0x00","y":1}`},
		{"submit of no hex", 400, "invalid_request", "tx", "POST", "/submit", `{"tx":"zz"}`},
		{"submit of no transaction", 400, "malformed", "", "POST", "/submit", "\x01\x02"},
		{"submit_wait of no transaction", 400, "malformed", "", "POST", "/submit_wait", "\x01\x02"},
		{"send by a stranger", 404, "unknown_signer", "from", "POST", "/devnet/send", send(func(r *model.SendRequest) { r.From = "mallory" })},
		{"send to nobody", 404, "unknown_name", "to", "POST", "/devnet/send", send(func(r *model.SendRequest) { r.To = "nobody" })},
		{"send of half a byte", 400, "invalid_bytes", "payload", "POST", "/devnet/send",
			send(func(r *model.SendRequest) { r.Payload = "0xabc" })},
		{"payload without handler", 400, "invalid_request", "handler", "POST", "/devnet/send",
			send(func(r *model.SendRequest) { r.Handler, r.Payload = "", "x" })},
		{"sponsor without handler", 400, "invalid_request", "sponsor", "POST", "/devnet/send",
			send(func(r *model.SendRequest) { r.Handler, r.Payload, r.Sponsor = "", "", new(types.WeiOf(1)) })},
		{"invalid amount", 422, "invalid_request", "", "POST", "/devnet/send", `{"from":"alice","to":"bob","value":"much"}`},
		{"deploy of nothing", 422, "invalid_request", "code", "POST", "/devnet/deploy", deploy(func(r *model.DeployRequest) { r.Code = "" })},
		{"deploy by a stranger", 404, "unknown_signer", "from", "POST", "/devnet/deploy",
			deploy(func(r *model.DeployRequest) { r.From = "mallory" })},
		{"deploy under a taken name", 409, "name_taken", "name", "POST", "/devnet/deploy",
			deploy(func(r *model.DeployRequest) { r.Name = "ping" })},
		{"deploy under an account's name", 409, "name_taken", "name", "POST", "/devnet/deploy",
			deploy(func(r *model.DeployRequest) { r.Name = "bob" })},
		{"deploy under an address", 400, "invalid_name", "name", "POST", "/devnet/deploy",
			deploy(func(r *model.DeployRequest) { r.Name = "0xbeef" })},
		{"deploy under a path", 400, "invalid_name", "name", "POST", "/devnet/deploy", deploy(func(r *model.DeployRequest) { r.Name = "a/b" })},
		{"init of half a byte", 400, "invalid_bytes", "init", "POST", "/devnet/deploy", deploy(func(r *model.DeployRequest) { r.Init = "0x1" })},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{t, w.chain, w.server}
			if e := w.refused(c.status, c.code, c.method, c.path, c.body); e.Field != c.field {
				t.Fatalf("the field is %q, want %q: %+v", e.Field, c.field, e)
			}
		})
	}
	if ping.Receipt.Status != "ok" {
		t.Fatal("the deploy failed")
	}
	if h := get[model.Height](w, "/height").Height; h != 1 {
		t.Fatalf("a refused request made a block: height %d", h)
	}
}

func TestANameOfTwoActorsIsAmbiguous(t *testing.T) {
	w := newWorld(t)
	w.deploy("twin")
	w.chain.actors[types.Address{9}] = &answers.Actor{Address: types.Address{9}, Name: "twin"}
	w.refused(409, "ambiguous_name", "GET", "/actor/twin", nil)
}

func TestABrokenNodeAnswers500AndSaysSo(t *testing.T) {
	w := newWorld(t)
	w.chain.broken = errors.New("the disk is on fire")
	e := w.refused(500, "internal", "GET", "/height", nil)
	if !strings.Contains(e.Message, "the disk is on fire") {
		t.Fatalf("the cause is missing: %+v", e)
	}
}

func TestARefusedTransactionKeepsItsCode(t *testing.T) {
	w := newWorld(t)
	w.chain.refuse = func(*types.Transaction) error {
		return Refuse(http.StatusUnprocessableEntity, "insufficient_funds", "alice has 3 wei")
	}
	w.refused(422, "insufficient_funds", "POST", "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	w.chain.refuse = nil
	r := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	if tx := get[model.Transaction](w, "/transaction/"+r.Hash.String()); tx.Nonce != 0 {
		t.Fatalf("the refused transaction kept its nonce: the next has %d", tx.Nonce)
	}
}

func TestAStrictNetworkRefusesEveryCheat(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.strict = true })
	for _, route := range routes { // whatever the shape of the body
		method, path, _ := strings.Cut(route, " ")
		if strings.HasPrefix(path, "/devnet/") || path == "/faucet" {
			w.refused(403, "strict", method, path, map[string]any{"no such": 5})
		}
	}
	w.refused(403, "strict", "POST", "/faucet", model.FaucetRequest{Address: "alice"})
	w.refused(403, "strict", "GET", "/devnet/accounts", nil)
	w.refused(403, "strict", "POST", "/devnet/job/submit", model.JobRequest{Kind: "custom", Executor: "echo"})
	w.refused(403, "strict", "POST", "/devnet/job/cancel", model.JobOrder{ID: "0x11"})
	w.refused(403, "strict", "POST", "/devnet/runner/join", model.RunnerRequest{})
	w.refused(403, "strict", "POST", "/devnet/runner/leave", model.RunnerOrder{Runner: "r0"})
	w.refused(403, "strict", "POST", "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	w.refused(403, "strict", "POST", "/devnet/deploy", model.DeployRequest{From: "alice", Code: "x"})
	if w.chain.submits != 0 {
		t.Fatal("a cheat was submitted")
	}
}

// Names that an operator adds count, with any port and in any case, and so do all names below one
// that begins with a dot. Nothing else does.
func TestAddedNamesAreHosts(t *testing.T) {
	w := newWorldOf(t, Config{Hosts: []string{"devnet", "Docker.Internal", ".preview.example.org"}})
	for _, host := range []string{"devnet", "devnet:4000", "DEVNET", "devnet.",
		"docker.internal:1", "a-4000.preview.example.org", "x.y.preview.example.org:443"} {
		if status, body := w.call("GET", "/health", nil, "Host", host); status != 200 {
			t.Errorf("Host %q: %d %s", host, status, body)
		}
	}
	for _, host := range []string{"devnet.example.org", "xdevnet", "preview.example.org", ".preview.example.org", "evilpreview.example.org",
		"preview.example.org.evil.example"} {
		w.refused(403, "forbidden_host", "GET", "/height", nil, "Host", host)
	}
}

func TestParseHost(t *testing.T) {
	for text, want := range map[string]string{"devnet": "devnet", "Devnet.Example.ORG.": "devnet.example.org",
		"host.docker.internal": "host.docker.internal",
		".example.org":         ".example.org", "my_service": "my_service"} {
		if got, err := ParseHost(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{"": "no name", "*": "pattern", "*.example.org": "write .NAME", "http://devnet": "leave scheme",
		"devnet:4000": "has a port",
		"10.0.0.7":    "is an address", "[::1]": "is an address", ".org": "of the top", ".": "no name", "..example.org": "no name",
		"a b":                    "no name",
		strings.Repeat("a", 301): "at most 300"} {
		if got, err := ParseHost(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, says)
		}
	}
}

func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, host := range []string{"evil.example", "evil.example:4000", "127.0.0.1.evil.example", "localhost.evil.example", ""} {
		w.refused(403, "forbidden_host", "GET", "/height", nil, "Host", host)
	}
	for _, host := range []string{"localhost", "localhost:4000", "LOCALHOST:1", "127.0.0.1", "[::1]:4000", "10.0.0.7:4000",
		"devnet.localhost"} {
		if status, body := w.call("GET", "/health", nil, "Host", host); status != 200 {
			t.Errorf("Host %q: %d %s", host, status, body)
		}
	}
	w.refused(403, "forbidden_origin", "POST", "/faucet", model.FaucetRequest{Address: "alice"}, "Origin", "https://evil.example")
	w.refused(403, "forbidden_origin", "POST", "/faucet", model.FaucetRequest{Address: "alice"}, "Sec-Fetch-Site", "cross-site")
}

func TestAConfiguredHostIsServed(t *testing.T) {
	server := New(newMemory(), Config{Hosts: []string{"devnet.example"}})
	t.Cleanup(func() { _ = server.Close() })
	w := &world{t, nil, server}
	if status, _ := w.call("GET", "/health", nil, "Host", "devnet.example:4000"); status != 200 {
		t.Fatal(status)
	}
}

func TestABodyOverTheLimitIsRefused(t *testing.T) {
	w := newWorld(t)
	w.refused(413, "too_large", "POST", "/submit", strings.Repeat("x", MaxBodyBytes+1))
	w.refused(400, "malformed", "POST", "/submit", strings.Repeat("x", MaxBodyBytes))
}

func TestWaitersAreLimitedAndFreed(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.auto = false })
	w.server.waiters.taken = make(chan struct{}, 1)
	free, err := w.server.waiters.takePlace()
	if err != nil {
		t.Fatal(err)
	}
	w.refused(503, "too_many_waiters", "POST", "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	w.refused(503, "too_many_waiters", "POST", "/submit_wait", "\x01")
	if w.chain.submits != 0 {
		t.Fatal("a transaction was submitted though no caller could wait for it")
	}
	free()
	w.chain.auto = true
	post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	if len(w.server.waiters.taken) != 0 {
		t.Fatal("the place was not given back")
	}
}

func TestReadsAreLimited(t *testing.T) {
	w := newWorld(t)
	w.deploy("ping")
	w.server.reads.taken = make(chan struct{})
	w.refused(503, "too_many_running", "POST", "/actor/read", model.ReadRequest{Actor: "ping", Handler: "x"})
	w.refused(503, "too_many_running", "POST", "/devnet/send", model.SendRequest{From: "alice", To: "ping", Handler: "x", DryRun: true})
}

func TestWhatIsNotFinalInTimeSaysHowToGoOn(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.auto = false })
	w.server.patience = time.Nanosecond
	e := w.refused(504, "not_final", "POST", "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	hash := w.chain.pool[0].Hash().String()
	if !strings.Contains(e.Message, hash) || !strings.Contains(e.Hint, "/transaction/"+hash+"/receipt") {
		t.Fatalf("the hash is missing: %+v", e)
	}
	w.refused(404, "not_final", "GET", "/transaction/"+hash+"/receipt", nil)
	if tx := get[model.Transaction](w, "/transaction/"+hash); tx.Status != "pending" || tx.Height != nil {
		t.Fatalf("%+v", tx)
	}
	w.chain.mine()
	if r := get[model.Receipt](w, "/transaction/"+hash+"/receipt"); r.Status != "ok" {
		t.Fatalf("%+v", r)
	}
}

func TestADeployThatNobodyCanExecuteIsRefusedAtOnce(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.hostless = true })
	w.refused(503, answers.CodeNoProgramHost, "POST", "/devnet/deploy", model.DeployRequest{From: "alice", Code: "x", Name: "n"})
	if w.chain.submits != 0 || len(w.server.claims.held) != 0 {
		t.Fatal("it was submitted, or its name is still claimed")
	}
}

// TestARefusalIsTheSameEveryTime: huma finds unknown parameters in the order of
// a map, and who tests against the answer sees one.
func TestARefusalIsTheSameEveryTime(t *testing.T) {
	w := newWorld(t)
	for range 20 {
		e := w.refused(422, "invalid_request", "GET", "/height?zebra=1&apple=1&moose=1", nil)
		if want := "apple: unknown query parameter; moose: unknown query parameter; zebra: unknown query parameter"; e.Message != want {
			t.Fatalf("%q, want %q", e.Message, want)
		}
	}
}
