package api

import "net/http"

// places are how many requests may do one thing at once, each of which costs the
// server something for long. Further requests are refused.
type places struct {
	taken chan struct{}
	code  string // of the refusal
	what  string // after the number of places, in the refusal
	hint  string
}

func newPlaces(n int, code, what, hint string) *places {
	return &places{make(chan struct{}, n), code, what, hint}
}

// takePlace takes one, until it is freed.
func (p *places) takePlace() (free func(), err error) {
	select {
	case p.taken <- struct{}{}:
		return func() { <-p.taken }, nil
	default:
		return nil, Refuse(http.StatusServiceUnavailable, p.code, "%d %s", cap(p.taken), p.what).Hint("%s", p.hint)
	}
}
