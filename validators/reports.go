package validators

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of runner transactions that wait. They are free and have no nonce, so that
// they are apart from those of a mempool. Each validator has its own, and of these each
// runner has a share (decision J24).
const (
	maxReports     = 1024 // commitments and results of one validator: as many as several blocks hold
	maxHeartbeats  = 4096 // of one validator, one of each runner
	reportAge      = 64   // blocks after which a report is given up: its subject has moved on
	maxReportBytes = 8 << 20
)

// ReportsFullError refuses a runner transaction: as many as this runner's share wait.
type ReportsFullError struct {
	Runner types.Address
	Why    string
}

func (e *ReportsFullError) Error() string {
	return fmt.Sprintf("too_many_reports: %s of runner %s wait at this validator", e.Why, e.Runner)
}

// reports are the runner transactions that wait, in the order they came.
type reports struct {
	waiting    []report // commitments and results
	heartbeats []report
	known      map[types.Hash]*ledger.Checked
	of         map[types.Address]*waitingOfSender // by the validator that sent them
}

type report struct {
	tx     *ledger.Checked
	came   types.Height
	runner types.Address
	beat   *types.Height // of a heartbeat: the height that it signs
}

// reportOn is a runner transaction that came at a height.
func reportOn(now types.Height, tx *ledger.Checked) report {
	one := report{tx: tx, came: now, runner: tx.Runner()}
	if heartbeat := tx.Heartbeat(); heartbeat != nil {
		one.beat = &heartbeat.BlockHeight
	}
	return one
}

// waitingOfSender is what waits of one validator.
type waitingOfSender struct {
	load
	runners    map[types.Address]load // by runner
	heartbeats map[types.Address]report
}

// load is commitments and results.
type load struct{ count, bytes int }

func (l load) addLoad(count, bytes int) load { return load{l.count + count, l.bytes + bytes} }

// addReport takes a runner transaction, and reports whether it is new. A transaction that waits
// already causes no error.
func (r *reports) addReport(one report) (fresh bool, err error) {
	if r.findReport(one.tx.Hash) != nil {
		return false, nil
	}
	if r.known == nil {
		r.known, r.of = map[types.Hash]*ledger.Checked{}, map[types.Address]*waitingOfSender{}
	}
	b := r.of[one.tx.Sender]
	if b == nil {
		b = &waitingOfSender{runners: map[types.Address]load{}, heartbeats: map[types.Address]report{}}
		r.of[one.tx.Sender] = b
	}
	if one.beat != nil {
		err = r.addHeartbeat(b, one)
	} else {
		err = r.addResult(b, one)
	}
	if err != nil {
		r.forgetIdleSender(one.tx.Sender)
		return false, err
	}
	r.known[one.tx.Hash] = one.tx
	return true, nil
}

// addResult takes a commitment or a result. A runner has at most as many as are left to
// all others, so that no runner takes the place of another.
func (r *reports) addResult(b *waitingOfSender, one report) error {
	own := b.runners[one.runner].addLoad(1, one.tx.Size)
	if own.count > maxReports-b.count || own.bytes > maxReportBytes-b.bytes {
		return &ReportsFullError{one.runner, fmt.Sprintf("%d commitments and results", own.count-1)}
	}
	b.runners[one.runner], b.load = own, b.addLoad(1, one.tx.Size)
	r.waiting = append(r.waiting, one)
	return nil
}

// addHeartbeat takes a heartbeat: one of a runner, the one of the highest block.
func (r *reports) addHeartbeat(b *waitingOfSender, one report) error {
	before, waits := b.heartbeats[one.runner]
	switch {
	case !waits && len(b.heartbeats) >= maxHeartbeats:
		return &ReportsFullError{one.runner, "no heartbeat, and as many of other runners as it takes,"}
	case waits && *before.beat >= *one.beat:
		return &ReportsFullError{one.runner, fmt.Sprintf("a heartbeat at height %d", *before.beat)}
	case waits:
		delete(r.known, before.tx.Hash)
		r.heartbeats = slices.DeleteFunc(r.heartbeats, func(other report) bool { return other.tx == before.tx })
	}
	b.heartbeats[one.runner] = one
	r.heartbeats = append(r.heartbeats, one)
	return nil
}

// findReport returns a runner transaction that waits, or nil.
func (r *reports) findReport(hash types.Hash) *ledger.Checked { return r.known[hash] }

// eachReport calls do for the waiting transactions, results first, until it returns false.
func (r *reports) eachReport(do func(*ledger.Checked) bool) bool {
	for _, list := range [][]report{r.waiting, r.heartbeats} {
		for _, one := range list {
			if !do(one.tx) {
				return false
			}
		}
	}
	return true
}

// forgetWhere takes out the reports for which gone returns true.
func (r *reports) forgetWhere(gone func(report) bool) {
	out := func(one report) bool {
		if !gone(one) {
			return false
		}
		r.releaseRoom(one)
		return true
	}
	r.waiting = slices.DeleteFunc(r.waiting, out)
	r.heartbeats = slices.DeleteFunc(r.heartbeats, out)
}

// releaseRoom gives back the room of a transaction.
func (r *reports) releaseRoom(one report) {
	delete(r.known, one.tx.Hash)
	b := r.of[one.tx.Sender]
	if one.beat != nil {
		delete(b.heartbeats, one.runner)
	} else {
		b.load = b.addLoad(-1, -one.tx.Size)
		if b.runners[one.runner] = b.runners[one.runner].addLoad(-1, -one.tx.Size); b.runners[one.runner].count == 0 {
			delete(b.runners, one.runner)
		}
	}
	r.forgetIdleSender(one.tx.Sender)
}

// forgetIdleSender forgets a validator of which nothing waits.
func (r *reports) forgetIdleSender(sender types.Address) {
	if b := r.of[sender]; b.count == 0 && len(b.heartbeats) == 0 {
		delete(r.of, sender)
	}
}

// dropReport takes one out that no block can hold.
func (r *reports) dropReport(hash types.Hash) {
	if r.findReport(hash) != nil {
		r.forgetWhere(func(one report) bool { return one.tx.Hash == hash })
	}
}

// confirmBlock takes out what no block will hold any more when a block is final: this one does,
// or others brought it as well. It returns what it gave up, since it waited too long.
func (r *reports) confirmBlock(height types.Height, spent func(*ledger.Checked) bool) (aged []*ledger.Checked) {
	r.forgetWhere(func(one report) bool {
		switch {
		case spent(one.tx):
			return true
		case height >= one.came+reportAge:
			aged = append(aged, one.tx)
			return true
		}
		return false
	})
	return aged
}
