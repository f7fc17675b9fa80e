package devnettest_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/devnettest"
)

// The actor of README.md does what its comment says.
func TestTheActorOfTheReadmeRuns(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if code == nil {
		t.Fatal("README.md has no actor")
	}
	n, ctx := devnettest.Start(t), t.Context()
	tally, err := n.Deploy(ctx, code[1], client.Deployment{Name: "tally", Fund: client.CBY(1)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tally.Call(ctx, "alice", "add", []byte(`{"amount":"5"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := n.AdvanceBlocks(ctx, 6); err != nil {
		t.Fatal(err)
	}
	if number, err := tally.Get(ctx, []byte("number")); err != nil || len(number) != 1 || number[0] != 6 { // CBOR
		t.Errorf("the number is %x, %v; want 6 by the call and its timer", number, err)
	}
}
