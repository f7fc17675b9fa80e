// Package system is the system actors that know runners and jobs: 0x01, the
// registry of runners; 0x02, the dispatcher of jobs; 0x03, the verifier of results
// (CIP-2, CIP-11 §9). The chain itself answers for their addresses.
//
// # A job
//
//	submit    pays max_price, tip and the callback's limits into escrow; it waits
//	draw      at the end of the block: a committee of those who pass the filters, by
//	          runners/selection; else it goes on waiting, until its timeout
//	commit    a committee of several: what validators bring binds each to its result
//	reveal    the result, with the runner's signature; a single runner's comes at once
//	conclude  when nothing more can come, or behind the deadline: completed where
//	          enough agree, failed where all came and do not, else drawn anew
//	callback  a message of 0x02 with the result or the error, in the next block
//
// Transactions and actors reach the first and cancel by handlers of 0x01 and 0x02;
// results and heartbeats are Reports, brought by validators in runner transactions,
// which are free and of which none counts twice. Advance is the end of a block.
//
// # State
//
// In the storage of 0x01, where 'a' is a 20-byte address and 'i' four bytes:
//
//	registered     Size, the number of places
//	index/i        the runner that registered last in the i-th place
//	runner/a       Profile, what its owner says of it
//	standing/a     Standing: health, stake, reputation, jobs, heartbeat
//	rotation       selection.Rotation, the subsets in force
//
// of 0x02, where 'j' is a job's id, 'k' a byte:
//
//	jobs           Jobs, counters of all of them
//	job/j          Job, while it is open
//	spec/j         its JobSpec, canonical, which runners get
//	nonce/a        how many jobs an address submitted, eight bytes
//	mru/ak         selection.MRU of submitter and kind
//
// and of 0x03:
//
//	commitments/ja the Commitments for a member
//	result/ja      the result that it revealed
//
// Five sorted indexes are separate from storage, which has no order. j/w lists the jobs
// that wait, j/v jobs with a vacant place, and j/d all open jobs by deadline. j/f lists the
// free places, and j/l the runners whose stakes are due for return. They follow from
// jobs and runners. The state keeps nothing of an ended job.
//
// # Costs and payers
//
// A handler charges for reading its payload, its writes and a cell for each byte
// that it stores; submit also for the runners that its draws examine, with retries.
// A report uses the runner lane, and half of a block's cells. A draw examines each
// available runner once. A block has a budget of such examinations, however large
// the registry, and the roster is carried from block to block.
//
// # Invariants
//
// Audit checks them: stakes are in the balance of 0x01 and escrows in that of 0x02;
// each job ends once; a runner's active count is the number of its committees.
package system
