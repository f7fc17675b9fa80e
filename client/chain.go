package client

import (
	"context"
	"fmt"

	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Height is the height of the latest final block.
func (c *Client) Height(ctx context.Context) (Height, error) { return c.api.Height(ctx) }

// Block is the final block of a height. Heights that were travelled over have none.
func (c *Client) Block(ctx context.Context, h Height) (Block, error) {
	return c.api.Block(ctx, fmt.Sprint(uint64(h)))
}

// LatestBlock is the latest final block.
func (c *Client) LatestBlock(ctx context.Context) (Block, error) { return c.api.Block(ctx, "latest") }

// Receipts lists what a final block executed, in order.
func (c *Client) Receipts(ctx context.Context, h Height) ([]Receipt, error) {
	return whole(func(p client.Page) ([]Receipt, error) { return c.api.BlockReceipts(ctx, fmt.Sprint(uint64(h)), p) })
}

// Transaction is a transaction, final or pending.
func (c *Client) Transaction(ctx context.Context, hash Hash) (Transaction, error) {
	return c.api.Transaction(ctx, hash.String())
}

// Receipt returns the receipt of a final execution, whatever its outcome.
func (c *Client) Receipt(ctx context.Context, hash Hash) (Receipt, error) {
	return c.api.Receipt(ctx, hash.String())
}

// Submit hands in a transaction that was signed elsewhere, as canonical CBOR, and
// returns once a pool took it.
func (c *Client) Submit(ctx context.Context, raw []byte) (Hash, error) { return c.api.Submit(ctx, raw) }

// SubmitWait hands in a transaction that was signed elsewhere, and returns its receipt
// once it is final; it is an *ExecutionError as well where it failed.
func (c *Client) SubmitWait(ctx context.Context, raw []byte) (Receipt, error) {
	return judged(c.api.SubmitWait(ctx, raw))
}

// Accounts lists the accounts that the devnet signs for.
func (c *Client) Accounts(ctx context.Context) ([]DevnetAccount, error) { return c.api.Accounts(ctx) }

// Account is nonce and balance of an account or actor.
func (c *Client) Account(ctx context.Context, name string) (Account, error) {
	return c.api.Account(ctx, name)
}

// Balance is what an account or actor has.
func (c *Client) Balance(ctx context.Context, name string) (Wei, error) {
	a, err := c.api.Account(ctx, name)
	return a.Balance, err
}

// Transfer moves an amount from a devnet account to an account or actor.
func (c *Client) Transfer(ctx context.Context, from, to string, amount Wei) (Receipt, error) {
	return judged(c.api.Send(ctx, model.SendRequest{From: from, To: to, Value: &amount}))
}

// Faucet gives an account what the faucet gives.
func (c *Client) Faucet(ctx context.Context, name string) (FaucetReceipt, error) {
	return c.api.Faucet(ctx, name)
}

// SetBalance gives an account or actor another balance, and returns the former one.
func (c *Client) SetBalance(ctx context.Context, name string, balance Wei) (before Wei, err error) {
	set, err := c.api.SetBalance(ctx, model.BalanceRequest{Account: name, Balance: balance})
	return set.Before, err
}

// BaseFee is the prices of the next block.
func (c *Client) BaseFee(ctx context.Context) (BaseFee, error) { return c.api.BaseFee(ctx) }

// Params lists the parameters in force.
func (c *Client) Params(ctx context.Context) ([]Param, error) { return c.api.Params(ctx) }

// Param is the value of a parameter in force.
func (c *Client) Param(ctx context.Context, key string) (string, error) {
	all, err := c.api.Params(ctx)
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
	return c.api.SetParam(ctx, model.ParamRequest{Key: key, Value: value, At: at})
}
