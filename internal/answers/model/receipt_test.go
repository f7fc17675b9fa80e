package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

func TestAReceiptIsALine(t *testing.T) {
	r := Receipt{Hash: types.Hash{1}, Origin: "transaction", Height: 12, Sender: types.Address{2}, To: types.Address{3}, Handler: "join",
		Status: "ok", Cycles: 90, Cells: 8, Fee: types.WeiOf(7), Output: types.Bytes("5")}
	reverted := r
	reverted.Status, reverted.Output, reverted.Error = "reverted", nil, &Fault{Code: "user_error", Message: "no\nseat"}
	pending := Receipt{Hash: types.Hash{1}, Origin: "transaction", Handler: "join", Status: "pending"}
	for want, r := range map[string]Receipt{
		`at height 12: ok "5", 90 cycles, 8 cells, fee 7 wei, 0x01`: r,
		`: reverted user_error: "no\nseat", 90 cycles`:              reverted,
		`: pending, 0x01`: pending,
	} {
		for _, got := range []string{fmt.Sprint(r), fmt.Sprintf("%v", r), fmt.Sprintf("%+v", &r)} {
			if !strings.Contains(got, want) || !strings.HasPrefix(got, `"join" of 0x`) || strings.Contains(got, "\n") {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
	}
}
