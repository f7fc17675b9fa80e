package up

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/actor"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/chaintext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/jobtext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/web"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// maxShownFires bounds the lines of one block: a terminal is read by people.
const maxShownFires = 20

// pageURL is where a browser finds the page and, with --web, the page of that folder.
func (u *running) pageURL(at string) string {
	if u.settings.Web == "" {
		return at + ", to open in a browser"
	}
	return at + ", and of --web: " + at + web.Path
}

// listParts returns the validators, and the accounts that the devnet signs for: as this process's own
// server knows them, or as the one of the process that runs the network says.
func (u *running) listParts(signs bool) (validators []model.Validator, accounts []model.DevnetAccount, err error) {
	if u.server != nil {
		if signs {
			accounts, err = u.server.Accounts()
		}
		return u.server.Validators(), accounts, err
	}
	if validators, err = u.client.Validators(u.Context.Context); err == nil && signs {
		accounts, err = u.client.Accounts(u.Context.Context)
	}
	return validators, accounts, err
}

// printBanner prints the network's parts, and the commands to type next.
func (u *running) printBanner(ready model.Ready, python pythonProbe) error {
	validators, accounts, err := u.listParts(!ready.Strict)
	if err != nil {
		return err
	}
	if u.settings.JSON {
		return json.NewEncoder(u.App.Writer).Encode(struct {
			Event      string                `json:"event"`
			HTTP       string                `json:"http"`
			ChainID    uint64                `json:"chain_id"`
			Height     types.Height          `json:"height"`
			TravelsTo  types.Height          `json:"travels_to,omitempty"` // of an advance that goes on
			Home       string                `json:"home"`
			Python     string                `json:"python"`            // "" if it is missing
			Log        string                `json:"log,omitempty"`     // of a network that was left running
			Origins    []string              `json:"origins,omitempty"` // whose pages may call the API
			Accounts   []model.DevnetAccount `json:"accounts"`
			Validators []model.Validator     `json:"validators"`
		}{"up", u.client.URL(), ready.ChainID, ready.Height, ready.TravelsTo, u.homeDir(), python.version, u.logPath(), ready.Origins,
			append([]model.DevnetAccount{}, accounts...),
			validators})
	}
	w := u.App.Writer
	kept := cmp.Or(u.homeDir(), "none, nothing is kept")
	at := u.client.URL()
	terminal.PrintFacts(w, "HTTP API", at+listen.NoteAllAddresses(u.bound), "chain id", fmt.Sprint(ready.ChainID), "height",
		terminal.Height(ready.Height), "travels", nodetext.DescribeTravel(ready), "home", kept,
		"page", u.pageURL(at), "python", python.version, "runners", nodetext.DescribeRunners(ready), "log", u.logPath())
	for _, err := range u.network.brokenNodes() {
		fmt.Fprintf(w, "\n%s\n", terminal.Wrap("Does not run, and the others go on: "+words.Printable(err.Error()), "", terminal.TextColumns))
	}
	if warning := listen.WarnOfExposure(u.bound, ready.Strict); warning != "" {
		fmt.Fprintf(w, "\n%s\n", terminal.Wrap(warning, "", terminal.TextColumns))
	}
	if warning := listen.DescribeOrigins(ready.Origins, ready.Strict); warning != "" {
		fmt.Fprintf(w, "\n%s\n", terminal.Wrap(warning, "", terminal.TextColumns))
	}
	if python.missing != nil {
		fmt.Fprintf(w, "\nActors cannot run: %v.\n", python.missing)
	}
	fmt.Fprintln(w)
	nodetext.PrintValidators(w, validators)
	fmt.Fprintln(w)
	if !ready.Strict {
		chaintext.PrintAccounts(w, accounts)
		fmt.Fprintln(w)
	}
	where, stop := ", in another terminal", "Ctrl-C"
	if u.Bool(launch.DetachedFlag) || u.settings.Wait { // it is left running
		where, stop = "", self.ProgramName()+" down"+command.HomeFlag(u.settings.Home)
	}
	fmt.Fprintf(w, "Next%s:\n", where)
	for _, command := range u.nextCommands() {
		fmt.Fprintln(w, "  "+command)
	}
	fmt.Fprintf(w, "%s stops the network.\n\n", stop)
	return nil
}

// exampleActor is suggested for deploying if it exists: in a checkout.
const exampleActor = "fixtures/actors/heartbeat.py"

// nextCommands are three commands worth typing, each of which works in this folder.
func (u *running) nextCommands() []string {
	commands := []string{"status", "actor list", "timer list"}
	if len(u.settings.Actors) > 0 {
		name := actor.BaseName(u.settings.Actors[0])
		commands = []string{"status", "actor show " + name, "timer list --actor " + name}
	} else if !u.settings.Strict {
		commands[1] = "transfer bob 5"
		if _, err := os.Stat(exampleActor); err == nil {
			commands[1] = "actor deploy " + exampleActor + " --fund 100"
		}
	}
	for i, c := range commands {
		commands[i] = self.ProgramName() + " " + c + u.networkFlags()
	}
	return commands
}

// networkFlags is what a command needs to find the network.
func (u *running) networkFlags() string {
	if u.address != command.DefaultHTTP && (u.settings.Home != command.DefaultHome || u.settings.Ephemeral) {
		return " --http " + u.address
	}
	return ""
}

// fire is a line of --json for each fire.
type fire struct {
	Event   string    `json:"event"`
	Name    string    `json:"name"`
	Balance types.Wei `json:"balance"`
	model.TimerEvent
}

// executedLine is a line of --json for each transaction and delivered message.
type executedLine struct {
	Event string `json:"event"`
	model.Receipt
}

// followFinal shows what becomes final, until ctx is done. A stream that falls behind is
// opened again after the last event seen.
func (u *running) followFinal() <-chan error {
	done := make(chan error, 1)
	f := &shownBlocks{u: u, names: command.NewNames(u.Context.Context, u.client)}
	go func() {
		follow := client.Follow{From: u.from, Kinds: []string{model.EventTx, model.EventTimer, model.EventFault}}
		if !u.settings.JSON {
			follow.Kinds = append(follow.Kinds, model.EventJob)
		}
		for {
			err := u.client.Events(u.Context.Context, follow, func(e client.Event) error {
				follow.LastID = e.ID
				return f.showEvent(u.Context.Context, e)
			})
			switch {
			case command.RefusedAs(err, "slow_reader"):
				continue
			case command.RefusedAs(err, "not_kept"):
				// Blocks come faster than they are shown, and --history drops them: it
				// continues with the newest.
				if head, err := u.client.Height(u.Context.Context); err == nil {
					u.printLine("Blocks up to height %s are not shown: --history has dropped them.", terminal.Height(head))
					follow.LastID, follow.From = "", head+1
					continue
				}
			}
			done <- err
			return
		}
	}()
	return done
}

// shownBlocks prints what blocks did: a line for each call, deploy, transfer,
// message and fire, and below it what that printed and why it failed.
type shownBlocks struct {
	u        *running
	names    *naming.Names
	height   types.Height           // of the block that is being shown
	lines    int                    // fields of the block to show
	hidden   int                    // left out of it
	balances map[types.Address]bool // shown in it: the balances at its end
}

func (f *shownBlocks) showEvent(ctx context.Context, e client.Event) error {
	switch e.Kind {
	case model.EventTimer:
		var t model.TimerEvent
		if err := command.DecodeEvent(e, &t); err != nil || t.Receipt == nil {
			return err // no fire
		}
		return f.showFire(ctx, &t)
	case model.EventTx:
		var r model.Receipt
		if err := command.DecodeEvent(e, &r); err != nil {
			return err
		}
		return f.showReceipt(&r)
	case model.EventJob:
		return command.WithEvent(e, f.showJob)
	case model.EventFault:
		return command.WithEvent(e, func(r *model.FaultReceipt) { f.u.printLine("fault %s %s", r.Verb, words.Printable(r.Detail)) })
	}
	return nil
}

// hasRoom reports whether a block has room for one more line on a terminal.
func (f *shownBlocks) hasRoom(h types.Height) bool {
	if h != f.height {
		if f.hidden > 0 {
			f.u.printLine("%s", self.ReplaceName(fmt.Sprintf("block %d  and %d more: devnet block %d", f.height, f.hidden, f.height)))
		}
		f.height, f.lines, f.hidden, f.balances = h, 0, 0, map[types.Address]bool{}
	}
	if f.lines++; f.lines > maxShownFires && !f.u.settings.JSON {
		f.hidden++
		return false
	}
	return true
}

func (f *shownBlocks) showFire(ctx context.Context, t *model.TimerEvent) error {
	if !f.hasRoom(t.Height) {
		return nil
	}
	name := f.names.Of(t.Actor)
	account, err := f.u.client.Account(ctx, t.Actor.String())
	if err != nil {
		return err
	}
	if f.u.settings.JSON {
		return json.NewEncoder(f.u.App.Writer).Encode(fire{"fire", name, account.Balance, *t})
	}
	balance := ""
	if !f.balances[t.Actor] {
		f.balances[t.Actor] = true
		balance = "  balance " + words.CBY(account.Balance)
	}
	f.u.printLine("block %d  %s fired  %s  fee %s%s", t.Height, name, t.Receipt.Status, words.CBY(t.Receipt.Fee), balance)
	f.showBelow(t.Receipt)
	return nil
}

// ofRunners reports whether an execution is what validators do for runners all the
// time: it brought a heartbeat, a commitment or a result. Such executions are for
// machines; the outcome of a job is shown.
func ofRunners(r *model.Receipt) bool {
	return r.Status == string(types.StatusOK) &&
		(r.To == types.VerifierAddress || r.To == types.RegistryAddress && r.Handler == "heartbeat")
}

func (f *shownBlocks) showReceipt(r *model.Receipt) error {
	if ofRunners(r) && !f.u.settings.JSON || !f.hasRoom(r.Height) {
		return nil
	}
	if f.u.settings.JSON {
		return json.NewEncoder(f.u.App.Writer).Encode(executedLine{r.Origin, *r})
	}
	if f.u.told[r.Hash] {
		return nil
	}
	f.u.printLine("block %d  %s  %s  %s cycles  fee %s", r.Height, chaintext.DescribeExecution(r, f.names), r.Status,
		words.Grouped(uint64(r.Cycles)), words.CBY(r.Fee))
	f.showBelow(r)
	return nil
}

// toldOfJobs lists the shown changes of a job: its committees, and its end. The loss of a
// committee is not shown: the same block draws another, or the job waits.
var toldOfJobs = []string{model.JobDrawn, model.JobWaiting, model.JobCompleted, model.JobCancelled, model.JobFailed}

func (f *shownBlocks) showJob(e *model.JobEvent) {
	if !slices.Contains(toldOfJobs, e.What) || !f.hasRoom(e.Height) {
		return
	}
	words := []string{"job " + words.Short(e.ID.String()), e.What}
	if e.What != model.JobCancelled { // its error says the same
		words = append(words, jobtext.EventDetails(f.names, e)...)
	}
	if e.Runner != nil {
		words = append(words, "won by "+f.names.Of(*e.Runner))
	}
	f.u.printLine("block %d  %s", e.Height, strings.Join(words, "  "))
}

// showBelow prints what an execution printed, and why it failed.
func (f *shownBlocks) showBelow(r *model.Receipt) {
	if w := f.u.App.Writer; !f.u.settings.JSON {
		chaintext.PrintOutput(w, r.Logs)
		chaintext.PrintFault(w, r.Error)
	}
}
