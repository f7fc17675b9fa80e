package hosts

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// patience bounds the wait for a block; only a network that stands still lets it pass.
const patience = time.Minute

// opened reads the settings of a validator; its socket takes any port, since it is
// alone.
func opened(t *testing.T, dir string) box.Config {
	t.Helper()
	v, err := Open(filepath.Join(dir, "v0.toml"))
	if err != nil {
		t.Fatal(err)
	}
	v.Here.Listen = "127.0.0.1:0"
	return configOf(v)
}

// configOf is what a validator's process asks for by its settings.
func configOf(v *Validator) box.Config {
	return box.Config{Plan: v.Chain, Here: v.Here, Home: v.Home, Python: v.Python}
}

func start(t *testing.T, c box.Config) *box.Network {
	t.Helper()
	n, err := box.Up(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// await waits for a block behind those that are final.
func await(t *testing.T, n *box.Network) {
	t.Helper()
	final := make(chan types.Height, 1024)
	defer n.Subscribe(func(h types.Height) { final <- h })()
	select {
	case <-final:
	case <-time.After(patience):
		t.Fatal("no block is made")
	}
}

func TestAValidatorGoesOnFromItsHome(t *testing.T) {
	dir, made := written(t, nil)
	n := start(t, opened(t, dir))
	await(t, n)
	shown := n.Nodes()[0]
	if shown.Validator != made.Genesis.Validators.Members[0] || shown.Name != "v0" {
		t.Errorf("it is shown as %+v", shown)
	}
	runners := n.RunnerNodes() // of one that runs nowhere it knows the name
	if len(n.Accounts()) == 0 || len(runners) != 1 || runners[0].Name != "r0" || runners[0].Running || len(runners[0].Missing) != 1 {
		t.Errorf("accounts %v, runners %v", n.Accounts(), runners)
	}
	if key := n.Key("r0"); key == nil || key.PublicKey() != made.Runners[0].Key.PublicKey() {
		t.Error("it does not sign for the runner's owner")
	}
	reached := shown.Height
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, opened(t, dir))
	if h := again.Nodes()[0].Height; h < reached {
		t.Errorf("it begins at %d, and was at %d", h, reached)
	}
	await(t, again)
}

func TestWhatIsOfAWholeNetworkIsRefusedInWords(t *testing.T) {
	dir, _ := written(t, nil)
	n := start(t, opened(t, dir))
	await(t, n)
	for what, do := range map[string]func() error{
		"a pause":          n.Pause,
		"joining":          func() error { _, err := n.Join(t.Context(), ""); return err },
		"a runner":         func() error { _, err := n.JoinRunner(t.Context(), "", setup.UsualTerms); return err },
		"a fault of links": func() error { _, err := n.Do(fault.Order{Verb: fault.Heal}); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "only v0 runs in this process") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, row := range network.Rows {
		if err := n.Need(row.Is); (err == nil) != (network.Alone&row.Is != 0) {
			t.Errorf("%s: %v", row.Name, err)
		}
	}
	if _, err := n.Do(fault.Order{Verb: fault.Crash, Node: "v1"}); err == nil || !strings.Contains(err.Error(), "which runs only v0") {
		t.Errorf("the crash of another: %v", err)
	}
	if _, err := n.Do(fault.Order{Verb: fault.Crash, Node: "v0"}); err != nil {
		t.Error(err)
	}
	if _, err := n.Do(fault.Order{Verb: fault.Restart, Node: "v0"}); err != nil {
		t.Error(err)
	}
	await(t, n)
}

func TestAHomeIsOneNodesOfOneChain(t *testing.T) {
	dir, _ := written(t, nil)
	config := opened(t, dir)
	if err := start(t, config).Close(); err != nil {
		t.Fatal(err)
	}
	other, _ := written(t, nil)
	strange := opened(t, other)
	strange.Home = config.Home
	if _, err := box.Up(t.Context(), strange); !errors.As(err, new(*box.OtherGenesisError)) {
		t.Errorf("another chain's genesis: %v", err)
	}
	config.Here.Name = "v1"
	if _, err := box.Up(t.Context(), config); !errors.As(err, new(*home.OwnerError)) {
		t.Errorf("another node: %v", err)
	}
	if _, err := box.Up(t.Context(), box.Config{Home: config.Home}); !errors.As(err, new(*home.OwnerError)) {
		t.Errorf("a whole network: %v", err)
	}
}

// One whose log of votes is gone sits out, known by its home or by being told: here
// there is nobody else to make a block, so none comes.
func TestAValidatorWithoutItsLogSitsOut(t *testing.T) {
	dir, _ := written(t, nil)
	config := opened(t, dir)
	config.Here.Lost = true
	n := start(t, config)
	if !n.List()[0].Lost {
		t.Error("it was told that it has lost its home, and does not know")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	config = opened(t, dir)
	config.Here.Lost = true
	n = start(t, config)
	if n.List()[0].Lost {
		t.Error("its log was not lost: a manifest may always have --lost")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	config = opened(t, dir)
	config.Here.Lost = false
	if err := os.Remove(home.NodeFiles(config.Home, "v0").Votes); err != nil {
		t.Fatal(err)
	}
	n = start(t, config)
	if !n.List()[0].Lost {
		t.Error("its log is gone, and it does not know")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// The events of a validator that answers for itself alone are said to be its own: it alone
// heard what is beside the chain.
func TestEventsNameTheValidatorWhoseTheyAre(t *testing.T) {
	dir, _ := written(t, nil)
	n := start(t, opened(t, dir))
	await(t, n)
	server := api.New(n, api.Config{})
	defer func() { _ = server.Close() }()
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/events?from=1&to=1", nil))
	if got := answer.Header().Get(api.NodeHeader); got != "v0" || !strings.HasPrefix(answer.Body.String(), ": devnet events of v0\n") {
		t.Errorf("%d, %s %q, and it begins with %.80q", answer.Code, api.NodeHeader, got, answer.Body)
	}
}

// C10: a validator starts only on the host that its settings name. A second pod of a
// stateful set has another name, and the same key.
func TestC10AValidatorStartsOnlyOnItsHost(t *testing.T) {
	for format, host := range map[string]string{Kubernetes: "v0-0", Compose: "v0", Processes: ""} {
		dir, _ := written(t, func(p *Plan) { p.Format = format })
		v := hostSettings(t, dir)
		for here, want := range map[string]bool{
			"v0-0": host != "v0", "v0": host != "v0-0", "v0-1": host == "", "v0-0.v.devnet.svc": host != "v0"} {
			if err := v.CheckHost(here); (err == nil) != want || err != nil && !errors.As(err, new(*HostError)) {
				t.Errorf("%s: on %s: %v", format, here, err)
			}
		}
	}
}

// hostSettings are those of v0 as far as they say where it runs.
func hostSettings(t *testing.T, dir string) *Validator {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "v0.toml"))
	if err != nil {
		t.Fatal(err)
	}
	v := &Validator{}
	v.Here = &setup.Here{Name: "v0"}
	if m := regexp.MustCompile(`(?m)^host = "(.*?)"`).FindSubmatch(text); m != nil {
		v.host = string(m[1])
	}
	return v
}
