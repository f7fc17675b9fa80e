package catchup

import (
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Transcripts of testdata: a returning validator's questions, the peers asked, and
// its use of the answers.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		var w *world
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "chain":
				var length, from int
				d.ScanArgs(t, "length", &length)
				d.ScanArgs(t, "from", &from)
				w = newWorld(length, types.Height(from))
				d.MaybeScanArgs(t, "grows", &w.grow)
				if w.grow > 0 {
					w.chain.tip = types.Height(length / 2)
				}
			case "peer":
				var id int
				var what string
				d.ScanArgs(t, "id", &id)
				d.ScanArgs(t, "does", &what)
				w.answer[id] = behaviours[what]
			case "behind":
				var peer, height int
				d.ScanArgs(t, "peer", &peer)
				d.ScanArgs(t, "height", &height)
				w.post(Behind{Peer: testAddress(peer), Height: types.Height(height), Proven: d.HasArg("proven")}, 0)
			case "run":
				w.run(5 * time.Minute)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			out := w.log.String()
			w.log.Reset()
			return out
		})
	})
}
