package front

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// serveFault makes a fault. What is wrong with a request by itself a validator says, as of
// any request; where none answers, it is said here.
func (f *Front) serveFault(w http.ResponseWriter, r *http.Request) {
	if f.config.Strict {
		api.Answer(w, api.StrictRefusal("/devnet/fault"))
		return
	}
	body, err := io.ReadAll(r.Body) // the guard has bounded it
	var order fault.Order
	if err == nil {
		order, err = orderOf(body)
	}
	if err != nil {
		if len(f.validators()) == 0 {
			api.Answer(w, api.FaultRefused(err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.proxy.ServeHTTP(w, r)
		return
	}
	effect, err := f.config.World.Do(order)
	if err != nil {
		api.Answer(w, api.FaultRefused(err))
		return
	}
	f.mended(order)
	answer(w, http.StatusOK, api.ShowFault(effect))
}

// orderOf is the order of a request, which is sound by itself.
func orderOf(body []byte) (o fault.Order, err error) {
	var request model.FaultRequest
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err = d.Decode(&request); err == nil {
		o, err = api.OrderOf(&request)
	}
	if err == nil {
		err = o.Check()
	}
	return o, err
}

// mended forgets how a node ended by itself, where it was ended or started since.
func (f *Front) mended(o fault.Order) {
	switch o.Verb {
	case "crash", "drop", "rejoin", "restart":
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.ended, o.Node)
	}
}

// serveHeal mends all links, and answers the faults so far.
func (f *Front) serveHeal(w http.ResponseWriter, _ *http.Request) {
	if f.config.Strict {
		api.Answer(w, api.StrictRefusal("/devnet/heal"))
		return
	}
	if _, err := f.config.World.Do(fault.Order{Verb: "heal"}); err != nil {
		api.Answer(w, api.FaultRefused(err))
		return
	}
	answer(w, http.StatusOK, f.receipts())
}

func (f *Front) serveFaults(w http.ResponseWriter, _ *http.Request) {
	if f.config.Strict {
		api.Answer(w, api.StrictRefusal("/devnet/faults"))
		return
	}
	answer(w, http.StatusOK, f.receipts())
}

func (f *Front) receipts() []model.FaultReceipt {
	all := []model.FaultReceipt{}
	for _, effect := range f.config.World.Faults() {
		all = append(all, api.ShowFault(effect))
	}
	return all
}
