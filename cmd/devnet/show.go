package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/api/client"
	"github.com/cowboyinc/devnet/internal/api/model"
	"github.com/cowboyinc/devnet/internal/types"
)

// maxShownFires bounds the lines of one block: a terminal is read by people.
const maxShownFires = 20

// banner prints what is there, and what to type next.
func (u *upped) banner(ready model.Ready, python probed) error {
	ctx := u.Context.Context
	validators, err := u.client.Validators(ctx)
	if err != nil {
		return err
	}
	var accounts []model.DevnetAccount
	if !ready.Strict {
		if accounts, err = u.client.Accounts(ctx); err != nil {
			return err
		}
	}
	if u.settings.JSON {
		return json.NewEncoder(u.App.Writer).Encode(struct {
			Event      string                `json:"event"`
			HTTP       string                `json:"http"`
			ChainID    uint64                `json:"chain_id"`
			Height     types.Height          `json:"height"`
			Home       string                `json:"home"`
			Python     string                `json:"python"` // "" where it is missing
			Accounts   []model.DevnetAccount `json:"accounts"`
			Validators []model.Validator     `json:"validators"`
		}{"up", u.client.Address(), ready.ChainID, ready.Height, u.home(), python.version, append([]model.DevnetAccount{}, accounts...), validators})
	}
	w := u.App.Writer
	where := u.home()
	if where == "" {
		where = "none, nothing is kept"
	}
	facts(w, "HTTP API", u.client.Address(), "chain id", fmt.Sprint(ready.ChainID), "height", height(ready.Height), "home", where, "python", python.version)
	if python.missing != nil {
		fmt.Fprintf(w, "\nActors cannot run: %v.\n", python.missing)
	}
	fmt.Fprintln(w)
	validatorTable(w, validators)
	fmt.Fprintln(w)
	if !ready.Strict {
		accountTable(w, accounts)
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "Next, in another terminal:")
	for _, command := range u.next() {
		fmt.Fprintln(w, "  "+command)
	}
	fmt.Fprintln(w, "Ctrl-C stops the network.")
	fmt.Fprintln(w)
	return nil
}

// next are three commands worth typing.
func (u *upped) next() []string {
	commands := []string{"status", "actor list", "timer list"}
	if len(u.settings.Actors) > 0 {
		name := baseName(u.settings.Actors[0])
		commands = []string{"status", "actor show " + name, "timer list --actor " + name}
	} else if !u.settings.Strict {
		commands = []string{"status", "actor deploy fixtures/actors/heartbeat.py --fund 100", "timer list"}
	}
	suffix := ""
	if u.address != defaultHTTP && (u.settings.Home != defaultHome || u.settings.Ephemeral) {
		suffix = " --http " + u.address
	}
	for i, c := range commands {
		commands[i] = "devnet " + c + suffix
	}
	return commands
}

// fire is a line of --json for each fire.
type fire struct {
	Event   string    `json:"event"`
	Name    string    `json:"name"`
	Balance types.Wei `json:"balance"`
	model.TimerEvent
}

// follow shows the fires as they become final, until ctx is done. A stream that
// falls behind is begun anew behind the last event seen.
func (u *upped) follow() <-chan error {
	done := make(chan error, 1)
	f := &fires{u: u}
	go func() {
		follow := client.Follow{From: u.from, Kinds: []string{model.EventTimer}}
		for {
			err := u.client.Events(u.Context.Context, follow, func(e client.Event) error {
				follow.LastID = e.ID
				return f.show(u.Context.Context, e)
			})
			if refused, ok := err.(*client.Error); ok && refused.Code == "slow_reader" {
				continue
			}
			done <- err
			return
		}
	}()
	return done
}

// fires prints fires.
type fires struct {
	u      *upped
	height types.Height // of the block whose fires are being shown
	shown  int
	hidden int
}

func (f *fires) show(ctx context.Context, e client.Event) error {
	var t model.TimerEvent
	if err := json.Unmarshal(e.Data, &t); err != nil {
		return fmt.Errorf("the event %s is not understood: %w", e.ID, err)
	}
	if t.Receipt == nil {
		return nil // no fire
	}
	if t.Height != f.height {
		if f.hidden > 0 {
			f.u.say("block %d  and %d more fires", f.height, f.hidden)
		}
		f.height, f.shown, f.hidden = t.Height, 0, 0
	}
	if f.shown++; f.shown > maxShownFires && !f.u.settings.JSON {
		f.hidden++
		return nil
	}
	name, balance, err := f.actor(ctx, t.Actor)
	if err != nil {
		return err
	}
	if f.u.settings.JSON {
		return json.NewEncoder(f.u.App.Writer).Encode(fire{"fire", name, balance, t})
	}
	f.u.say("block %d  %s fired  %s  fee %s  balance %s", t.Height, name, t.Receipt.Status, cby(t.Receipt.Fee), cby(balance))
	for _, line := range t.Logs {
		f.u.say("    %s", printable(line))
	}
	if t.Receipt.Error != nil {
		f.u.say("    %s: %s", t.Receipt.Error.Code, strings.ReplaceAll(printable(strings.TrimSpace(t.Receipt.Error.Message)), "\n", "\n    "))
	}
	return nil
}

// actor is an actor's name, or its address where it has none, and its balance.
func (f *fires) actor(ctx context.Context, a types.Address) (string, types.Wei, error) {
	account, err := f.u.client.Account(ctx, a.String())
	if err != nil {
		return "", types.Wei{}, err
	}
	if account.Name == "" {
		account.Name = a.String()
	}
	return printable(account.Name), account.Balance, nil
}
