package actors

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"pgregory.net/rapid"
)

// TestAccountsAreReadAsTheyWereWritten, of every size, small or not.
func TestAccountsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		account := Account{Nonce: types.Nonce(rapid.Uint64().Draw(t, "nonce")), Balance: types.WeiOf(rapid.Uint64().Draw(t, "balance"))}
		if rapid.Bool().Draw(t, "large") {
			account.Balance = account.Balance.Mul(1 << 40).Add(types.WeiOf(1))
		}
		data := codec.Marshal(&account)
		var slow Account
		mustDecode(data, &slow)
		if got := decodeAccount(data); got != account || slow != account {
			t.Fatalf("%+v is read as %+v", account, got)
		}
		if n := rapid.IntRange(1, len(data)-1).Draw(t, "cut"); !panics(func() { decodeAccount(data[:n]) }) {
			t.Fatalf("%x is read as an account", data[:n])
		}
	})
	if decodeAccount(nil) != (Account{}) {
		t.Error("no account is not an empty one")
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
