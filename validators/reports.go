package validators

import (
	"errors"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of runner transactions that wait. They are free and have no nonce, so that
// they stand apart from those of a mempool; what one validator brings more is its
// own loss.
const (
	maxReports     = 1024 // of one validator: as many as several blocks hold
	reportAge      = 64   // blocks after which one is given up: what it is of has moved on
	maxReportBytes = 8 << 20
)

var errReports = errors.New("too_many_reports: this validator holds as many runner transactions of one sender as it takes; send it " +
	"again in some blocks")

// reports are the runner transactions that wait, in the order they came.
type reports struct {
	waiting []report
	known   map[types.Hash]*ledger.Checked
	count   map[types.Address]int
	bytes   map[types.Address]int
}

type report struct {
	tx   *ledger.Checked
	came types.Height
}

// add takes a runner transaction; one that waits already is no error.
func (r *reports) add(now types.Height, tx *ledger.Checked) error {
	if r.get(tx.Hash) != nil {
		return nil
	}
	if r.count[tx.Sender] >= maxReports || r.bytes[tx.Sender]+tx.Size > maxReportBytes {
		return errReports
	}
	if r.count == nil {
		r.known, r.count, r.bytes = map[types.Hash]*ledger.Checked{}, map[types.Address]int{}, map[types.Address]int{}
	}
	r.waiting = append(r.waiting, report{tx, now})
	r.known[tx.Hash] = tx
	r.count[tx.Sender]++
	r.bytes[tx.Sender] += tx.Size
	return nil
}

// get returns a runner transaction that waits, or nil.
func (r *reports) get(hash types.Hash) *ledger.Checked { return r.known[hash] }

// forget takes out those of which gone says so.
func (r *reports) forget(gone func(report) bool) {
	r.waiting = slices.DeleteFunc(r.waiting, func(one report) bool {
		if !gone(one) {
			return false
		}
		sender := one.tx.Sender
		delete(r.known, one.tx.Hash)
		r.bytes[sender] -= one.tx.Size
		if r.count[sender]--; r.count[sender] == 0 {
			delete(r.count, sender)
			delete(r.bytes, sender)
		}
		return true
	})
}

// drop takes one out that no block can hold.
func (r *reports) drop(hash types.Hash) {
	if r.get(hash) != nil {
		r.forget(func(one report) bool { return one.tx.Hash == hash })
	}
}

// confirm takes out what waited too long when a block is final, and what no block
// will hold any more: this one does, or others brought it as well.
func (r *reports) confirm(height types.Height, spent func(*ledger.Checked) bool) {
	if len(r.waiting) > 0 {
		r.forget(func(one report) bool { return height >= one.came+reportAge || spent(one.tx) })
	}
}
