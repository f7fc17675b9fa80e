package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Deployment says how an actor is deployed. All of it may be left out.
type Deployment struct {
	From string // a devnet account, which owns the actor; "": alice
	Name string // works wherever an address does; "": none, or the base name of a file
	Init []byte // payload of an init that takes bytes
	// Args are the arguments of a typed init by name, in the forms of the schema. An integer
	// is an Int, a Wei or a number. The name of an account or actor is an address too.
	Args map[string]any
	Fund Wei // moved from the owner to the actor
	// Upgrade names the account that may give the actor new code; nil: none, for good.
	Upgrade     *UpgradeTerms
	Replace     bool   // take the name from the actor of the same owner that has it
	CyclesLimit Cycles // 0: 1,000,000 and 4 a byte of code
	CellsLimit  Cells  // 0: enough for code and init, and 100,000 more
}

// initInput is the input of init or migrate: bytes, or arguments by name in JSON. both is the text of
// the error if there are both.
func initInput(data []byte, given map[string]any, both string) (payload string, args map[string]json.RawMessage, err error) {
	if given == nil {
		return Bytes(data).String(), nil, nil
	}
	if len(data) > 0 {
		return "", nil, errors.New(both)
	}
	args = map[string]json.RawMessage{}
	for name, v := range given {
		if args[name], err = json.Marshal(v); err != nil {
			return "", nil, fmt.Errorf("the argument %s: %w", name, err)
		}
	}
	return "", args, nil
}

// Deploy deploys an actor from its Python source. The error is an *ExecutionError where
// its init failed.
func (c *Client) Deploy(ctx context.Context, source []byte, d Deployment) (*Actor, error) {
	initial, args, err := initInput(d.Init, d.Args, "a deploy has Init or Args: both are given")
	if err != nil {
		return nil, err
	}
	out, err := c.API.Deploy(ctx, model.DeployRequest{From: orAlice(d.From), Code: Bytes(source).String(), Name: d.Name,
		Init: initial, Args: args, Fund: &d.Fund, Upgrade: d.Upgrade,
		Replace: d.Replace, CyclesLimit: pointerOrNil(d.CyclesLimit), CellsLimit: pointerOrNil(d.CellsLimit)})
	if err != nil {
		return nil, err
	}
	if _, err := withReceiptError(out.Receipt, nil); err != nil {
		return nil, err
	}
	return &Actor{client: c, Name: d.Name, Address: out.Address}, nil
}

// DeployFile deploys an actor from a Python file, by default under the file's base
// name.
func (c *Client) DeployFile(ctx context.Context, path string, d Deployment) (*Actor, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if d.Name == "" {
		d.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return c.Deploy(ctx, source, d)
}

// Call is a call of a handler, signed by the devnet.
type Call struct {
	From        string // a devnet account, "": alice; any other address or actor is impersonated
	To          string // an actor
	Handler     string
	Payload     []byte
	Value       Wei    // moved to the actor
	Sponsor     Wei    // the most that timers of the actor may cost who calls
	CyclesLimit Cycles // 0: 1,000,000
	CellsLimit  Cells  // 0: enough for the payload, and 100,000 more
	DryRun      bool   // execute it on the latest state and change nothing
	NoWait      bool   // return once it is in the pool: the receipt has its hash, and the status pending
}

// Call calls a handler, and returns the receipt once it is final; it comes with an
// *ExecutionError where it failed.
func (c *Client) Call(ctx context.Context, call Call) (Receipt, error) {
	return withReceiptError(c.API.Send(ctx, model.SendRequest{From: orAlice(call.From), To: call.To, Handler: call.Handler,
		Payload: Bytes(call.Payload).String(), Value: &call.Value, Sponsor: &call.Sponsor, CyclesLimit: pointerOrNil(call.CyclesLimit),
		CellsLimit: pointerOrNil(call.CellsLimit), DryRun: call.DryRun, NoWait: call.NoWait}))
}

// Actors lists the deployed actors.
func (c *Client) Actors(ctx context.Context) ([]ActorInfo, error) {
	return Collect(c.API.Actors(ctx, Page{}))
}

// Actor is an actor by name or address. A missing actor is an error of its first use.
func (c *Client) Actor(name string) *Actor { return &Actor{client: c, Name: name} }

// Actor is an actor on chain, as one client reaches it.
type Actor struct {
	client  *Client
	Name    string       // name of its deployment or of the request; "" if only its address is known
	Address Address      // zero if it was requested by name
	schema  *Schema      // nil if no generated client has it
	checked *atomic.Bool // whether the network was asked for the schema
}

// nameOrAddress is what the network knows it by.
func (a *Actor) nameOrAddress() string { return cmp.Or(a.Name, a.Address.String()) }

// Info returns the chain's record of it, with its handlers.
func (a *Actor) Info(ctx context.Context) (ActorInfo, error) {
	return a.client.API.Actor(ctx, a.nameOrAddress())
}

// Call calls a handler for a devnet account, and returns the receipt once it is final;
// it comes with an *ExecutionError where it failed.
func (a *Actor) Call(ctx context.Context, from, handler string, payload []byte) (Receipt, error) {
	return a.client.Call(ctx, Call{From: from, To: a.nameOrAddress(), Handler: handler, Payload: payload})
}

// Read calls a handler on the latest state, and changes nothing. How that ended is the
// result's status.
func (a *Actor) Read(ctx context.Context, handler string, payload []byte) (ReadResult, error) {
	return a.client.API.Read(ctx, model.ReadRequest{Actor: a.nameOrAddress(), Handler: handler, Payload: Bytes(payload).String()})
}

// State lists its state: the keys that begin with a prefix, in order.
func (a *Actor) State(ctx context.Context, prefix []byte) ([]StateEntry, error) {
	return Collect(a.client.API.State(ctx, a.nameOrAddress(), Bytes(prefix).String(), Page{}))
}

// SetState gives a key of its state another value; nil removes the key.
func (a *Actor) SetState(ctx context.Context, key, value []byte) error {
	r := model.StateRequest{Actor: a.nameOrAddress(), Key: Bytes(key).String()}
	if value != nil {
		r.Value = new(Bytes(value).String())
	}
	_, err := a.client.API.SetState(ctx, r)
	return err
}

// Get returns the value of one key of its state, nil if there is none.
func (a *Actor) Get(ctx context.Context, key []byte) ([]byte, error) {
	entries, err := Collect(a.client.API.State(ctx, a.nameOrAddress(), Bytes(key).String(), Page{Limit: 1}))
	if err != nil || len(entries) == 0 || string(entries[0].Key) != string(key) {
		return nil, err
	}
	return entries[0].Value, nil
}

// Balance is what it has.
func (a *Actor) Balance(ctx context.Context) (Wei, error) {
	return a.client.Balance(ctx, a.nameOrAddress())
}

// Logs lists what it printed.
func (a *Actor) Logs(ctx context.Context) ([]LogLine, error) {
	return Collect(a.client.API.Logs(ctx, a.nameOrAddress(), Page{}))
}

// Timers lists its timers in every state, by due height.
func (a *Actor) Timers(ctx context.Context) ([]Timer, error) {
	return a.client.Timers(ctx, TimerFilter{Actor: a.nameOrAddress()})
}
