package operating

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/script"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

// BenchmarkProcesses is the time of a block, as fast as four validators go, and the memory
// of all processes of the network: with one process a node, beside all in one.
func BenchmarkProcesses(b *testing.B) {
	for _, c := range []struct {
		name  string
		flags []string
	}{{"in=1", nil}, {"in=4", []string{"--processes"}}} {
		b.Run(c.name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "home")
			devnet := func(args ...string) string {
				command := exec.Command(os.Args[0])
				command.Args = append([]string{"devnet"}, args...)
				var errs bytes.Buffer
				command.Stderr = &errs
				out, err := command.Output()
				if err != nil {
					b.Fatalf("%v: %v\n%s", args, err, errs.String())
				}
				return string(out)
			}
			out := devnet(append([]string{"up", "--detach", "--home", dir, "--http", "127.0.0.1:0", "--block-time", "0s", "--validators", "4",
				"--runners", "0"}, c.flags...)...)
			defer devnet("down", "--home", dir)
			found := regexp.MustCompile(`(?m)^HTTP API +(\S+)$`).FindStringSubmatch(out)
			if found == nil {
				b.Fatal(out)
			}
			pid, _ := home.User(dir)
			enough := errors.New("enough")
			seen := 0
			b.ResetTimer()
			err := client.NewAPI(found[1]).Events(b.Context(), client.Follow{Kinds: []string{model.EventBlock}}, func(client.Event) error {
				if seen++; seen > b.N { // the first begins the time
					return enough
				}
				if seen == 1 {
					b.ResetTimer()
				}
				return nil
			})
			b.StopTimer()
			if !errors.Is(err, enough) {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
			if total, ok := memory(append(script.Below(pid), pid)); ok {
				b.ReportMetric(total, "MB")
			}
		})
	}
}

// memory is what processes take together, in megabytes, where the system tells: a page
// that several have counts once.
func memory(pids []int) (total float64, ok bool) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
				kilobytes, _ := strconv.ParseFloat(fields[1], 64)
				total, ok = total+kilobytes/1024, true
			}
		}
	}
	return total, ok
}
