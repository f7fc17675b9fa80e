package box

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/types"
)

// heights follows the finalized heights of a network.
func heights(n *Network) <-chan types.Height {
	out := make(chan types.Height, 1<<16)
	n.Subscribe(func(h types.Height) { out <- h })
	return out
}

func logger(t testing.TB) *slog.Logger {
	if os.Getenv("DEVNET_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestUpSmoke(t *testing.T) {
	seed := uint64(7)
	begin := time.Now()
	n, err := Up(context.Background(), Config{Ephemeral: true, Seed: &seed, BlockTime: 0, Log: logger(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	reached := heights(n)
	t.Log("up after", time.Since(begin))
	for {
		select {
		case h := <-reached:
			if h == 1 {
				t.Log("height 1 after", time.Since(begin))
			}
			if h >= 500 {
				t.Log("height", h, "after", time.Since(begin))
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no block")
		}
	}
}
