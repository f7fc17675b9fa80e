package api

import (
	"net/http"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A refusal is answered with its words and the status of its code, also through other errors.
func TestARefusalIsAnsweredWithItsStatus(t *testing.T) {
	e := Answer(refusal.New("unknown_node", "no node is called %q", "v9").Hint("GET /ready lists them.").At("node"))
	want := model.ErrorBody{Code: "unknown_node", Message: `no node is called "v9"`, Hint: "GET /ready lists them.", Field: "node"}
	if e.Status != http.StatusNotFound || e.Body != want {
		t.Errorf("%+v", e)
	}
	if e := Answer(refusal.New("a code of the chain", "")); e.Status != http.StatusBadRequest {
		t.Errorf("%+v", e)
	}
	refused := refusal.OfReceipt(&types.Receipt{Status: types.StatusFailed, Error: &types.Fault{Code: "not_owner", Message: "no"}})
	if e := Answer(refused); e.Status != http.StatusConflict || e.Body.Code != "not_owner" || e.Body.Message != "no" {
		t.Errorf("%+v", e)
	}
	if e := Answer(http.ErrServerClosed); e != nil {
		t.Errorf("%+v", e)
	}
}
