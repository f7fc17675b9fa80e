package node

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
)

// stranger dials validators as runners do, and is not registered.
type stranger struct {
	*testing.T
	*connections.Dialer
	key    *crypto.Key
	events chan connection.Event
	last   connection.ID
}

func newStranger(t *testing.T) *stranger {
	s := &stranger{T: t, key: crypto.DeriveKey(1, "stranger"), events: make(chan connection.Event, 1024)}
	var err error
	s.Dialer, err = connections.NewDialer(connections.DialerConfig{Signer: crypto.NewVerifier(true).Signer(s.key), Listen: "127.0.0.1:0"})
	if err == nil {
		err = s.Start(func(e connection.Event) { s.events <- e })
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// greet dials a validator, and says Hello when the connection is up.
func (s *stranger) greet(validator *alone) connection.ID {
	s.Helper()
	s.last++
	s.Do(connection.Dial{ID: s.last, Endpoint: validator.listen})
	if e := s.next(); e.Of() != s.last {
		s.Fatalf("%#v of connection %d", e, s.last)
	}
	frame, err := push.Encode(&push.Hello{Version: push.Version, PartyPubkey: s.key.PublicKey(), PartyRole: push.Runner,
		ChallengeNonce: types.Hash{1}})
	if err != nil {
		s.Fatal(err)
	}
	s.Do(connection.Open{ID: s.last, Stream: connection.Control})
	s.Do(connection.Send{ID: s.last, Stream: connection.Control, Frame: frame[4:]})
	return s.last
}

func (s *stranger) next() connection.Event {
	s.Helper()
	select {
	case e := <-s.events:
		return e
	case <-time.After(patience):
		s.Fatal("nothing happens")
		return nil
	}
}

// refused takes a Goodbye, and returns its reason.
func (s *stranger) refused() push.Reason {
	s.Helper()
	came, is := s.next().(connection.Came)
	if !is {
		s.Fatalf("%#v, want a frame", came)
	}
	f, err := push.Decode(push.Raw{Type: push.Type(came.Frame[0]), Payload: came.Frame[1:]})
	goodbye, is := f.(*push.Goodbye)
	if err != nil || !is {
		s.Fatalf("%v, %v", f, err)
	}
	return goodbye.Reason
}

// Runners find a validator on the socket of its mesh. A frozen one answers nothing,
// and what came meanwhile when it is thawed; one that was killed and started again
// answers as before.
func TestRunnersFindAValidatorOnItsSocket(t *testing.T) {
	dir, key := t.TempDir(), crypto.DeriveKey(1, "v0")
	v := openAlone(t, filepath.Join(dir, "v0"), "v0", key, genesisOf(t, []*crypto.Key{key}))
	v.up(t)
	v.await(t, 2)
	s := newStranger(t)
	s.greet(v)
	if why := s.refused(); why != push.NotRegistered {
		t.Fatalf("refused for %s", why)
	}
	end := func(id connection.ID) {
		t.Helper()
		s.Do(connection.Close{ID: id})
		for { // the end of the stream, and of the connection
			if _, down := s.next().(connection.Down); down {
				return
			}
		}
	}
	end(s.last)
	var counts fault.Counts
	if err := v.Freeze(&counts); err != nil {
		t.Fatal(err)
	}
	greeted := s.greet(v)
	s.last++ // another connection comes up and ends meanwhile, only at the transport
	s.Do(connection.Dial{ID: s.last, Endpoint: v.listen})
	if e, up := s.next().(connection.Up); !up || e.ID != s.last {
		t.Fatalf("a frozen validator answers: %#v", e)
	}
	s.Do(connection.Close{ID: s.last})
	if e, down := s.next().(connection.Down); !down || e.ID != s.last {
		t.Fatalf("a frozen validator answers: %#v", e)
	}
	if err := v.Thaw(); err != nil {
		t.Fatal(err)
	}
	if why := s.refused(); why != push.NotRegistered {
		t.Fatalf("thawed, it refused for %s", why)
	}
	end(greeted)
	v.Kill()
	if err := v.Stop(); err != nil {
		t.Fatal(err)
	}
	v.up(t)
	s.greet(v)
	if why := s.refused(); why != push.NotRegistered {
		t.Fatalf("started again, it refused for %s", why)
	}
	if n := v.Shell().Status().Runners.Refused; n != [len(push.Reasons)]uint64{3: 1} {
		t.Errorf("it counts %v", n)
	}
}
