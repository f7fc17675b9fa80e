package app

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// spoken is what a command says while it waits.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	select {
	case s.news <- struct{}{}:
	default:
	}
	return n, err
}

func (s *spoken) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// stuck is a network that takes transactions, and makes no block for them.
func stuck(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ready" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"chain_id":7,"since_block_ms":4200,"stalled":"partition v0,v1 / v2,v3 is in force"}`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, r)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return server
}

// A command says after a while that it waits, and why; interrupted, it says what becomes of what
// it handed in. Who reads the word alone pays twice.
func TestAnOrderThatIsNotFinalIsTold(t *testing.T) {
	hash := "0x1f2e3d4c" + strings.Repeat("0", 56)
	handIn := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(model.TransactionHeader, hash)
		w.WriteHeader(http.StatusProcessing)
	}
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request)
		args   []string
		want   []string // the first is told before the interrupt, the others after it
	}{
		{"handed in", handIn, []string{"transfer", "bob", "7"},
			[]string{"Handed in as 0x1f2e3d4c, and not final after", "s: no block for 4.2s: partition v0,v1 / v2,v3 is in force.",
				"devnet: interrupted: the transaction is handed in, and not final", "devnet tx 0x1f2e3d4c shows its end."}},
		{"without an answer", func(http.ResponseWriter, *http.Request) {}, []string{"faucet", "bob"},
			[]string{"Waiting for the answer after", "s: no block for 4.2s", "devnet: interrupted before the network answered"}},
		{"a journey", func(http.ResponseWriter, *http.Request) {}, []string{"advance", "--blocks", "9"},
			[]string{"Waiting for the answer after", "devnet: interrupted: the network travels on", "devnet advance --stop ends it."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := stuck(t, c.answer)
			ctx, interrupt := context.WithCancel(t.Context())
			errs := &spoken{news: make(chan struct{}, 1)}
			w := command.NewWaiting(errs, false)
			w.First, w.Next = time.Millisecond, time.Millisecond
			ended := make(chan int, 1)
			go func() {
				args := append(append([]string{"devnet"}, c.args...), "--http", server.URL)
				ended <- runWaiting(ctx, w, args, io.Discard, errs)
			}()
			said := func() string { return strings.Join(strings.Fields(errs.all()), " ") }
			for !strings.Contains(said(), c.want[0]) { // the first line may come before word of the transaction
				<-errs.news
			}
			interrupt()
			if code := <-ended; code != failure.ExitFailed {
				t.Errorf("exit code %d", code)
			}
			for _, want := range c.want {
				if !strings.Contains(said(), want) {
					t.Errorf("no %q in\n%s", want, errs.all())
				}
			}
		})
	}
}
