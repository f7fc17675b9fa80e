package client

import (
	"context"
	"fmt"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Block is the final block of a height. Heights that were travelled over have none.
func (c *Client) Block(ctx context.Context, h Height) (Block, error) {
	return c.API.Block(ctx, fmt.Sprint(uint64(h)))
}

// LatestBlock is the latest final block.
func (c *Client) LatestBlock(ctx context.Context) (Block, error) { return c.API.Block(ctx, "latest") }

// Receipts lists what a final block executed, in order.
func (c *Client) Receipts(ctx context.Context, h Height) ([]Receipt, error) {
	return Collect(c.API.BlockReceipts(ctx, fmt.Sprint(uint64(h)), Page{}))
}

// Transaction is a transaction, final or pending.
func (c *Client) Transaction(ctx context.Context, hash Hash) (Transaction, error) {
	return c.API.Transaction(ctx, hash.String())
}

// Receipt returns the receipt of a final execution, whatever its outcome.
func (c *Client) Receipt(ctx context.Context, hash Hash) (Receipt, error) {
	return c.API.Receipt(ctx, hash.String())
}

// SubmitWait hands in a transaction that was signed elsewhere, and returns its receipt
// once it is final; it is an *ExecutionError as well where it failed.
func (c *Client) SubmitWait(ctx context.Context, raw []byte) (Receipt, error) {
	return withReceiptError(c.API.SubmitWait(ctx, raw))
}

// Balance is what an account or actor has.
func (c *Client) Balance(ctx context.Context, name string) (Wei, error) {
	a, err := c.API.Account(ctx, name)
	return a.Balance, err
}

// Transfer moves an amount from a devnet account to an account or actor.
func (c *Client) Transfer(ctx context.Context, from, to string, amount Wei) (Receipt, error) {
	return withReceiptError(c.API.Send(ctx, model.SendRequest{From: from, To: to, Value: &amount}))
}

// SetBalance gives an account or actor another balance, and returns the former one.
func (c *Client) SetBalance(ctx context.Context, name string, balance Wei) (before Wei, err error) {
	set, err := c.API.SetBalance(ctx, model.BalanceRequest{Account: name, Balance: balance})
	return set.Before, err
}

// Param is the value of a parameter in force.
func (c *Client) Param(ctx context.Context, key string) (string, error) {
	all, err := c.API.Params(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range all {
		if p.Key == key {
			return p.Value, nil
		}
	}
	return "", fmt.Errorf("there is no parameter %.60q: Params lists them", key)
}

// SetParam has the system key set a parameter from a height on; 0 is the next block, or
// the next epoch's first.
func (c *Client) SetParam(ctx context.Context, key, value string, at Height) (ParamChange, error) {
	return c.API.SetParam(ctx, model.ParamRequest{Key: key, Value: value, At: at})
}
