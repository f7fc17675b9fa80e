// Package validators is the shell of a validator: four proto-actor roles that
// decode, step a core and perform what it answers. It decides nothing of the
// protocol.
//
//	intake      decodes frames and transactions from outside and checks their
//	            signatures and bodies; what is bad is dropped, counted and held
//	            against who sent it. Frames come to it by the ingress (ingress.go), as
//	            the core rations allows
//	consensus   owns the Simplex machine, the catch-up machine and the log
//	execution   owns the states of blocks not yet final, and the mempool
//	archive     owns the store: finalized state, and history for those who ask
//
// A role gets its loop from the environment, and has an inbox that takes only its own
// events. These are plain data, which can be written down and read back; who asks
// something from outside gets a request ID, by which it is answered (requests.go).
// Under execution there is one more proto-actor for each on-chain actor in use
// (onchain.go).
//
// Persist before send (decision C5) is enforced in one function,
// consensus.performOutput.
package validators
