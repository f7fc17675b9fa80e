package api

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// Scripts read the same fields as HTTP: the forms below belong to the routes.

// ShowBlock is a block as GET /block shows it.
func ShowBlock(b *Block) model.Block { return blockModel(b) }

// ShowReceipt is a receipt as GET /transaction/{hash}/receipt shows it.
func ShowReceipt(r *types.Receipt, printed []string) model.Receipt { return receiptModel(r, printed) }

// ShowActor is an actor as GET /actor/{address} shows it.
func ShowActor(v Reader, a *Actor) (model.Actor, error) { return actorModel(v, a) }

// ShowLog is a printed line as GET /actor/{address}/logs shows it.
func ShowLog(l history.LogLine) model.LogLine { return logModel(l) }

// ShowValidator is a validator as GET /validators shows it; index is its
// position in the set by address.
func ShowValidator(index int, n Node) model.Validator {
	return model.Validator{Index: index, Name: n.Name, Address: n.Validator.Address,
		PublicKey: n.Validator.PublicKey, QUICAddress: n.Validator.Endpoint, Height: n.Height, StateRoot: n.StateRoot,
		View: n.View, Status: n.Status, Running: n.Running, Elsewhere: n.Elsewhere,
		Connections: n.Connections, Runners: len(n.Runners), DeadLetters: n.DeadLetters, Restarted: n.Restarted}
}

// ShowResult is the answer of a read-only call as POST /actor/read shows it.
func ShowResult(height types.Height, r Result) model.ReadResult {
	return model.ReadResult{Height: height, Status: string(r.Outcome.Status), Output: r.Outcome.Output,
		Text: model.Text(r.Outcome.Output), Cycles: r.Cycles, Cells: r.Cells, Error: faultModel(r.Outcome.Fault),
		Logs: append([]string{}, r.Logs...)}
}
