package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerChain() {
	serveRoute(s, operation{id: "health", path: "/health", tag: tagChain,
		client:  "Health() returns whether the process answers.",
		summary: "Whether the process answers", response: model.Health{Status: "ok"}}, s.getHealth)
	serveRead(s, operation{id: "height", path: "/height", tag: tagChain,
		summary: "The height of the latest final block", response: model.Height{Height: 12345}}, s.getHeight)
	serveRead(s, operation{id: "block", path: "/block/{id}", tag: tagChain,
		client:  `Block(id string) returns a final block by height, hash or "latest".`,
		summary: "A final block, by height, hash or latest", errors: []int{400}, response: exampleBlock}, s.getBlock)
	serveRead(s, operation{id: "blocks", path: "/blocks", tag: tagChain,
		client:  "Blocks(from Height, limit int) lists final blocks from a height on.",
		summary: "Final blocks from a height on, or the latest", response: []model.Block{exampleBlock}}, s.listBlocks)
	serveRead(s, operation{id: "transaction", path: "/transaction/{hash}", tag: tagChain,
		client:  "Transaction(hash string) returns a transaction, final or pending.",
		summary: "A transaction, final or waiting in a pool", errors: []int{400}, response: exampleTransaction}, s.getTransaction)
	serveRead(s, operation{id: "receipt", path: "/transaction/{hash}/receipt", tag: tagChain,
		client:      "Receipt(hash string) returns the receipt of an execution that is final.",
		summary:     "The receipt of a transaction, a timer's fire or a delivered message",
		description: "404 with code not_final while the transaction waits in a pool.",
		errors:      []int{400}, response: exampleReceipt}, s.getReceipt)
	serveRead(s, operation{id: "account", path: "/account/{address}", tag: tagChain,
		client:  "Account(name string) returns nonce and balance, by address or name.",
		summary: "Nonce and balance of an account or actor, by address or name", errors: []int{400}, response: exampleAccount},
		s.getAccount)
	serveRead(s, operation{id: "basefee", path: "/basefee", tag: tagChain,
		client:  "BaseFee() returns the prices of the next block.",
		summary: "The base fees of the next block", response: exampleBaseFee}, s.baseFee)
	serveRead(s, operation{id: "params", path: "/params", tag: tagChain,
		client:  "Params() lists the parameters in force.",
		summary: "The protocol parameters in force", response: []model.Param{exampleParam}}, s.listParams)
}

func (s *Server) getHealth(context.Context, *struct{}) (model.Health, error) {
	return model.Health{Status: "ok"}, nil
}

func (s *Server) getHeight(_ context.Context, v answers.Reader, _ *OnMoment) (model.Height, error) {
	return model.Height{Height: v.Head().Height}, nil
}

// BlockInput is the parameter of requests for one block.
type BlockInput struct {
	OnMoment
	ID string `path:"id" maxLength:"80" example:"latest" doc:"A height, a block hash, or latest."`
}

func (s *Server) getBlock(_ context.Context, v answers.Reader, in *BlockInput) (m model.Block, err error) {
	b, err := finalBlock(v, in.ID)
	if err != nil {
		return m, err
	}
	return answers.ShowBlock(b), nil
}

// finalBlock finds a block by its height or hash, or the latest.
func finalBlock(v answers.Reader, id string) (*answers.Block, error) {
	height, err := blockHeight(v, id)
	if err != nil {
		return nil, err
	}
	b, err := v.Block(height)
	if err == nil && b == nil {
		err = noBlock(v, height)
	}
	return b, err
}

func blockHeight(v answers.Reader, id string) (types.Height, error) {
	if id == "latest" {
		return v.Head().Height, nil
	}
	if n, err := strconv.ParseUint(id, 10, 64); err == nil {
		return types.Height(n), nil
	}
	h, err := findHash(v, history.BlockHash, id, "id")
	if refused := Answer(err); refused != nil && refused.Body.Code == "invalid_hash" {
		return 0, Refuse(http.StatusBadRequest, "invalid_block", "%q is not a height, a block hash or latest", clipText(id)).At("id")
	}
	if err != nil {
		return 0, err
	}
	height, found, err := v.HeightOf(h)
	if err == nil && !found {
		err = orPruned(v, Refuse(http.StatusNotFound, "unknown_block", "no final block has the hash %s", h).At("id"))
	}
	return height, err
}

func noBlock(v answers.Reader, h types.Height) *Error {
	head := v.Head().Height
	e := Refuse(http.StatusNotFound, "unknown_block", "there is no final block of height %d; the latest is %d", h, head).At("id")
	if h < head {
		return e.Hint("Time travel skipped that height: see the field skipped of the next block.")
	}
	return e
}

type blocksInput struct {
	OnMoment
	From  optional[types.Height] `query:"from" doc:"First height; without it the latest blocks are listed, newest last."`
	Limit int                    `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"Maximum number of blocks."`
}

func (s *Server) listBlocks(_ context.Context, v answers.Reader, in *blocksInput) ([]model.Block, error) {
	kept, err := v.Kept()
	if err != nil {
		return nil, err
	}
	head := v.Head().Height
	latest := head - min(head, types.Height(in.Limit)) + 1
	from := in.From.orElse(max(latest, kept.From))
	out := []model.Block{}
	for h := from; h <= head && len(out) < in.Limit; h++ {
		b, err := v.Block(h)
		if isNotKept(err) && !in.From.set {
			continue // since this list began
		}
		if err != nil {
			return nil, err
		}
		if b != nil { // a skipped height has none
			out = append(out, answers.ShowBlock(b))
		}
	}
	return out, nil
}

// HashInput is the parameter of requests for one execution.
type HashInput struct {
	OnMoment
	Hash string `path:"hash" maxLength:"80" example:"0x1111111111111111111111111111111111111111111111111111111111111111" doc:"Hash of a transaction; for other receipts the id of a timer or the hash of a message."`
}

func (s *Server) getTransaction(_ context.Context, v answers.Reader, in *HashInput) (m model.Transaction, err error) {
	h, err := findHash(v, history.ExecutionHash, in.Hash, "hash")
	if err != nil {
		return m, err
	}
	tx, height, err := v.Transaction(h)
	if err != nil {
		return m, err
	}
	if tx != nil {
		r, err := v.Receipt(h)
		if err != nil || r == nil {
			return m, err
		}
		m = TypesOf(v).typeTransaction(tx, r.Sender)
		m.Status, m.Height = "final", &height
		return m, nil
	}
	if tx, sender := s.backend.Pending(h); tx != nil && in.At == "" {
		return TypesOf(v).typeTransaction(tx, sender), nil
	}
	return m, unknownTransaction(v, h)
}

func unknownTransaction(v answers.Reader, h types.Hash) error {
	return orPruned(v, Refuse(http.StatusNotFound, "unknown_transaction", "no final block and no pool holds the transaction %s", h).
		Hint("It may have been refused, or given up when its sender could no longer pay.").At("hash"))
}

func (s *Server) getReceipt(_ context.Context, v answers.Reader, in *HashInput) (m model.Receipt, err error) {
	h, err := findHash(v, history.ExecutionHash, in.Hash, "hash")
	if err != nil {
		return m, err
	}
	r, err := v.Receipt(h)
	if err != nil {
		return m, err
	}
	if r != nil {
		return TypesOf(v).Receipt(&r.Receipt, r.Logs), nil
	}
	if tx, _ := s.backend.Pending(h); tx != nil && in.At == "" {
		return m, Refuse(http.StatusNotFound, "not_final", "the transaction %s waits in a pool", h).
			Hint("Ask again after the next block, or use POST /submit_wait.").At("hash")
	}
	return m, unknownTransaction(v, h)
}

type AddressInput struct {
	OnMoment
	Address string `path:"address" maxLength:"256" example:"alice" doc:"0x and 40 hexadecimal digits, or a name."`
}

func (s *Server) getAccount(_ context.Context, v answers.Reader, in *AddressInput) (m model.Account, err error) {
	a, err := s.resolveAddress(v, in.Address, "address")
	if err != nil {
		return m, err
	}
	account, err := v.Account(a)
	if err != nil {
		return m, err
	}
	name := s.nameOf(a)
	if name == "" {
		actor, err := v.Actor(a)
		if err != nil {
			return m, err
		}
		if actor != nil {
			name = actor.Name
		}
	}
	return model.Account{Address: a, Name: name, Nonce: account.Nonce, Balance: account.Balance}, nil
}

func (s *Server) baseFee(_ context.Context, v answers.Reader, _ *OnMoment) (m model.BaseFee, err error) {
	head := v.Head()
	return model.BaseFee{Height: head.Height + 1, BaseFeeCycle: head.NextBaseFeeCycle,
		BaseFeeCell: head.NextBaseFeeCell, BaseFeeLaneTimer: head.NextBaseFeeLane}, nil
}

func (s *Server) listParams(_ context.Context, v answers.Reader, _ *OnMoment) ([]model.Param, error) {
	return v.Params()
}
