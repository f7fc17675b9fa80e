package chaintext

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/jobtext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// PrintExecution prints a transaction, its receipt, or both. t is nil for an execution that the chain began; r is nil for a
// transaction that waits in a pool.
func PrintExecution(w io.Writer, names *naming.Names, t *model.Transaction, r *model.Receipt) {
	var head []string
	if t != nil {
		to := ""
		if t.To != nil {
			to = names.Of(*t.To) + "  " + t.To.String()
		}
		head = []string{"hash", t.Hash.String(), "from", names.Of(t.Sender) + "  " + t.Sender.String(), "to", to, "nonce",
			strconv.FormatUint(uint64(t.Nonce), 10), "kind", t.Kind}
		head = append(head, instructionLines(t)...)
		sponsor := "" // most transactions state none
		if !t.Sponsor.IsZero() {
			sponsor = words.CBY(t.Sponsor)
		}
		head = append(head, "value", words.CBY(t.Value), "sponsor", sponsor, "limits",
			fmt.Sprintf("%d cycles, %d cells", t.CyclesLimit, t.CellsLimit))
	} else {
		head = []string{"hash", r.Hash.String(), "kind", r.Origin, "from", names.Of(r.Sender) + "  " + r.Sender.String(),
			"to", names.Of(r.To) + "  " + r.To.String(), "handler", words.Printable(r.Handler)}
	}
	if r == nil {
		terminal.PrintFacts(w, head...)
		fmt.Fprintln(w, "It waits in a pool: no final block holds it yet.")
		return
	}
	PrintReceipt(w, *r, head...)
}

// instructionLines is what a transaction asks for, decoded from its payload.
func instructionLines(t *model.Transaction) []string {
	asked, err := (&types.Transaction{To: t.To, Payload: codec.RawMessage(t.Payload)}).Instruction()
	if err != nil {
		return []string{"payload", words.ShortBytes(t.Payload)}
	}
	switch in := asked.(type) {
	case *types.Execute:
		if *t.To == types.DispatcherAddress && in.Handler == "submit" {
			if spec, err := push.ParseOrder(in.Payload, t.Sender, 0); err == nil {
				return []string{"handler", in.Handler, "asks", jobtext.DescribeSpec(spec)}
			}
		}
		if t.To.InSystemBand() {
			return []string{"handler", words.Printable(in.Handler), "payload", words.EventData(in.Payload)}
		}
		return []string{"handler", words.Printable(in.Handler), "payload", words.Value(in.Payload)}
	case *types.Deploy:
		return []string{"name", words.Printable(in.Manifest.Name), "code", plural.Of(len(in.Code), "byte"), "init",
			words.Value(in.Init)}
	case *types.Upgrade:
		return []string{"from code", in.From.String(), "code", plural.Of(len(in.Code), "byte"), "migrate", words.Value(in.Migrate)}
	case *types.ApplyUpgrade:
		return []string{"from code", in.From.String(), "to code", in.To.String()}
	case *types.SetUpgradeTerms:
		if in.Terms == nil {
			return []string{"upgrades", "never"}
		}
		return []string{"upgrades", "by " + in.Terms.By.String(), "delay", plural.Of(in.Terms.Delay, "block")}
	case *types.Report:
		return []string{"op", words.Printable(in.Op), "arguments", words.EventData(types.Bytes(in.Args))}
	case *types.System:
		return []string{"opcode", strconv.Itoa(int(in.Opcode)), "arguments", words.EventData(types.Bytes(in.Args))}
	}
	return nil
}
