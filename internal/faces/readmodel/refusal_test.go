package readmodel

import (
	"errors"
	"net/http"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators"
)

// What a sender did is no fault of the devnet: it is refused with its code.
func TestARefusalOfTheHostHasItsCode(t *testing.T) {
	for _, err := range []error{validators.ErrLate, &validators.HostRefusal{Message: "send another in 2s"}} {
		var refused *api.Error
		if !errors.As(Refusal(err), &refused) || refused.Body.Code != api.CodeHostFailed || refused.Status != http.StatusServiceUnavailable {
			t.Errorf("%v is answered as %v", err, Refusal(err))
		}
	}
}
