package network

import "sync"

// guardedValue is a value that one goroutine at a time uses. Nothing waits within do.
type guardedValue[T any] struct {
	mu    sync.Mutex
	value T
}

func (g *guardedValue[T]) withValue(use func(*T)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	use(&g.value)
}
