package batch

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// accepting takes every transaction; one byte is its hash.
type accepting struct{ scenario.Backend }

func (accepting) Submit(raw []byte) (types.Hash, error) {
	return types.Hash(append(raw, make([]byte, 31)...)), nil
}

// A transaction that a script hands in again while it waits, as it does sooner in a quick
// world, is one transaction.
func TestATransactionHandedInAgainIsOne(t *testing.T) {
	b := &recordedBackend{Backend: accepting{}}
	for _, raw := range []byte{1, 2, 1, 3, 2} {
		if _, err := b.Submit([]byte{raw}); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.sent) != 3 {
		t.Errorf("%d transactions of 3", len(b.sent))
	}
}
