package connections

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// greed is a stream that ends after a number of bytes, and counts the memory that its
// reader keeps for the rest.
type greed struct {
	comes, came int
	most        int // bytes kept beyond those that came
}

func (g *greed) Read(p []byte) (int, error) {
	g.most = max(g.most, len(p)-g.came)
	n := min(len(p), g.comes-g.came)
	if n == 0 {
		return 0, io.EOF
	}
	g.came += n
	return n, nil
}

// CIP-11 §12.1: a frame takes memory as it comes. A claimed length keeps as many bytes as
// came already, or 4 KiB.
func TestSection121AClaimCostsNoMemory(t *testing.T) {
	for _, comes := range []int{0, 1, smallBytes - 1, smallBytes, smallBytes + 1, 100_000, connection.MaxFrameBytes - 1} {
		g := &greed{comes: comes}
		if _, err := readAll(g, connection.MaxFrameBytes); err == nil || g.came != comes {
			t.Errorf("%d of %d bytes are a frame: %v", comes, connection.MaxFrameBytes, err)
		}
		if g.most > smallBytes {
			t.Errorf("of a frame of which %d bytes came %d more were kept than had come", comes, g.most)
		}
	}
}

// CIP-11 §12.1: a frame is the same however its bytes come, and the next one is not read.
func TestSection121AFrameIsWholeHoweverItComes(t *testing.T) {
	for _, size := range []int{1, smallBytes, smallBytes + 1, 3*smallBytes + 7, connection.MaxFrameBytes} {
		frame := make([]byte, size)
		for i := range frame {
			frame[i] = byte(i * i >> 3)
		}
		whole := bytes.NewReader(append(bytes.Clone(frame), "next"...))
		for name, stream := range map[string]io.Reader{"at once": whole, "by halves": iotest.HalfReader(bytes.NewReader(frame))} {
			got, err := readAll(stream, size)
			if err != nil || !bytes.Equal(got, frame) {
				t.Errorf("%d bytes %s: %d came, %v", size, name, len(got), err)
			}
		}
		if whole.Len() != len("next") {
			t.Errorf("after %d bytes %d more were read", size, len("next")-whole.Len())
		}
	}
}
