package hosts

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

var write = flag.Bool("write", false, "write compose.yaml of the repository, and the example for Kubernetes")

// top is the module's directory.
const top = "../../../../"

// same compares a file of the repository with what the code makes.
func same(t *testing.T, path, want string) {
	t.Helper()
	if *write {
		if err := os.WriteFile(top+path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(top + path)
	if err != nil || string(have) != want {
		t.Errorf("%s is not what the code makes of it (%v): go test ./internal/worlds/setup/hosts -write", path, err)
	}
}

func TestTheComposeFileOfTheRepositoryIsThatOfASeed(t *testing.T) {
	one := uint64(1)
	n, err := Make(Plan{Chain: setup.Plan{Validators: 4, Runners: 4, ChainID: 8011, BlockTime: time.Second}, Seed: &one, Format: Seeded,
		Image: "cowboy-devnet", Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "compose.yaml", n.Compose())
	same(t, "compose.swarm.yaml", n.Swarm())
}

func TestTheExampleForKubernetesIsThatOfInit(t *testing.T) {
	one := uint64(1)
	n, err := Make(Plan{Chain: setup.Plan{Validators: 4, Runners: 4, ChainID: 8011, BlockTime: time.Second}, Seed: &one, Derived: true,
		Format: Kubernetes, Image: "cowboy-devnet", Now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := n.writeKubernetes()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "fixtures/kubernetes/kubernetes.yaml", text)
	same(t, "fixtures/kubernetes/kustomization.yaml", n.kustomizationFile())
}

func TestASeedMakesTheSameNetworkEverywhere(t *testing.T) {
	begins := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	made := func(seed uint64) string {
		n, err := Make(Plan{Chain: setup.Plan{Validators: 2, Runners: 2, ChainID: 8011, BlockTime: time.Second}, Seed: &seed, Format: Seeded,
			Now: begins})
		if err != nil {
			t.Fatal(err)
		}
		return string(n.GenesisBytes()) + n.settingsOf(n.Validators[1]) + n.settingsOf(n.Runners[1])
	}
	once := made(1)
	if again := made(1); again != once {
		t.Error("one seed makes two networks")
	}
	if once == made(2) {
		t.Error("two seeds make one network")
	}
	if _, err := Make(Plan{Chain: setup.Plan{Validators: 1, ChainID: 8011}, Format: Seeded}); err == nil {
		t.Error("keys follow from no seed")
	}
}

// Secrets are brought to each node alone, and every node keeps what has to outlive it.
func TestAComposeFileOfItsOwnHasEachNodesKeyAsASecret(t *testing.T) {
	dir, n := written(t, func(p *Plan) { p.Format, p.Chain.Validators = Compose, 2 })
	text := n.Compose()
	v0, v1, _ := strings.Cut(text[strings.Index(text, "\n  v0:"):], "\n  v1:")
	if !strings.Contains(v0, "source: v0_key") || strings.Contains(v0, "v1_key") || !strings.Contains(v1, "v1_key: {file: ./v1.key}") {
		t.Errorf("the secrets are others:\n%s", text)
	}
	if swarm := n.Swarm(); !strings.Contains(swarm, "published: 4000") || !strings.Contains(swarm, "published: 4001") {
		t.Errorf("the ports of a Swarm are others:\n%s", swarm)
	}
	for name, want := range map[string]string{"compose.yaml": text, "compose.swarm.yaml": n.Swarm()} {
		if written, err := os.ReadFile(dir + "/" + name); err != nil || string(written) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	v, err := Open(dir + "/v0.toml")
	if err != nil || v.Home != "/devnet/homes/v0" {
		t.Errorf("its home is %+v, %v", v, err)
	}
}

// The API signs for the named accounts: Docker Compose publishes it only for this machine.
func TestComposePublishesOnLoopbackAlone(t *testing.T) {
	for format, published := range map[string]int{Seeded: 1, Compose: 4} {
		n, err := Make(Plan{Chain: setup.Plan{Validators: 4, Runners: 1, ChainID: 8011, BlockTime: time.Second}, Seed: &seven, Format: format,
			Image: "i", Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		text := n.Compose()
		if ports := regexp.MustCompile(`(?m)^ +ports:`).FindAllString(text, -1); len(ports) != published {
			t.Errorf("%s publishes %d ports, want %d", format, len(ports), published)
		}
		if loopback := regexp.MustCompile(`(?m)^ +ports: \["127\.0\.0\.1:[^":]+(:-4000})?:4000"\]$`).FindAllString(text, -1); len(loopback) != published {
			t.Errorf("%s publishes %q on 127.0.0.1, want %d ports:\n%s", format, loopback, published, text)
		}
		if strings.Contains(text, "endpoint_mode") { // docker-compose warns of each
			t.Errorf("%s has settings of a Swarm in compose.yaml", format)
		}
	}
}
