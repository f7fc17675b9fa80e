package network

import "sync"

// guarded is a value that one goroutine at a time uses. Nothing waits within do.
type guarded[T any] struct {
	mu    sync.Mutex
	value T
}

func (g *guarded[T]) do(use func(*T)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	use(&g.value)
}
