package api

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A request for pruned data is answered as such, and not as unknown; for a hash
// that is undecidable, which the hint says.
func TestWhatIsNoLongerKeptIsSaid(t *testing.T) {
	w := newWorld(t)
	w.deploy("ping")
	for len(w.chain.blocks) < 12 {
		w.chain.mine()
	}
	w.chain.mu.Lock()
	w.chain.keptFrom = 9
	w.chain.mu.Unlock()
	unknown := types.Hash{1}.String()
	for path, want := range map[string][2]string{
		"/block/3":                             {"not_kept", "height 3 is no longer kept: this network keeps 100 blocks (--history)"},
		"/block/8/receipts":                    {"not_kept", "height 8 is no longer kept"},
		"/blocks?from=4":                       {"not_kept", "height 4 is no longer kept"},
		"/events?from=8":                       {"not_kept", "height 8 is no longer kept"},
		"/block/13":                            {"unknown_block", "the latest is 12"},
		"/block/" + unknown:                    {"unknown_block", "Blocks before height 9 are no longer kept (--history 100)"},
		"/transaction/" + unknown:              {"unknown_transaction", "Blocks before height 9"},
		"/transaction/" + unknown[:12]:         {"unknown_prefix", "Blocks before height 9"},
		"/timer/" + unknown:                    {"unknown_timer", "Blocks before height 9"},
		"/timer/" + unknown + "/story":         {"unknown_timer", "Blocks before height 9"},
		"/transaction/" + unknown + "/receipt": {"unknown_transaction", "Blocks before height 9"},
	} {
		if said := w.refused(404, want[0], "GET", path, nil); !strings.Contains(said.Message+" "+said.Hint, want[1]) {
			t.Errorf("GET %s: %s (%s), want %s", path, said.Message, said.Hint, want[1])
		}
	}
	if blocks := get[[]map[string]any](w, "/blocks"); len(blocks) != 4 || blocks[0]["height"] != 9.0 {
		t.Errorf("GET /blocks lists %d, the first %v", len(blocks), blocks[0]["height"])
	}
	if receipts := get[[]map[string]any](w, "/actor/ping/receipts"); len(receipts) != 0 {
		t.Errorf("receipts: %v", receipts)
	}
}
