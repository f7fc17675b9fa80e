package memo

import "sync"

// OnNeed returns what computes the value at its first call, and gives it from then on: every
// command pays for what a package makes before main, and most need none of it.
func OnNeed[V any](compute func() V) func() V { return sync.OnceValue(compute) }
