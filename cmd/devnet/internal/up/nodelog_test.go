package up

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

func TestLogsGoToTheFileOfTheirNode(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	var terminal bytes.Buffer
	logs := newNodeLogs(launch.Settings{Home: dir}, &terminal)
	log := logs.networkLogger()
	defer slog.SetDefault(slog.Default())
	log.With("node", "v1").Info("one")
	log.With("role", "x").With("node", "v2").Error("two")
	log.Warn("three")
	logs.closeFiles()
	for node, want := range map[string]string{"v1": "msg=one node=v1", "v2": "msg=two", commonLog: "msg=three"} {
		data, err := os.ReadFile(home.NodeLog(dir, node))
		if err != nil || !strings.Contains(string(data), want) || strings.Count(string(data), "\n") != 1 {
			t.Errorf("the log of %s is %q (%v)", node, data, err)
		}
	}
	if got := terminal.String(); !strings.Contains(got, "two") || strings.Contains(got, "one") || strings.Contains(got, "three") {
		t.Errorf("the terminal shows %q, and errors only should be there", got)
	}
}
