package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/fixtures"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

func netDeploy(c *call) (starlark.Value, error) {
	n, file, name := netOf(c), argOf[string](c, "file"), argOf[string](c, "name")
	code, err := c.r.sources.readCode(file)
	if err != nil {
		return nil, err
	}
	if err := n.backend.Python(); err != nil && !strings.HasPrefix(file, actors.SamplePrefix) {
		return nil, &NoPython{Cause: err}
	}
	if _, err := n.findAddress(name); err == nil {
		return nil, newMistake("net.deploy: the name %q is taken", name)
	}
	terms, err := c.termsOf()
	if err != nil {
		return nil, err
	}
	init, err := c.resolveArguments("init", api.InitOf(code))
	if err != nil {
		return nil, err
	}
	hash, err := c.submitDraft(n, wallet.Draft{Value: argOf[types.Wei](c, "fund"),
		Payload: types.Deploy{Kind: types.KindDeploy, Code: code, Init: init,
			Manifest: types.Manifest{Name: name, Upgrade: terms}}})
	if err != nil {
		return nil, err
	}
	receipt, err := c.awaitReceipt(n, hash)
	if err != nil {
		return nil, err
	}
	if receipt.Status != types.StatusOK {
		text := fmt.Sprintf("net.deploy: %s was not deployed: %s%s", file, receipt.Status, faultText(receipt.Error))
		if line := quotedLine(faultText(receipt.Error), string(code)); line != "" {
			text += "\n    " + line
		}
		return nil, newFailure("%s", text)
	}
	shown, err := n.showReceipt(receipt)
	if err != nil {
		return nil, err
	}
	a := &actorValue{name: name, code: string(code), address: receipt.To, receipt: recordOf("receipt", shown)}
	n.actors = append(n.actors, a)
	return a, nil
}

func faultText(f *types.Fault) string {
	if f == nil {
		return ""
	}
	return ": " + f.Code + ": " + f.Message
}

// readCode reads what a script deploys: a Go sample, a file of its folder, or a
// fixture of the repository, which the program carries.
func (s *sources) readCode(file string) ([]byte, error) {
	if name, sample := strings.CutPrefix(file, actors.SamplePrefix); sample {
		return []byte(file), oneOf("net.deploy: a Go sample", name, slices.Sorted(maps.Keys(samples.All)))
	}
	text, err := s.readFile(file)
	if err == nil {
		return []byte(text), nil
	}
	if strings.HasPrefix(file, "actors/") && !strings.Contains(file, "../..") {
		if code, err := fixtures.Actors.ReadFile(file); err == nil {
			return code, nil
		}
	}
	var wrong *Mistake
	if errors.As(err, &wrong) {
		return nil, newMistake("%s; the fixtures are %s", wrong.What, strings.Join(fixtures.ActorNames(), ", "))
	}
	return nil, err
}

// resolveArguments is what a verb gives a handler: bytes, or arguments by name.
func (c *call) resolveArguments(bytes string, to api.Taker) ([]byte, error) {
	if !c.hasArgument("args") {
		return argOf[[]byte](c, bytes), nil
	}
	if c.hasArgument(bytes) {
		return nil, newMistake("%s: args and %s are two forms of one thing; leave one out", c.title, bytes)
	}
	v, err := netOf(c).backend.Reader("")
	if err != nil {
		return nil, err
	}
	payload, err := api.Arguments(v, to, argOf[json.RawMessage](c, "args"), c.addressOf)
	if refused := asRefusal(err); refused != nil {
		return nil, newMistake("%s: %s", c.title, refused.Message)
	}
	return payload, err
}

// addressOf finds the address of a name in what a script gives.
func (c *call) addressOf(name, field string) (types.Address, error) {
	at, err := netOf(c).findAddress(name)
	if err != nil {
		err = newMistake("%s: %s %v", c.title, field, err)
	}
	return at, err
}

// readState is the result of a read of typed state, if the script names that and no handler.
func (c *call) readState(v answers.Reader) (result starlark.Value, is bool, err error) {
	actor := argOf[types.Address](c, "actor")
	schema, _ := api.SchemaOf(v, actor) // without one it has no typed state
	shown, is, err := api.ReadState(v, actor, schema, argOf[string](c, "handler"), c.hasArgument("payload") || c.hasArgument("args"),
		c.addressOf)
	if refused := asRefusal(err); refused != nil {
		return nil, true, newFailure("%s: %s", c.title, refused.Message)
	}
	if !is || err != nil {
		return nil, is, err
	}
	return recordOf("result", shown), true, nil
}

// resolvePayload is what a verb gives the handler that it calls.
func (c *call) resolvePayload() ([]byte, error) {
	return c.resolveArguments("payload", api.HandlerOf(argOf[types.Address](c, "actor"), argOf[string](c, "handler")))
}

func (c *call) executeDraft() (wallet.Draft, error) {
	to := argOf[types.Address](c, "actor")
	payload, err := c.resolvePayload()
	return wallet.Draft{To: &to, Value: argOf[types.Wei](c, "value"), Cycles: limitOrNil[types.Cycles](c, "cycles"),
		Cells: limitOrNil[types.Cells](c, "cells"),
		Payload: types.Execute{Kind: types.KindExecute, Handler: argOf[string](c, "handler"), Payload: payload,
			Sponsor: types.SponsorOf(argOf[types.Wei](c, "sponsor"))}}, err
}

// limitOrNil is a limit that a script gives, or nil where it gives none.
func limitOrNil[T ~uint64](c *call, name string) *T {
	limit := T(argOf[uint64](c, name))
	if limit == 0 {
		return nil
	}
	return &limit
}

func netCall(c *call) (starlark.Value, error) {
	draft, err := c.executeDraft()
	if err != nil {
		return nil, err
	}
	return c.submitForReceipt(draft)
}

func (c *call) receiptValue(hash types.Hash) (starlark.Value, error) {
	receipt, err := c.awaitReceipt(netOf(c), hash)
	if err != nil {
		return nil, err
	}
	shown, err := netOf(c).showReceipt(receipt)
	if err != nil {
		return nil, err
	}
	return netOf(c).receiptRecord(hash, shown), nil
}

// showReceipt is a receipt with its meaning by the schemas of the latest final state.
func (n *network) showReceipt(r *history.Executed) (model.Receipt, error) {
	v, err := n.backend.Reader("")
	if err != nil {
		return model.Receipt{}, err
	}
	return api.TypesOf(v).Receipt(&r.Receipt, r.Logs), nil
}

func netSend(c *call) (starlark.Value, error) {
	draft, err := c.executeDraft()
	if err != nil {
		return nil, err
	}
	hash, err := c.submitDraft(netOf(c), draft)
	if err != nil {
		return nil, err
	}
	return starlark.Bytes(hash[:]), nil
}

func netTransfer(c *call) (starlark.Value, error) {
	to := argOf[types.Address](c, "to")
	hash, err := c.submitDraft(netOf(c), wallet.Draft{To: &to, Value: argOf[types.Wei](c, "amount"),
		Payload: types.Transfer{Kind: types.KindTransfer}})
	if err != nil {
		return nil, err
	}
	return c.receiptValue(hash)
}

// readerOf is what a reading verb reads: node's, or the highest.
func (c *call) readerOf() (answers.Reader, error) {
	v, err := netOf(c).backend.Reader(argOf[string](c, "node"))
	if refused := asRefusal(err); refused != nil {
		return nil, newFailure("%s: %s", c.title, refused.Message)
	}
	return v, err
}

func netRead(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	if found, is, err := c.readState(v); is || err != nil {
		return found, err
	}
	payload, err := c.resolvePayload()
	if err != nil {
		return nil, err
	}
	call := ledger.Call{Actor: argOf[types.Address](c, "actor"), Sender: argOf[types.Address](c, "sender"),
		Handler: argOf[string](c, "handler"),
		Payload: payload}
	result, err := v.Read(context.Background(), call)
	if err != nil {
		return nil, err
	}
	shown := answers.ShowResult(v.Head().Height, result)
	shown.Typed = api.TypesOf(v).Returned(call.Actor, call.Handler, result.Outcome.Output)
	return recordOf("result", shown), nil
}

func netReceipt(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	receipt, err := v.Receipt(argOf[types.Hash](c, "hash"))
	if err != nil || receipt == nil {
		return starlark.None, err
	}
	netOf(c).unread.noteLook(receipt.Hash, c.r.currentPlace())
	return recordOf("receipt", api.TypesOf(v).Receipt(&receipt.Receipt, receipt.Logs)), nil
}

// MaxStateKeys bounds what net.state returns.
const MaxStateKeys = 100_000

func netState(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	key := argOf[[]byte](c, "key")
	entries, err := v.State(argOf[types.Address](c, "actor"), key, 0, MaxStateKeys)
	if err != nil {
		return nil, err
	}
	if c.hasArgument("key") {
		for _, e := range entries {
			if string(e.Key) == string(key) {
				return starlark.Bytes(e.Value), nil
			}
		}
		return starlark.None, nil
	}
	d := starlark.NewDict(len(entries))
	for _, e := range entries {
		if err := d.SetKey(starlark.Bytes(e.Key), starlark.Bytes(e.Value)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func netBalance(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	account, err := v.Account(argOf[types.Address](c, "of"))
	return weiValue(account.Balance), err
}

func netAccount(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	of := argOf[types.Address](c, "of")
	account, err := v.Account(of)
	if err != nil {
		return nil, err
	}
	return recordOf("account", model.Account{Address: of, Name: netOf(c).nameOf(of), Nonce: account.Nonce, Balance: account.Balance}), nil
}

// nameOf is the name of an account or actor, or "".
func (n *network) nameOf(a types.Address) string {
	for _, account := range n.backend.Accounts() {
		if account.Address == a {
			return account.Name
		}
	}
	for _, actor := range n.actors {
		if actor.address == a {
			return actor.name
		}
	}
	return ""
}

// MaxListed bounds the lists that verbs return.
const MaxListed = 1_000_000

// timerStatuses are the words of net.timers(status = …).
var timerStatuses = []string{string(types.TimerPending), string(types.TimerFired), string(types.TimerExpired),
	string(types.TimerInsufficientFunds), string(types.TimerCancelled)}

func netTimers(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	filter := history.TimerFilter{Page: history.Page{Limit: MaxListed}}
	if c.hasArgument("actor") {
		of := argOf[types.Address](c, "actor")
		filter.Actor = &of
	}
	if c.hasArgument("due_by") {
		by := argOf[types.Height](c, "due_by")
		filter.DueBy = &by
	}
	if c.hasArgument("status") {
		status := argOf[string](c, "status")
		if err := oneOf("net.timers: status", status, timerStatuses); err != nil {
			return nil, err
		}
		filter.Status = types.TimerStatus(status)
	}
	timers, err := v.Timers(filter)
	if err != nil {
		return nil, err
	}
	var list []starlark.Value
	for i, as := 0, api.TypesOf(v); i < len(timers); i++ {
		list = append(list, recordOf("timer", as.Timer(&timers[i])))
	}
	return frozenList(list), nil
}

// oneOf refuses a word that is not of a list.
func oneOf(what, word string, known []string) error {
	for _, k := range known {
		if word == k {
			return nil
		}
	}
	return newMistake("%s is one of %s; got %q%s", what, strings.Join(known, ", "), word, suggestNames(word, known))
}

func netTimer(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	timer, err := v.Timer(argOf[types.Hash](c, "id"))
	if err != nil || timer == nil {
		return starlark.None, err
	}
	return recordOf("timer", api.TypesOf(v).Timer(timer)), nil
}

func netBlock(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	h := v.Head().Height
	if c.hasArgument("height") {
		h = argOf[types.Height](c, "height")
	}
	block, err := v.Block(h)
	if err != nil || block == nil {
		return starlark.None, err
	}
	return recordOf("block", answers.ShowBlock(block)), nil
}

func netBlocks(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	head, limit := v.Head().Height, c.countOr("limit", 50)
	first := types.Height(1)
	if c.hasArgument("first") {
		first = argOf[types.Height](c, "first")
	} else if uint64(head) > limit {
		first = head - types.Height(limit) + 1
	}
	var list []starlark.Value
	for h := first; h <= head && uint64(len(list)) < limit; h++ {
		block, err := v.Block(h)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", h, err)
		}
		if block != nil {
			list = append(list, recordOf("block", answers.ShowBlock(block)))
		}
	}
	return frozenList(list), nil
}
