// Package ethsend does jobs of the kind ethsend (CIP-2): it hands a signed
// transaction to an Ethereum node over JSON-RPC, and its result is the
// transaction's hash: 32 bytes, or as text or JSON its hexadecimal form.
//
// The hash is keccak256 of the signed bytes, without blobs, so that nothing an endpoint says
// decides it. All runners of a committee send the same transaction; a runner that
// comes later finds it known, which counts as having sent it. What was handed to a node is
// followed until the job's time ends, whatever a request in between answers: sending the same
// bytes again pays nothing twice.
package ethsend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/outbound"
)

const (
	// maxAnswer bounds what an endpoint answers: a block's worth of a receipt's logs.
	maxAnswer = 4 << 20
	// receiptEvery is how often a receipt is asked for: several times a block of the
	// quickest chains that a person would name here.
	receiptEvery = 500 * time.Millisecond
	// lost is the number of answers in a row, that the node has no such transaction, after
	// which it was replaced or dropped: one of them may come from another node than took it.
	lost = 3
)

// Chain is how to reach a chain.
type Chain struct {
	Endpoint string
	Receipt  bool // a job is done when its transaction is in a block, whether it succeeded there or not
}

// Kind does ethsend jobs.
type Kind struct {
	chains map[uint64]Chain
	client *http.Client
	every  time.Duration // receiptEvery
}

var _ executor.Kind = (*Kind)(nil)

// EndpointError says that the URL of a chain's endpoint is invalid.
type EndpointError struct {
	Chain uint64
	URL   string
}

func (e *EndpointError) Error() string {
	return fmt.Sprintf("invalid URL %.80q of the endpoint of chain %d: want one like http://127.0.0.1:8545", e.URL, e.Chain)
}

// New makes the kind, for chains by their ids. An invalid URL of an endpoint is an
// *EndpointError.
func New(chains map[uint64]Chain) (*Kind, error) {
	for _, id := range slices.Sorted(maps.Keys(chains)) {
		c := chains[id]
		if u, err := url.Parse(c.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, &EndpointError{id, c.Endpoint}
		}
	}
	return &Kind{chains, outbound.Client(), receiptEvery}, nil
}

// Capabilities implements executor.Kind: the wire has no words for chains.
func (k *Kind) Capabilities() []string { return nil }

// Accepts implements executor.Kind.
func (k *Kind) Accepts(spec *push.JobSpec) *execution.Refusal {
	job := spec.JobType.EthSend
	if _, offered := k.chains[job.Chain]; !offered {
		return execution.Refuse(push.Unsupported, "this runner reaches no chain %d", job.Chain)
	}
	if wrong := spec.Acceptable(); wrong != nil {
		return execution.Refuse(push.BadSpec, "%v", wrong)
	}
	if _, err := hashOf(job.SignedTransaction); err != nil {
		return execution.Refuse(push.BadSpec, "signed_transaction: %v", err)
	}
	return nil
}

// Do implements executor.Kind.
func (k *Kind) Do(ctx context.Context, job *executor.Job) ([]byte, error) {
	asked := job.Spec.JobType.EthSend
	chain := k.chains[asked.Chain]
	hash, err := hashOf(asked.SignedTransaction)
	if err != nil {
		return nil, err
	}
	if err := k.checkChain(ctx, chain, asked.Chain); err != nil {
		return nil, err
	}
	if err := k.sendRaw(ctx, chain, asked.SignedTransaction, hash); err != nil {
		return nil, err
	}
	if chain.Receipt {
		job.Progress(50, "sent "+hash.String())
		if err := k.awaitInclusion(ctx, chain, hash); err != nil {
			return nil, err
		}
	}
	switch job.Spec.ResultSchema.DataFormat {
	case push.FormatText:
		return []byte(hash.String()), nil
	case push.FormatJSON:
		return executor.CanonicalJSON(hash.String()), nil
	}
	return hash[:], nil
}

// checkChain asks an endpoint which chain it is of: one that was exchanged must not
// get what was signed for another.
func (k *Kind) checkChain(ctx context.Context, c Chain, want uint64) error {
	result, err := k.callRPC(ctx, c, "eth_chainId")
	if err != nil {
		return err
	}
	if named := fmt.Sprintf(`"0x%x"`, want); string(result) != named {
		return fmt.Errorf("the endpoint serves chain %.40s, want %s", result, named)
	}
	return nil
}

// sendRaw is done when the node has the transaction, from whomever. Where a request was lost on
// its way the node may have it: the same is sent again.
func (k *Kind) sendRaw(ctx context.Context, c Chain, signed types.Bytes, hash types.Hash) error {
	for {
		result, err := k.callRPC(ctx, c, "eth_sendRawTransaction", signed.String())
		refused := (*rpcError)(nil)
		switch {
		case err == nil && string(result) != `"`+hash.String()+`"`:
			return fmt.Errorf("the endpoint says that it has %.80s, and the transaction is %s", result, hash)
		case err == nil:
			return nil
		case errors.As(err, &refused):
			if known, asking := k.callRPC(ctx, c, "eth_getTransactionByHash", hash.String()); asking == nil && string(known) != "null" {
				return nil
			}
			return execution.Refuse(push.Unsupported, "%v", refused)
		}
		if !k.waitToAskAgain(ctx) {
			return err
		}
	}
}

// awaitInclusion returns when the transaction is in a block. One that the node no longer has was
// replaced or dropped.
func (k *Kind) awaitInclusion(ctx context.Context, c Chain, hash types.Hash) error {
	for missing := 0; ; {
		receipt, err := k.callRPC(ctx, c, "eth_getTransactionReceipt", hash.String())
		if err == nil && string(receipt) != "null" {
			return nil
		}
		last := err
		if err == nil { // a node may refuse to tell receipts while it files its transactions
			var known []byte
			known, last = k.callRPC(ctx, c, "eth_getTransactionByHash", hash.String())
			missing++
			if last != nil || string(known) != "null" {
				missing = 0
			}
		}
		if missing >= lost {
			return execution.Refuse(push.Unsupported, "the node has transaction %s no more: it was replaced or dropped", hash)
		}
		if !k.waitToAskAgain(ctx) {
			return errors.Join(last, ctx.Err())
		}
	}
}

// waitToAskAgain waits until the node is asked again, and reports whether the job's time lasts.
func (k *Kind) waitToAskAgain(ctx context.Context) bool {
	timer := time.NewTimer(k.every)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// rpcError is what a node answers that refuses.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("the node refuses (%d): %.200s", e.Code, e.Message)
}

// callRPC returns the compact result of a call, "null" if there is none.
func (k *Kind) callRPC(ctx context.Context, c Chain, method string, params ...any) ([]byte, error) {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	status, text, err := outbound.PostJSON(ctx, k.client, c.Endpoint, body, nil, maxAnswer)
	if err != nil {
		return nil, err
	}
	text = outbound.WithoutMark(text)
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	if _, bad := executor.ParseJSON(text); bad != nil || json.Unmarshal(text, &answer) != nil {
		return nil, errors.New(outbound.Say(fmt.Sprintf("the endpoint answered %s with the status %d and no JSON-RPC", method, status), text))
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	if answer.Result == nil {
		return []byte("null"), nil
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, answer.Result)
	return compact.Bytes(), err
}
