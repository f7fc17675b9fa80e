package api

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Where time travel skipped heights the script travels too: it would make millions of blocks otherwise.
func TestARetellingTravelsWhereTheNetworkDid(t *testing.T) {
	r := &retelling{}
	for _, h := range []types.Height{1, 2, 3, 5_000_000, 5_000_001, 9_000_000} {
		r.blocks = append(r.blocks, retoldBlock{height: h})
	}
	for _, c := range []struct {
		from, to types.Height
		want     string
	}{
		{0, 2, "to(2)\n"},
		{2, 5_000_001, "to(3)\nnet.advance(to = 5000000)\nto(5000001)\n"},
		{5_000_001, 9_000_000, "to(5000001)\nnet.advance(to = 9000000)\nto(9000000)\n"},
	} {
		var out strings.Builder
		r.writeWay(&out, c.from, c.to)
		if out.String() != c.want {
			t.Errorf("from %d to %d:\n%s\nwant\n%s", c.from, c.to, &out, c.want)
		}
	}
}
