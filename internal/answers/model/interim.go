package model

// A client that asks for it is told the hash of its transaction before the answer: an interim
// response of status 102 has it as soon as a pool has the transaction. Other clients get none,
// since some take the first response for the last.
const (
	InterimHeader     = "Devnet-Interim"     // of the request, with InterimWanted
	InterimWanted     = "transaction"        // what it asks for
	TransactionHeader = "Devnet-Transaction" // of the interim response
)
