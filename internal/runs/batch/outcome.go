package batch

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/validators/history"
)

// Limits of the compared part of one run.
const (
	maxOutcomes = 2_000 // transactions of a script, timers and jobs, each
	pageOfList  = 500
)

// Outcome is the observable result of a run that does not depend on the pace of its
// world: the end of each transaction of the script, the outcomes of jobs and timers,
// and, if fires cost nothing, the balances of the named accounts.
type Outcome struct {
	Lines []OutcomeLine `json:"lines"`
}

// OutcomeLine is one thing that is seen.
type OutcomeLine struct {
	Of   string `json:"of"`   // "transaction 3, to heart: start"
	What string `json:"what"` // "ok"
}

func (o *Outcome) addLine(of, what string) { o.Lines = append(o.Lines, OutcomeLine{of, what}) }

// recorder notes the results of a run: it wraps a script's world.
type recorder struct {
	open     scenario.Open
	outcome  Outcome
	networks int
}

// Open implements scenario.Open.
func (r *recorder) Open(c scenario.Config) (scenario.Backend, error) {
	b, err := r.open(c)
	if err != nil {
		return nil, err
	}
	r.networks++
	return &recordedBackend{Backend: b, recorder: r, network: r.networks}, nil
}

// recordedBackend is a backend whose script's transactions are noted.
type recordedBackend struct {
	scenario.Backend
	recorder *recorder
	network  int // the number of the network in its script
	sent     []types.Hash
	once     sync.Once
}

// Submit implements scenario.Backend. A transaction that is handed in again, since it waits,
// is the one that it was.
func (b *recordedBackend) Submit(raw []byte) (types.Hash, error) {
	hash, err := b.Backend.Submit(raw)
	if err == nil && len(b.sent) < maxOutcomes && !slices.Contains(b.sent, hash) {
		b.sent = append(b.sent, hash)
	}
	return hash, err
}

// Close implements scenario.Backend. A result that is no longer readable is
// recorded as such.
func (b *recordedBackend) Close() error {
	b.once.Do(func() {
		if err := b.readOutcome(); err != nil {
			b.recorder.outcome.addLine(b.isNamed("its history"), fmt.Sprintf("cannot be read: %v", err))
		}
	})
	return b.Backend.Close()
}

// isNamed is a thing of this network.
func (b *recordedBackend) isNamed(what string) string {
	if b.network == 1 {
		return what
	}
	return fmt.Sprintf("network %d, %s", b.network, what)
}

func (b *recordedBackend) readOutcome() error {
	reader, err := b.Reader("")
	if err != nil {
		return err
	}
	names := b.nameAddresses(reader)
	for _, step := range []func(answers.Reader, func(types.Address) string) error{b.recordTransactions, b.recordTimers, b.recordJobs,
		b.recordBalances} {
		if err := step(reader, names); err != nil {
			return err
		}
	}
	return nil
}

// nameAddresses is what addresses are called: their own text differs where keys do.
func (b *recordedBackend) nameAddresses(reader answers.Reader) func(types.Address) string {
	known := map[types.Address]string{types.RegistryAddress: "the registry", types.DispatcherAddress: "the dispatcher"}
	for _, a := range slices.Concat(b.Accounts(), b.Runners()) {
		known[a.Address] = a.Name
	}
	for _, n := range b.Nodes() {
		known[n.Validator.Address] = n.Name
	}
	return func(a types.Address) string {
		if name := known[a]; name != "" {
			return name
		}
		if actor, err := reader.Actor(a); err == nil && actor != nil && actor.Name != "" {
			return actor.Name
		}
		return a.String()
	}
}

// recordTransactions records the script's transactions, in its order.
func (b *recordedBackend) recordTransactions(reader answers.Reader, names func(types.Address) string) error {
	for i, hash := range b.sent {
		receipt, err := reader.Receipt(hash)
		if err != nil {
			return err
		}
		what := "not final"
		if receipt != nil {
			what = string(receipt.Status)
			if receipt.Error != nil {
				what += " (" + receipt.Error.Code + ")"
			}
		}
		tx, _, err := reader.Transaction(hash)
		if err != nil {
			return err
		}
		b.recorder.outcome.addLine(b.isNamed(fmt.Sprintf("transaction %d%s", i+1, describeRequest(tx, names))), what)
	}
	return nil
}

// describeRequest is what a transaction asks for.
func describeRequest(tx *types.Transaction, names func(types.Address) string) string {
	if tx == nil {
		return ""
	}
	to := ""
	if tx.To != nil {
		to = " to " + names(*tx.To)
	}
	var kind struct {
		Kind    string `cbor:"kind"`
		Handler string `cbor:"handler"`
	}
	if codec.UnmarshalPartial(tx.Payload, types.MaxTransactionBytes, &kind) != nil {
		return "," + to
	}
	if kind.Handler != "" {
		return fmt.Sprintf(",%s: %s", to, kind.Handler)
	}
	return fmt.Sprintf(",%s: %s", to, kind.Kind)
}

// recordTimers are told by actor and handler, each way in which one ended once: how many there
// were follows from how long a run took.
func (b *recordedBackend) recordTimers(reader answers.Reader, names func(types.Address) string) error {
	ends := map[string][]string{}
	var order []string
	for offset := 0; offset < maxOutcomes; offset += pageOfList {
		timers, err := reader.Timers(history.TimerFilter{Page: history.Page{Offset: offset, Limit: pageOfList}})
		if err != nil {
			return err
		}
		for i := range timers {
			t := &timers[i]
			if t.Status == types.TimerPending {
				continue
			}
			of := fmt.Sprintf("timers of %s, %s", names(t.Actor), t.Handler)
			if ends[of] == nil {
				order = append(order, of)
			}
			if how := describeEnd(t); !slices.Contains(ends[of], how) {
				ends[of] = append(ends[of], how)
			}
		}
		if len(timers) < pageOfList {
			break
		}
	}
	slices.Sort(order)
	for _, of := range order {
		slices.Sort(ends[of])
		b.recorder.outcome.addLine(b.isNamed(of), strings.Join(ends[of], "; "))
	}
	return nil
}

// describeEnd is how a timer ended, and when by the height from which it was due.
func describeEnd(t *answers.Timer) string {
	how := string(t.Status)
	if t.Status != types.TimerFired {
		return how
	}
	if late := t.EndedAt - t.DueAt; late > 0 && t.DueAt > 0 {
		how += fmt.Sprintf(" %d late", late)
	} else {
		how += " when due"
	}
	if t.Result != "" {
		how += ", " + string(t.Result)
	}
	return how
}

// recordJobs are told in the order in which they were submitted.
func (b *recordedBackend) recordJobs(reader answers.Reader, names func(types.Address) string) error {
	for number := 0; number < maxOutcomes; {
		jobs, err := reader.Jobs(history.JobFilter{Page: history.Page{Offset: number, Limit: pageOfList}})
		if err != nil {
			return err
		}
		for i := range jobs {
			j := &jobs[i]
			number++
			what := string(j.Status)
			if j.Error != nil {
				what += " (" + j.Error.Code + ")"
			}
			if j.Result != nil {
				what += ", result " + clipText(string(*j.Result))
			}
			b.recorder.outcome.addLine(b.isNamed(fmt.Sprintf("job %d, %s of %s", number, j.Kind, names(j.Submitter))), what)
		}
		if len(jobs) < pageOfList {
			break
		}
	}
	return nil
}

// maxShown bounds what a difference repeats of a result, in bytes.
const maxShown = 40

func clipText(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return fmt.Sprintf("%q", text)
}

// feesKey is the parameter that says whether fires cost something.
const feesKey = "cip5.fees"

// recordBalances records the balances of the named accounts if no fee depends on the
// pace.
func (b *recordedBackend) recordBalances(reader answers.Reader, _ func(types.Address) string) error {
	params, err := reader.Params()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(params, func(p model.Param) bool { return p.Key == feesKey && p.Value == "free" }) {
		return nil
	}
	for _, a := range b.Accounts() {
		account, err := reader.Account(a.Address)
		if err != nil {
			return err
		}
		b.recorder.outcome.addLine(b.isNamed("balance of "+a.Name), fmt.Sprintf("%s wei", account.Balance))
	}
	return nil
}
