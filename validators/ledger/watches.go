package ledger

import "github.com/cowboyinc/devnet/scheduler"

// triggerWatches makes due the timers that watch a key which the transactions,
// or a parameter that changed with this block, gave another value.
//
// Spec: CIP-5 §9.8, decisions T26, T27.
func (r *run) triggerWatches() error {
	filled := r.state.Snapshot()
	r.filled = &filled
	r.shared.Timers = r.programTimers()
	if r.parent.changesWait || scheduler.Watched(r.state) {
		r.timers = append(r.timers, r.schedulerBlock().Trigger(r.writtenSince(0))...)
	}
	return nil
}

// noteLateWrites keeps for the next block what fires and deliveries changed of
// watched keys.
func (r *run) noteLateWrites() error {
	if scheduler.Watched(r.state) {
		r.schedulerBlock().NoteLate(r.writtenSince(*r.filled))
	}
	return nil
}

func (r *run) writtenSince(snapshot int) []scheduler.StorageWrite {
	written := r.state.WrittenSince(snapshot)
	writes := make([]scheduler.StorageWrite, len(written))
	for i := range written {
		writes[i] = scheduler.StorageWrite(written[i])
	}
	return writes
}
