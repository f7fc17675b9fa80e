package box

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// Events for the role of a runner that has stopped are counted, and shown among the figures
// of its node.
func TestDeadLettersOfARunnerAreShown(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 1, Runners: 1, BlockTime: 50 * time.Millisecond}, Ephemeral: true})
	await(t, n, 2)
	r := n.RunnerList()[0]
	shell := r.RunnerNode.(*localRunner).Shell()
	shell.Stop()
	before := n.RunnerLetters()[r.Address]
	for _, on := range []bool{true, false} {
		shell.Drain(on, "")
	}
	if after := n.RunnerLetters()[r.Address]; after != before+2 {
		t.Errorf("%d letters are counted, want %d", after, before+2)
	}
	server := api.New(n, api.Config{})
	defer func() { _ = server.Close() }()
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/metrics", nil))
	if !strings.Contains(answer.Body.String(), `devnet_actors_total{node="r0",what="dead_letters"}`) {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
}
