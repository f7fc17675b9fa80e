// Package governance executes the instructions of the system key, by which
// governance controls the chain (CIP-1 §12, cip-5's newer revision, decision C6).
// It also stores parameters and the validator set in state.
//
//	48  SYS_CANCEL_TIMER         {timer_id}
//	49  SYS_UPDATE_TIMER_CONFIG  {config: {max_ttl_blocks?, max_cycles_per_fire?, …}}
//	50  SYS_EXTEND_TIMER         {timer_id, new_expires_at}
//	64  SYS_SET_PARAMETER        {key, value, height}
//	65  SYS_JOIN_VALIDATOR       {public_key, endpoint}
//	66  SYS_LEAVE_VALIDATOR      {address}
//	80  SYS_SET_BALANCE          {address, balance}
//	81  SYS_SET_STATE            {actor, key, value}
//	82  SYS_IMPERSONATE          {from, to, value, payload}
//
// 48 to 50 come from the specs; the others are additions. 80 to 82 are the cheats of a
// devnet (decision G2), which are refused if the parameter chain.cheats is false. A
// refused instruction is a failed receipt; an unreadable instruction makes the
// transaction invalid.
//
// A parameter changes at the start of a block: SetParameter only registers the
// change. One of class block holds from any later height, one of class epoch
// from the first block of a later epoch, one of class genesis never changes.
// The validator set changes after the last block of an epoch.
//
// Keys of state, all beginning with g:
//
//	g/k                 the system key's address
//	g/p/<height_be8>key the value that a parameter gets at a height
//	g/v                 the validator set of the next block
//	g/u                 the one before the last rotation
//	g/w/<address>       a validator that joins or leaves at the epoch's end
//
// The parameters in force are in the storage of actor 0x09, under
// system:<group>:<name>.
package governance
