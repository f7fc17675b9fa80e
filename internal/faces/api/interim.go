package api

import (
	"net/http"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// interim sends interim responses of one request.
type interim struct {
	mu     sync.Mutex
	writer http.ResponseWriter // nil once the request is answered
}

// answerInterim lets the handlers of requests that ask for it tell the hashes of transactions.
func answerInterim(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(model.InterimHeader) != model.InterimWanted {
			next.ServeHTTP(w, r)
			return
		}
		i := &interim{writer: w}
		defer i.endInterim()
		next.ServeHTTP(w, r.WithContext(answers.WatchHandedIn(r.Context(), i.tellHash)))
	})
}

func (i *interim) tellHash(hash types.Hash) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.writer == nil {
		return
	}
	i.writer.Header().Set(model.TransactionHeader, hash.String())
	i.writer.WriteHeader(http.StatusProcessing)
}

func (i *interim) endInterim() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.writer = nil
}
