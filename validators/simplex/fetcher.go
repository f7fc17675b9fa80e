package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// want is a body that is notarized or final and not held.
type want struct {
	certificate *types.Certificate
	retryAt     types.Time
	turn        int // peer to ask next, counted from this validator's place
}

// certRequest is the certificates of a range of views, or a block's notarization.
type certRequest struct {
	from, to types.View
	block    types.Hash
}

// fetcher is what the machine lacks and has asked its peers for.
type fetcher struct {
	wants    []want      // the bodies asked for, at most MaxWanted
	last     certRequest // what was last asked for in this resend interval
	turn     int         // peer to ask for certificates next, counted from this validator's place
	behindAt types.Time  // no earlier is Behind reported again
	finality finalitySearch
}

// finalitySearch is the search for a finalization that peers may have. Its votes may
// have been kept from this validator.
type finalitySearch struct {
	above types.View // the root's view since when the search is due
	at    types.Time // when a peer is asked next; 0: nothing waits for finality
	turn  int        // the peer to ask next, counted from this validator's place
}

// findWant returns the pending request for a body, or nil.
func (f *fetcher) findWant(hash types.Hash) *want {
	for i := range f.wants {
		if f.wants[i].certificate.Block == hash {
			return &f.wants[i]
		}
	}
	return nil
}

// canWant reports whether a body may be wanted that is not yet.
func (f *fetcher) canWant(hash types.Hash) bool {
	return f.findWant(hash) == nil && len(f.wants) < MaxWanted
}

// isUnanswered reports whether every member of a set was asked for a body without an
// answer: peers keep MaxRecentBlocks, and none across a restart.
func (f *fetcher) isUnanswered(hash types.Hash, members int) bool {
	w := f.findWant(hash)
	return w != nil && w.turn > members
}

// addWant has a body asked for at a time: what came was not valid.
func (f *fetcher) addWant(c *types.Certificate, at types.Time) {
	if f.canWant(c.Block) {
		f.wants = append(f.wants, want{certificate: c, retryAt: at})
	}
}

// dropWant wants a body no longer.
func (f *fetcher) dropWant(hash types.Hash) {
	for i := range f.wants {
		if f.wants[i].certificate.Block == hash {
			f.wants = append(f.wants[:i], f.wants[i+1:]...)
			return
		}
	}
}

// dropUpTo wants no bodies up to a height.
func (f *fetcher) dropUpTo(height types.Height) {
	kept := f.wants[:0]
	for _, w := range f.wants {
		if w.certificate.Height > height {
			kept = append(kept, w)
		}
	}
	f.wants = kept
}

// retryAt is when a body or a finalization is to be asked for at the earliest.
func (f *fetcher) retryAt() types.Time {
	at := types.Never
	if f.finality.at > 0 {
		at = f.finality.at
	}
	for i := range f.wants {
		at = min(at, f.wants[i].retryAt)
	}
	return at
}

// repeatsRequest records a request for certificates, and reports whether it equals the one
// before.
func (f *fetcher) repeatsRequest(r certRequest) bool {
	if f.last == r && (r.from != 0 || r.to != 0) {
		return true
	}
	f.last = r
	return false
}
