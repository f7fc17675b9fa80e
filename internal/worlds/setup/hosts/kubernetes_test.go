package hosts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// pods is a network in pods.
func pods(t *testing.T, validators, runners int) *Network {
	t.Helper()
	n, err := Make(Plan{Chain: setup.Plan{Validators: validators, Runners: runners, ChainID: 8011, BlockTime: time.Second}, Seed: &seven,
		Derived: true, Format: Kubernetes, Image: "i", Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// documents are the objects of a file, by their kind and name.
func documents(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, one := range strings.Split(text, "\n---\n")[1:] {
		name, kind := "", ""
		for _, line := range strings.Split(one, "\n") {
			if value, is := strings.CutPrefix(line, "kind: "); is {
				kind = value
			}
			if value, is := strings.CutPrefix(line, "  name: "); is && name == "" {
				name = value
			}
		}
		if _, twice := all[kind+" "+name]; twice || kind == "" || name == "" {
			t.Fatalf("%s %q is a duplicate, or has no name", kind, name)
		}
		all[kind+" "+name] = one
	}
	return all
}

// The bounds are those of Kubernetes: 1 MiB of data in a Secret or a ConfigMap, and 262,144
// bytes for the copy that a client-side kubectl apply keeps of any other object.
func TestTheLargestNetworkFitsKubernetes(t *testing.T) {
	n := pods(t, setup.MaxValidators, setup.MaxRunners)
	text, err := n.writeKubernetes()
	if err != nil {
		t.Fatal(err)
	}
	all := documents(t, text)
	if want := 9 + 2*(setup.MaxValidators+setup.MaxRunners); len(all) != want {
		t.Errorf("%d objects, want %d", len(all), want)
	}
	largest := map[string]int{}
	for name, one := range all {
		kind, _, _ := strings.Cut(name, " ")
		largest[kind] = max(largest[kind], len(one))
		bound := 262_144
		if kind == "ConfigMap" {
			bound = 1 << 20 // of the text: base64 makes it a third longer than the data
		}
		if kind == "Secret" || kind == "StatefulSet" {
			bound = 8 << 10 // of one node, whatever the number of nodes
		}
		if len(one) > bound {
			t.Errorf("%s has %d bytes, at most %d", name, len(one), bound)
		}
	}
	t.Logf("%d bytes; the largest of each kind: %v", len(text), largest)
}

// A pod's volumes hold the settings and the key of one node.
func TestEachPodIsGivenTheKeyOfItsNodeAlone(t *testing.T) {
	n := pods(t, 4, 2)
	text, err := n.writeKubernetes()
	if err != nil {
		t.Fatal(err)
	}
	all := documents(t, text)
	for _, node := range n.allNodes() {
		secret, set := all["Secret devnet-"+node.Name], all["StatefulSet "+node.Name]
		for _, other := range n.allNodes() {
			key, own := types.Hash(other.Key.Secret()).String(), other.Name == node.Name
			if strings.Contains(secret, key) != own {
				t.Errorf("the secret of %s has the key of %s: %t", node.Name, other.Name, !own)
			}
			if strings.Contains(set, "secret: {name: devnet-"+other.Name+"}") != own {
				t.Errorf("the pod of %s is given the secret of %s: %t", node.Name, other.Name, !own)
			}
		}
		if strings.Contains(secret, node.Key.Address().String()) {
			t.Errorf("the secret of %s has the table of names, which is a map of all", node.Name)
		}
	}
	if named := strings.Count(text, n.Runners[1].Key.Address().String()); named != 1 {
		t.Errorf("r1 is named %d times, want once", named)
	}
}

// An object that Kubernetes would refuse is refused before a file is written.
func TestAGenesisThatKubernetesRefusesIsNotWritten(t *testing.T) {
	n := pods(t, 1, 0)
	n.Genesis.Accounts = slices.Repeat(n.Genesis.Accounts, 40_000)
	dir := filepath.Join(t.TempDir(), "net")
	var large *LargeError
	if err := n.Write(dir); !errors.As(err, &large) || large.Kind != "ConfigMap" || large.Name != "devnet-genesis" ||
		large.Bytes <= maxObjectData {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder exists: %v", err)
	}
}

// Validators of pods read the names from a separate file.
func TestNamesAreReadFromAFile(t *testing.T) {
	dir, n := written(t, nil)
	path := filepath.Join(dir, "v0.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	settings, names, _ := strings.Cut(string(text), "[names]")
	for name, c := range map[string]struct{ settings, names, want string }{
		"both":    {string(text), "[names]", "names_file: give names or names_file, not both"},
		"none":    {settings, "", "names_file: "},
		"unknown": {settings, "[name]\n", "names_file: "},
		"read":    {settings, "[names]" + names, ""},
	} {
		file := filepath.Join(dir, "names-"+name+".toml")
		if c.names != "" {
			if err := os.WriteFile(file, []byte(c.names), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte("names_file = \"names-"+name+".toml\"\n"+c.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := Open(path)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		case err != nil || v.Here.Names[n.Runners[0].Key.Address()] != "r0":
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// The name of an image is without its tag and digest, whatever the port of its registry.
func TestAKustomizationNamesTheImageWithoutItsTag(t *testing.T) {
	for image, want := range map[string]string{"cowboy-devnet": "cowboy-devnet", "r.example:5000/a/devnet": "r.example:5000/a/devnet",
		"r.example:5000/a/devnet:v1": "r.example:5000/a/devnet", "devnet:v1@sha256:00ff": "devnet"} {
		n := pods(t, 1, 0)
		n.plan.Image = image
		if text := n.kustomizationFile(); !strings.Contains(text, `{name: "`+want+`", newName: "`+want+`"}`) {
			t.Errorf("%s: want the name %s in\n%s", image, want, text)
		}
	}
}
