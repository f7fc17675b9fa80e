package both

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/live"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// ended plays a script and returns its report.
func ended(t *testing.T, open scenario.Open, script string) *scenario.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.star")
	if err := os.WriteFile(file, []byte(preamble+script), 0o644); err != nil {
		t.Fatal(err)
	}
	report, _ := scenario.Run(file, scenario.Options{Open: open})
	return report
}

// A run that fails because a validator is gone explains it in both worlds: whose
// view made no block, which validators gave it up and why, and the script's
// actions.
func TestAFailingRunExplainsItself(t *testing.T) {
	const script = `v3.crash()
net.run(blocks = 9)
fail("now")
`
	// order: each is judged by itself
	for name, open := range map[string]scenario.Open{"sim": simulated.Open, "live": live.Opener(context.Background())} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(ended(t, open, script).Timeline, "\n")
			for _, want := range []string{"v3  nullified after ", "leader unheard (v0 v1 v2)", ", final after 0."} {
				if !strings.Contains(text, want) {
					t.Errorf("there is no %q in\n%s", want, text)
				}
			}
		})
	}
}

// A failed receipt is printed unless the script read it, in both worlds.
func TestFailedReceiptsThatNobodyReadAreTold(t *testing.T) {
	// order: each is judged by itself
	for name, open := range map[string]scenario.Open{"sim": simulated.Open, "live": live.Opener(context.Background())} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(ended(t, open, "net.call(heart, \"nothing\")\nnet.send(heart, \"nobody\")\nagain(5)\n").Unread, "\n")
			first := strings.Count(preamble, "\n") + 1
			for _, want := range []string{fmt.Sprintf(`a.star:%d net.call(heart, "nothing")`, first),
				fmt.Sprintf(`a.star:%d net.send(heart, "nobody")`, first+1), "no_handler"} {
				if !strings.Contains(text, want) {
					t.Errorf("there is no %q in\n%s", want, text)
				}
			}
			for _, looked := range []string{"print(net.call(heart, \"nothing\").status)\n", "net.receipt(net.call(heart, \"nothing\").hash)\n",
				"h = net.send(heart, \"nothing\")\nagain(5)\nnet.receipt(h)\n", "net.call(heart, \"nothing\")\nnet.events()\n"} {
				if unread := ended(t, open, looked).Unread; len(unread) > 0 {
					t.Errorf("after %q it prints %q", looked, unread)
				}
			}
		})
	}
}

// A run that fails because of a failed transaction ends with its trace, in both
// worlds. It is the transaction of the failed expectation, or one that the script did
// not read.
func TestAFailingRunTracesWhatFailed(t *testing.T) {
	const odd = `
def refused():
    return net.call(heart, "nothing").status
`
	// order: each is judged by itself
	for name, open := range map[string]scenario.Open{"sim": simulated.Open, "live": live.Opener(context.Background())} {
		t.Run(name, func(t *testing.T) {
			for script, traced := range map[string]bool{
				`expect_eq(net.call(heart, "nothing").status, "ok")` + "\n":                                               true,
				"net.call(heart, \"nothing\")\nexpect(False)\n":                                                           true,
				"net.send(heart, \"nothing\")\nagain(3)\nexpect(net.state(heart))\n":                                      true,
				"r = net.call(heart, \"nothing\")\nprint(r.status)\nexpect_eq(r.error, None)\n":                           true,
				"net.deploy(\"go:heartbeat\", init = b\"?\")\n":                                                           false,
				"expect_eq(net.call(heart, \"nothing\").status, \"no_handler\")\nexpect(False)\n":                         false,
				"net.call(heart, \"nothing\")\nnet.advance(blocks = 100)\nexpect(False)\n":                                false,
				"net.call(heart, \"nothing\")\nnet.nothing()\n":                                                           false, // a mistake
				"net.call(heart, \"nothing\")\n":                                                                          false, // it passes
				odd + "expect_eq(refused(), \"ok\")\n":                                                                    true,
				odd + "s = refused()\nexpect_eq(s, \"ok\")\n":                                                             false, // looked at elsewhere
				"r = net.call(heart, \"nothing\")\nfor i in range(2):\n    expect_eq(r.status, [\"no_handler\", 1][i])\n": true,
			} {
				report := ended(t, open, script)
				text := strings.Join(report.Trace, "\n")
				if (text != "") != traced {
					t.Errorf("after %q it tells %q", script, text)
				}
				if !traced {
					continue
				}
				for _, want := range []string{"trace of the last failure:", "alice → heart.nothing", "  no_handler: the sample has",
					" in all, and "} {
					if !strings.Contains(text, want) {
						t.Errorf("after %q there is no %q in\n%s", script, want, text)
					}
				}
			}
		})
	}
}
