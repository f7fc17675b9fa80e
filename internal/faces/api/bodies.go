package api

import (
	"container/list"
	"net/http"
	"sync"
	"time"
)

// bodies are the requests whose bodies are being read, the oldest first. A client that
// sends slowly holds its place until others need it.
type bodies struct {
	mu      sync.Mutex
	reading list.List // of *body
	most    int
}

// body is one that is being read.
type body struct {
	control *http.ResponseController
	place   *list.Element
}

// beginBody takes a place until end, with a deadline for the whole body. If none is free it
// ends the oldest, which has had the most time.
func (b *bodies) beginBody(w http.ResponseWriter, within time.Duration) *body {
	one := &body{control: http.NewResponseController(w)}
	_ = one.control.SetReadDeadline(time.Now().Add(within)) // a recorder in tests has none
	b.mu.Lock()
	defer b.mu.Unlock()
	if oldest := b.reading.Front(); oldest != nil && b.reading.Len() >= b.most {
		slow := b.reading.Remove(oldest).(*body)
		slow.place = nil
		_ = slow.control.SetReadDeadline(time.Now()) // its reading fails as that of one that is too slow
	}
	one.place = b.reading.PushBack(one)
	return one
}

// endBody gives the place back, if it was not taken away, and lifts the deadline of a body
// that is whole.
func (b *bodies) endBody(one *body, whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one.place != nil {
		b.reading.Remove(one.place)
	}
	if whole {
		_ = one.control.SetReadDeadline(time.Time{})
	}
}
