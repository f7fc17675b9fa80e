package clientgen

import (
	"context"
	"os"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/devnettest"
	"github.com/cowboyinc/devnet/internal/base/typed"
)

// The generated client and its runtime, under Node, against networks that answer: by wall
// clock and simulated. The schema is the one that the network has of the dapp's actor.
func TestTheClientInTypeScriptOnANetwork(t *testing.T) {
	node := tool(t, "node", "nodejs")
	for name, world := range map[string]devnettest.Option{"live": devnettest.Live(), "simulated": devnettest.Simulated()} {
		t.Run(name, func(t *testing.T) {
			n := devnettest.Start(t, world, devnettest.Auto(), devnettest.Validators(1), devnettest.Actor("../../../fixtures/dapp/club.py"))
			doc, err := client.NewAPI(n.URL()).Schema(context.Background(), "club")
			if err != nil {
				t.Fatal(err)
			}
			schema, err := typed.Parse(doc)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string][]byte{"cowboy.ts": Runtime}
			if files["club.ts"], err = File(schema, "club", "ts"); err != nil {
				t.Fatal(err)
			}
			if files["live_test.ts"], err = os.ReadFile("testdata/live_test.ts"); err != nil {
				t.Fatal(err)
			}
			t.Log(run(t, compiledOf(t, files), node, "live_test.js", n.URL()))
		})
	}
}
