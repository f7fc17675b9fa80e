package answers

import (
	"context"

	"github.com/cowboyinc/devnet/internal/base/types"
)

type (
	cyclesKey   struct{}
	handedInKey struct{}
)

// CountCycles returns the context of a request that pays for what a reader executes for it: count is
// called with the cycles, on the reader's goroutine.
func CountCycles(ctx context.Context, count func(types.Cycles)) context.Context {
	return context.WithValue(ctx, cyclesKey{}, count)
}

// SpendCycles tells what a reader executed for the request of ctx. Outside a request it does nothing.
func SpendCycles(ctx context.Context, cycles types.Cycles) {
	if count, ok := ctx.Value(cyclesKey{}).(func(types.Cycles)); ok {
		count(cycles)
	}
}

// WatchHandedIn returns the context of a request whose client wants the hash of its transaction as
// soon as a pool has it.
func WatchHandedIn(ctx context.Context, tell func(types.Hash)) context.Context {
	return context.WithValue(ctx, handedInKey{}, tell)
}

// TellHandedIn tells the client of a request the hash of its transaction, which a pool has. It
// does nothing for a request that did not ask.
func TellHandedIn(ctx context.Context, hash types.Hash) {
	if tell, ok := ctx.Value(handedInKey{}).(func(types.Hash)); ok {
		tell(hash)
	}
}
