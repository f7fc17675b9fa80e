package box

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// keys is a key log in memory.
type keys struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (k *keys) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Write(b)
}

// Both ends of each connection have a qlog file, those of a validator with a runner too, and
// the secrets of all of them are told.
func TestConnectionsCanBeLookedInto(t *testing.T) {
	dir, secrets := t.TempDir(), &keys{}
	n := up(t, Config{Plan: setup.Plan{Validators: 2, Runners: 1, BlockTime: 50 * time.Millisecond}, Ephemeral: true, Qlog: dir,
		KeyLog: secrets})
	await(t, n, 3)
	if err := n.Close(); err != nil { // the files are whole then
		t.Fatal(err)
	}
	ids := map[string]string{} // of connections, and at which ends they are told
	for _, node := range []string{"v0", "v1", "r0"} {
		files, err := filepath.Glob(filepath.Join(dir, node, "*.sqlog"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no qlog file: %v", node, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(data, []byte("urn:ietf:params:qlog:events:quic")) {
				t.Errorf("%s is no qlog: %v", file, err)
			}
			id, end, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".sqlog"), "_")
			ids[id] += node[:1] + " " + end + ";"
		}
	}
	served := false
	for _, ends := range ids {
		served = served || strings.Contains(ends, "r client") && strings.Contains(ends, "v server")
	}
	if !served {
		t.Errorf("no connection of the runner is told at both ends: %v", ids)
	}
	if text := secrets.text.String(); strings.Count(text, "CLIENT_TRAFFIC_SECRET_0 ") < 2 ||
		!strings.Contains(text, "SERVER_TRAFFIC_SECRET_0 ") {
		t.Errorf("the secrets are %q", text)
	}
}
