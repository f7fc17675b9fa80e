package network

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

func TestInitWarnsWithinItsColumns(t *testing.T) {
	var out bytes.Buffer
	made := initReport{Out: "net", Validators: []string{"v0", "v1"}, Warning: strings.Repeat("37 containers need more room, ", 9)}
	made.printReport(&out, hosts.Plan{Format: hosts.Compose})
	if !strings.Contains(out.String(), "\nWarning, 37 containers") || !strings.Contains(out.String(), "docker-compose -f") {
		t.Errorf("it says %s", out.String())
	}
	warning := out.String()[strings.Index(out.String(), "\nWarning")+1:]
	for line := range strings.Lines(warning) {
		if len(strings.TrimSpace(line)) > terminal.TextColumns {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
