package simulated

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// A world in which blocks take longer than a script would have them says so, and gives it
// the block time that it keeps; --block-time goes before that.
func TestAWorldHasALeastBlockTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.star")
	script := `net = network(validators = 7, block_time = "100ms")
net.run(blocks = 8)
print(net.block(8).timestamp_ms - net.block(7).timestamp_ms)
`
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	least := func(validators int) time.Duration { return time.Duration(validators) * 100 * time.Millisecond }
	for _, one := range []struct {
		options scenario.Options
		want    string
	}{
		{scenario.Options{}, "100\n"},
		{scenario.Options{Least: least}, "7 validators keep no block time of 100ms here: it is 700ms, and --block-time sets another\n700\n"},
		{scenario.Options{Least: least, Pace: &scenario.Pace{BlockTime: 300 * time.Millisecond}}, "300\n"},
		{scenario.Options{Least: func(int) time.Duration { return time.Millisecond }}, "100\n"},
	} {
		var out bytes.Buffer
		one.options.Open, one.options.Out = Open, &out
		if _, err := scenario.Run(path, one.options); err != nil || out.String() != one.want {
			t.Errorf("it printed %q, and not %q: %v", out.String(), one.want, err)
		}
	}
}
