package control

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// What a validator has its driver do reaches it over the stream, and its answer, or its
// refusal, comes back as it was given; nobody else can listen.
func TestAValidatorHasItsDriverDoThings(t *testing.T) {
	const secret = "a secret of a driver"
	seat := NewValidatorSeat(secret)
	seat.begin()
	server := httptest.NewServer(seat)
	defer server.Close()
	defer seat.Close()
	if seat.Listens() {
		t.Error("nobody drives it yet")
	}
	stranger := NewClient(func() string { return server.URL }, "another secret of somebody")
	if err := stranger.Asks(t.Context(), func(Ask) {}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a stranger listens: %v", err)
	}

	driver := NewClient(func() string { return server.URL }, secret)
	defer driver.Close()
	ctx, leave := context.WithCancel(t.Context())
	over := make(chan struct{})
	joining := box.Joining{Name: "v4", Address: types.Address{4}, Endpoint: "127.0.0.1:4009"}
	go func() {
		defer close(over)
		_ = driver.Asks(ctx, func(a Ask) {
			r := Reply{ID: a.ID, Joining: joining}
			if a.Verb == AskPace {
				r.Refuse(api.Refuse(http.StatusConflict, "advancing", "another advance is under way").Hint("Wait."))
			}
			if err := driver.Reply(context.Background(), r); err != nil {
				t.Error(err)
			}
		})
	}()
	have, err := seat.StartValidator(t.Context(), "v4")
	if err != nil || have != joining {
		t.Errorf("%+v, %v", have, err)
	}
	if !seat.Listens() {
		t.Error("a driver listens")
	}
	refused, is := seat.Pace(true).(*api.Error)
	if !is || refused.Status != http.StatusConflict || refused.Body.Code != "advancing" || refused.Body.Hint != "Wait." {
		t.Errorf("%+v", refused)
	}
	leave()
	<-over

	gone, cancel := context.WithCancel(t.Context())
	cancel() // who asked has gone
	if _, err := seat.StartValidator(gone, "v5"); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Error(err)
	}
	if all, _ := seat.asks.after(0); len(all) != 0 {
		t.Errorf("%d questions are kept that nobody waits for", len(all))
	}
}
