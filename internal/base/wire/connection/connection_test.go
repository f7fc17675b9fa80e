package connection

import "testing"

// TestStreamsAreNumberedAsQUICDoes: RFC 9000 §2.1 has the opener in the lowest
// bit, 1 being who listens, and the direction in the next, 1 being one way.
func TestStreamsAreNumberedAsQUICDoes(t *testing.T) {
	for n := range uint64(100) {
		if s := Job(n); s&1 != 1 || s&2 != 0 || uint64(s>>2) != n || !s.IsJob() {
			t.Errorf("stream %d of the validator is %d", n, s)
		}
	}
	for _, other := range []Stream{Control, 2, 3, 4, 6, 7, 8} {
		if other.IsJob() {
			t.Errorf("%d is not a two-way stream of a validator", other)
		}
	}
}
