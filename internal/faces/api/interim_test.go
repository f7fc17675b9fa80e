package api

import (
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Who asks for it is told the hash of a transaction as soon as the pool has it, and before it is
// final. Nobody else gets a response before the last.
func TestAClientIsToldWhatItHandedIn(t *testing.T) {
	for _, asks := range []bool{true, false} {
		w := newWorld(t)
		listening := httptest.NewServer(w.server.Handler())
		told := ""
		trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
			if told = header.Get(model.TransactionHeader); code != http.StatusProcessing {
				t.Errorf("status %d", code)
			}
			w.chain.mine() // only now is it final
			return nil
		}}
		w.chain.auto = !asks
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, listening.URL+"/faucet",
			strings.NewReader(`{"address":"alice"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		if asks {
			request.Header.Set(model.InterimHeader, model.InterimWanted)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		_ = response.Body.Close()
		listening.Close()
		if asks != strings.HasPrefix(told, "0x") {
			t.Errorf("asked: %v, told %q", asks, told)
		}
	}
}
