package api

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// The limits that the document states where a request has none are those that a transaction gets.
func TestTheDocumentStatesTheDefaultLimits(t *testing.T) {
	w := newWorld(t)
	states := map[string]int{}
	for _, schema := range w.server.OpenAPI().Components.Schemas.Map() {
		for name, field := range schema.Properties {
			var want string
			switch name {
			case "cycles_limit":
				want = groupThousands(uint64(wallet.DefaultCycles))
			case "cells_limit":
				want = groupThousands(uint64(wallet.DefaultCells))
			}
			if want == "" || !strings.Contains(field.Description, "where absent") {
				continue
			}
			if states[name]++; !strings.Contains(field.Description, want) {
				t.Errorf("%s says %q; absent it is %s", name, field.Description, want)
			}
		}
	}
	if states["cycles_limit"] < 3 || states["cells_limit"] < 2 {
		t.Errorf("the document states defaults of %v", states)
	}
}

// groupThousands writes 1000000 as 1,000,000.
func groupThousands(n uint64) string {
	text := ""
	for ; n >= 1000; n /= 1000 {
		text = "," + string([]byte{byte('0' + n%1000/100), byte('0' + n%100/10), byte('0' + n%10)}) + text
	}
	return strings.TrimLeft(string([]byte{byte('0' + n/100), byte('0' + n%100/10), byte('0' + n%10)}), "0") + text
}
