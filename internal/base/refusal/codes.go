package refusal

// CodeDropped is how a network says that a transaction it had admitted was given
// up: nothing of it is or will be executed.
const CodeDropped = "dropped"

// Codes with which a network reports an invalid nonce of a transaction.
const (
	CodeNonceTooLow = "nonce_too_low"           // a final transaction has it
	CodeNonceTaken  = "underpriced_replacement" // one in the pool has it, and pays as much
	CodeNonceGap    = "nonce_gap"               // too many before it are missing
)
