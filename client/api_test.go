package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

func serving(t *testing.T, status int, body string) *API {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return NewAPI(server.URL)
}

func TestARefusalIsTyped(t *testing.T) {
	_, err := serving(t, 409, `{"error":{"code":"name_taken","message":"m","hint":"h","field":"name"}}`).Deploy(context.Background(), model.DeployRequest{})
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != 409 || refused.Code != "name_taken" || refused.Hint != "h" || refused.Field != "name" {
		t.Fatalf("%+v", err)
	}
}

// An earlier moment can be read, and not changed: no request is sent.
func TestAMomentTakesNoOrders(t *testing.T) {
	past := serving(t, 200, "{}").At("h3")
	if _, err := past.Read(t.Context(), model.ReadRequest{}); err != nil {
		t.Error(err)
	}
	_, sent := past.Send(t.Context(), model.SendRequest{})
	_, submitted := past.SubmitWait(t.Context(), nil)
	_, paused := past.Pause(t.Context())
	for _, err := range []error{sent, submitted, paused} {
		if err == nil || !strings.Contains(err.Error(), "changes the present, and this client reads the moment h3") {
			t.Error(err)
		}
	}
}

func TestAnotherServerIsNamedAsSuch(t *testing.T) {
	_, err := serving(t, 404, "<html>").Height(context.Background())
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != "not_a_devnet" {
		t.Fatalf("%+v", err)
	}
	if _, err := serving(t, 200, "<html>").Height(context.Background()); err == nil || !strings.Contains(err.Error(), "is it a devnet?") {
		t.Fatal(err)
	}
	if _, err := serving(t, 200, "{}").Ready(context.Background()); err == nil {
		t.Fatal("an empty object passed as a network")
	}
}

func TestNoAnswerIsUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := NewAPI(server.URL).Height(context.Background())
	var unreachable *Unreachable
	if !errors.As(err, &unreachable) || unreachable.Address != server.URL || !strings.Contains(err.Error(), "connection refused") {
		t.Fatalf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewAPI(server.URL).Height(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("a cancelled call is %v", err)
	}
}

func TestEventsAreReadToTheirEnd(t *testing.T) {
	for name, c := range map[string]struct {
		stream, want, end string
	}{
		"whole": {": hello\nretry: 1\n\nid: 1.0\nevent: block\ndata: {\"a\":1}\n\n: alive\n\nid: 1.1\nevent: tx\ndata: {}\n\n", `1.0 block {"a":1};1.1 tx {};`,
			"EOF"},
		"half at the end": {"id: 1.0\nevent: block\ndata: {}\n\nid: 1.1\nevent: tx\ndata: {}\n", "1.0 block {};", "EOF"},
		"dropped":         {"event: dropped\ndata: {\"code\":\"slow_reader\",\"message\":\"too slow\"}\n\n", "", "too slow"},
		"nonsense":        {"event: dropped\ndata: no\n\n", "", "ended the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			err := serving(t, 200, c.stream).Events(context.Background(), Follow{}, func(e Event) error {
				got += e.ID + " " + e.Kind + " " + string(e.Data) + ";"
				return nil
			})
			if got != c.want || err == nil || !strings.Contains(err.Error(), c.end) {
				t.Fatalf("%q, %v", got, err)
			}
		})
	}
}

func TestTheQueryIsWhatWasAskedFor(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.RequestURI())
		_, _ = io.WriteString(w, "[]")
	}))
	defer server.Close()
	ctx, c := context.Background(), NewAPI(strings.TrimPrefix(server.URL, "http://")).OnNode("v2")
	_, _ = Collect(c.Timers(ctx, TimerFilter{Actor: "a b", Status: "fired"}, Page{Offset: 3, Limit: 4}))
	_, _ = Collect(c.State(ctx, "x/y", "0x01", Page{}))
	_, _ = c.Validators(ctx)
	want := []string{"GET /timers?actor=a+b&limit=4&node=v2&offset=3&status=fired", "GET /actor/x%2Fy/state?limit=1000&node=v2&prefix=0x01",
		"GET /validators"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s", strings.Join(got, "\n"))
	}
}

// FuzzEvents throws streams at the reader: it ends, and never panics.
func FuzzEvents(f *testing.F) {
	f.Add("id: 1.0\nevent: block\ndata: {}\n\n")
	f.Add("event: dropped\ndata: {\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		_, _ = scanEvents(strings.NewReader(stream), func(e Event) error {
			if e.Kind == "" {
				t.Fatal("an event without a kind was handed out")
			}
			return nil
		})
	})
}

// Requests that no command makes follow the API too.
func TestWhatOnlyOtherProgramsAskFor(t *testing.T) {
	var asked string
	answer := "{}"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = strings.TrimSpace(r.Method + " " + r.URL.String() + " " + string(body))
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	c, ctx := NewAPI(server.URL), t.Context()
	for want, ask := range map[string]func() error{
		"POST /submit_wait raw":           func() error { _, err := c.SubmitWait(ctx, []byte("raw")); return err },
		"GET /basefee":                    func() error { _, err := c.BaseFee(ctx); return err },
		`POST /faucet {"address":"0x01"}`: func() error { _, err := c.Faucet(ctx, "0x01"); return err },
	} {
		if err := ask(); err != nil || asked != want {
			t.Errorf("asked %q (%v), want %q", asked, err, want)
		}
	}
	answer = "[]"
	for want, ask := range map[string]func() error{
		"GET /jobs?limit=1000&runner=r0&status=Failed&submitter=bob": func() error {
			_, err := Collect(c.Jobs(ctx, JobFilter{Status: "Failed", Submitter: "bob", Runner: "r0"}, Page{}))
			return err
		},
		"GET /job/0x01/runners?limit=5":             func() error { _, err := Collect(c.JobRunners(ctx, "0x01", Page{Limit: 5})); return err },
		"GET /job/0x01/results?limit=1000&offset=5": func() error { _, err := Collect(c.JobResults(ctx, "0x01", Page{Offset: 5})); return err },
		"GET /runners?limit=1000&status=Unhealthy":  func() error { _, err := Collect(c.Runners(ctx, "Unhealthy", Page{})); return err },
	} {
		if err := ask(); err != nil || asked != want {
			t.Errorf("asked %q (%v), want %q", asked, err, want)
		}
	}
	answer = "{}"
	for want, ask := range map[string]func() error{
		"GET /job/0x01/story?limit=3&offset=2": func() error { _, err := c.JobStory(ctx, "0x01", 2, 3); return err },
		"GET /subsets":                         func() error { _, err := c.Subsets(ctx); return err },
		"GET /presence/7":                      func() error { _, err := c.Presence(ctx, 7); return err },
	} {
		if err := ask(); err != nil || asked != want {
			t.Errorf("asked %q (%v), want %q", asked, err, want)
		}
	}
	answer = `[{"height":7}]`
	if blocks, err := c.Blocks(ctx, 7, 2); err != nil || len(blocks) != 1 || blocks[0].Height != 7 || asked != "GET /blocks?from=7&limit=2" {
		t.Errorf("asked %q: %v %v", asked, blocks, err)
	}
}

// A read beyond its client's budget is asked again when the answer says, and given up in the end.
func TestAReadBeyondItsBudgetIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		code    string
		refused int
		asked   int
		waited  time.Duration
		ok      bool
	}{{"too_many_reads", 0, 1, 0, true}, {"too_many_reads", 2, 3, 6 * time.Second, true},
		{"too_many_reads", 99, 1 + maxReadRepeats, maxReadRepeats * 3 * time.Second, false}, {"pool_full", 2, 1, 0, false}} {
		asked, waited := 0, time.Duration(0)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked > c.refused {
				_, _ = io.WriteString(w, `{"height":7}`)
				return
			}
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"code":"`+c.code+`","message":"m"}}`)
		}))
		api := NewAPI(server.URL)
		api.wait = func(_ context.Context, d time.Duration) error {
			waited += d
			return nil
		}
		_, err := api.Height(context.Background())
		server.Close()
		if asked != c.asked || waited != c.waited || (err == nil) != c.ok {
			t.Errorf("%+v: asked %d times, waited %v, %v", c, asked, waited, err)
		}
	}
}

// Nodes ask each other without a proxy, and what others ask names it.
func TestDirectlyAsksNoProxy(t *testing.T) {
	a := NewAPI("127.0.0.1:1").Directly()
	transport, is := a.http.Transport.(*http.Transport)
	if !is || transport.Proxy != nil {
		t.Error("a node's request may go through a proxy")
	}
	if err := a.withoutAnswer(io.EOF); err.Proxy != "" {
		t.Errorf("%v", err)
	}
	said := (&Unreachable{Address: "http://192.0.2.2:4000", Cause: io.EOF, Proxy: "http://127.0.0.1:9"}).Error()
	if !strings.Contains(said, "through the proxy http://127.0.0.1:9") || !strings.Contains(said, "NO_PROXY") {
		t.Error(said)
	}
}
