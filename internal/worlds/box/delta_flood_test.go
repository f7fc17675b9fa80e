package box

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// deltaFlood says CapabilityDeltas of 900 KB to every validator of its subset, as fast as
// they are taken, and connects anew where it is left.
func (h *hostile) deltaFlood(ctx context.Context) (sent int) {
	f := &push.CapabilityDelta{}
	for range 880 {
		f.AddedCapabilities = append(f.AddedCapabilities, strings.Repeat("x", 1000))
	}
	f.Signed = h.key.Sign(f.Digest(h.n.genesis.ChainID))
	frame, err := push.Encode(f)
	if err != nil {
		h.Fatal(err)
	}
	for at := 0; ctx.Err() == nil; at++ {
		l := h.dial(h.validators[at%len(h.validators)], 0)
		l.live()
		for ctx.Err() == nil && l.conn.Context().Err() == nil {
			l.control.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := l.control.Write(frame); err != nil {
				break
			}
			sent++
		}
		l.conn.CloseWithError(0, "")
	}
	return sent
}

// One registered runner floods its validators with CapabilityDeltas of 900 KB: the others
// keep their rate, and memory stays bounded. With DEVNET_SOAK each half lasts twenty
// seconds, and leaves four fifths of the rate; else blocks go on.
func TestJ24AFloodOfLongDeltasLeavesTheBlocksTheirRate(t *testing.T) {
	lasting, share := time.Second, 0.2
	if os.Getenv("DEVNET_SOAK") != "" {
		lasting, share = 20*time.Second, 0.8
	}
	h := besiege(t, params.Overrides{"cip11.hello_per_identity": "1000"})
	count := func(do func(context.Context)) types.Height {
		ctx, cancel := context.WithTimeout(t.Context(), lasting)
		defer cancel()
		from := h.n.Best().finalHeight()
		do(ctx)
		<-ctx.Done()
		return h.n.Best().finalHeight() - from
	}
	quiet, before := count(func(context.Context) {}), residentMiB(t)
	sent := 0
	flooded := count(func(ctx context.Context) { sent = h.deltaFlood(ctx) })
	grown := residentMiB(t) - before
	t.Logf("%.1f blocks/s, %.1f without; %d deltas were sent; resident memory grew by %.0f MiB from %.0f MiB",
		float64(flooded)/lasting.Seconds(), float64(quiet)/lasting.Seconds(), sent, grown, before)
	if float64(flooded) < share*float64(quiet) {
		t.Errorf("%d blocks in %v, %d without the flood", flooded, lasting, quiet)
	}
	if grown > 300 {
		t.Errorf("resident memory grew by %.0f MiB", grown)
	}
	if sent == 0 {
		t.Error("nothing was sent")
	}
	h.served()
}
