package scheduler

import "github.com/cowboyinc/devnet/internal/types"

// Total is how many timers are pending in the whole chain. It reads a few bytes
// for each actor that ever scheduled one.
func Total(kv KV) (pending uint64) {
	from, to := keyActor(types.Address{}), []byte("t/a0")
	kv.Scan(from, to, func(_, value []byte) bool {
		var t tally
		mustRead(value, &t)
		pending += t.Pending
		return true
	})
	return pending
}
