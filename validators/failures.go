package validators

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Trouble is the last failure that kept a validator from making, judging or
// executing a block, or part of one. It answers the question why there is no block.
type Trouble struct {
	At   types.Time
	What string
}

// clockStep is what clocks that are off are rounded to in words.
const clockStep = 100 * time.Millisecond

// tellClock notes whose clock is off, and by how much (decision C7). The faces write names for
// the addresses.
func (v *Validator) tellClock(off simplex.ClockOff) {
	by, self := off.By.Abs().Round(clockStep), v.node.Signer.Address()
	what := fmt.Sprintf("the clock of %s is %v ahead of that of %s, which refuses its proposals; set one of them right", off.Whose, by, self)
	if off.Whose == self {
		what = fmt.Sprintf("the clock of %s is %v ahead of those of the other validators; set it right", self, by)
		if off.By < 0 {
			what = fmt.Sprintf("the clock of %s is %v earlier than others' clocks: it refuses their proposals; set it right", self, by)
		}
	}
	v.trouble.noteTrouble(v.node.Clock.Now(), what)
	v.log.Warn("a clock is off", "whose", off.Whose, "by", off.By)
}

// clockBehind is how much the clock is earlier than the stamp of the newest final block, if
// that is more than voters allow. A validator with such a clock neither proposes nor votes
// before that time.
func (v *Validator) clockBehind() time.Duration {
	head := v.Head()
	behind := head.Block.Header.Timestamp.Time().Sub(v.node.Clock.Now())
	if behind <= simplex.TimingOf(head.State.NextParams()).Drift() {
		return 0
	}
	return behind
}

// troubles keeps the last.
type troubles struct{ last atomic.Pointer[Trouble] }

func (t *troubles) noteTrouble(now types.Time, what string) {
	t.last.Store(&Trouble{At: now, What: what})
}
