package byzantine

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// streams are connections that drop what a runner sends after the end of its side, as those of
// both worlds do.
type streams struct {
	hear  func(connection.Event)
	ended map[connection.Stream]bool
	sent  []connection.Stream
}

func (s *streams) Start(receive func(connection.Event)) error { s.hear = receive; return nil }
func (s *streams) Close() error                               { return nil }

func (s *streams) Do(v connection.Verb) {
	switch v := v.(type) {
	case connection.Send:
		if !s.ended[v.Stream] {
			s.sent = append(s.sent, v.Stream)
		}
	case connection.End:
		s.ended[v.Stream] = true
	}
}

// lateRunner is a runner that is late, on three streams of jobs whose results it sent.
func lateRunner(t *testing.T) (*RunnerMask, *streams) {
	t.Helper()
	under := &streams{ended: map[connection.Stream]bool{}}
	mask, node := NewRunnerMask(env.Runner{Connections: under})
	if err := node.Connections.Start(func(connection.Event) {}); err != nil {
		t.Fatal(err)
	}
	if err := mask.Behave(string(LateResult), new(fault.Counts)); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []connection.Stream{1, 5, 9} {
		node.Connections.Do(connection.Send{ID: 7, Stream: stream, Frame: []byte{byte(push.TypeJobResult)}})
		node.Connections.Do(connection.End{ID: 7, Stream: stream})
	}
	if len(under.sent) != 0 || len(under.ended) != 0 {
		t.Fatalf("in time it sent on %v and ended %v", under.sent, under.ended)
	}
	return mask, under
}

// A worker ends its side of a stream right after a result. A result that is late is sent before
// that end, once its assignment is over.
func TestALateResultIsSentBeforeItsStreamEnds(t *testing.T) {
	_, under := lateRunner(t)
	under.hear(connection.Came{ID: 7, Stream: 5, Frame: []byte{byte(push.TypeJobCancel)}})
	if !slices.Equal(under.sent, []connection.Stream{5}) || len(under.ended) != 1 || !under.ended[5] {
		t.Errorf("after a cancel on stream 5 it sent on %v and ended %v", under.sent, under.ended)
	}
}

// A runner that is honest again keeps no stream open for a result that is dropped.
func TestAnHonestRunnerEndsTheStreamsOfLateResults(t *testing.T) {
	mask, under := lateRunner(t)
	mask.Honest()
	if len(under.sent) != 0 || len(under.ended) != 3 {
		t.Errorf("it sent on %v and ended %v", under.sent, under.ended)
	}
}
