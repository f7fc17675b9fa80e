package box

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// A network that goes on is the one that was asked for, or is refused: its chain
// id stays, and parameters that differ are named with both values and the way.
func TestAHomeGoesOnAsWhatItIs(t *testing.T) {
	dir := t.TempDir() + "/home"
	with := func(chain uint64, params map[string]string) (*Network, error) {
		return Up(context.Background(), Config{Plan: setup.Plan{BlockTime: 20 * time.Millisecond, ChainID: chain, Params: params}, Home: dir})
	}
	goesOn := func(chain uint64, params map[string]string) {
		t.Helper()
		n, err := with(chain, params)
		if err != nil {
			t.Fatal(err)
		}
		if n.Config().ChainID != wallet.ChainID {
			t.Errorf("the chain id is %d", n.Config().ChainID)
		}
		await(t, n, n.Best().finalHeight()+2)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	goesOn(0, map[string]string{"cip1.policy": "fifo"})
	goesOn(0, nil)
	goesOn(wallet.ChainID, map[string]string{"cip1.policy": "fifo"})

	for key, c := range map[string]struct {
		value string
		words []string
	}{
		"cip1.policy":            {"eip1559", []string{"cip1.policy = fifo, not eip1559", "devnet params set cip1.policy eip1559", "--reset"}},
		"cip1.lane_timer_cycles": {"600000", []string{"= 2000000, not 600000", "devnet params set cip1.lane_timer_cycles 600000"}},
		"chain.epoch_blocks":     {"7", []string{"chain.epoch_blocks = ", ", not 7", "--reset"}},
	} {
		n, err := with(0, map[string]string{key: c.value})
		var changed *ChangedError
		if !errors.As(err, &changed) {
			t.Errorf("%s = %s: %v", key, c.value, err)
			if n != nil {
				_ = n.Close()
			}
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q does not say %q", err, word)
			}
		}
		if key == "chain.epoch_blocks" && strings.Contains(err.Error(), "params set") {
			t.Errorf("%q names a way that does not exist", err)
		}
	}
}
