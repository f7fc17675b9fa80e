package chaintext

import (
	"io"
	"strconv"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintAccounts prints a row for each account.
func PrintAccounts(w io.Writer, accounts []model.DevnetAccount) {
	terminal.PrintTable(w, "No accounts.", "NAME ADDRESS NONCE BALANCE", terminal.RowsOf(accounts, func(a *model.DevnetAccount) []string {
		return []string{a.Name, a.Address.String(), strconv.FormatUint(uint64(a.Nonce), 10), words.CBY(a.Balance)}
	}))
}
