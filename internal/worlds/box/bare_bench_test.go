package box

import (
	"context"
	"encoding/binary"
	"io"
	"sync"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// bareSubset is connections of quic-go alone, as many as validators push an assignment
// to one runner: a trip is one of each at the same time.
type bareSubset []*bare

func newBareSubset(b testing.TB, n *Network, spec *push.JobSpec) bareSubset {
	all := make(bareSubset, len(n.RunnerList()[0].Status().Connected))
	for i := range all {
		all[i] = newBare(b, n, spec)
	}
	return all
}

// trip returns the time of each.
func (s bareSubset) trip() []time.Duration {
	took := make([]time.Duration, len(s))
	var all sync.WaitGroup
	for i, each := range s {
		all.Go(func() { took[i] = each.trip() })
	}
	all.Wait()
	return took
}

// bare is a connection of quic-go alone, whose ends sign and verify as those of an
// assignment and its answer do, and say as many bytes.
type bare struct {
	testing.TB
	verifier           *crypto.Verifier
	near, far          crypto.Signer
	conn               *quicgo.Conn
	assignment, answer []byte
	trips              uint64
}

func newBare(b testing.TB, n *Network, spec *push.JobSpec) *bare {
	near, far := crypto.DeriveKey(1, "near"), crypto.DeriveKey(1, "far")
	t := &bare{TB: b, verifier: n.verifier, near: n.verifier.Signer(near), far: n.verifier.Signer(far)}
	var err error
	must := func() {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	t.assignment, err = push.Encode(&push.JobAssignment{JobSpec: *spec, BlockHeight: 1000, DeadlineBlock: 1000})
	must()
	t.answer, err = push.Encode(&push.JobAck{Status: push.AckStatus{Accepted: true}})
	must()
	anybody := func(types.PublicKey) error { return nil }
	fars, err := identity.ClientConfig(far, "bare", anybody)
	must()
	server := identity.Listening(fars, "bare", anybody)
	client, err := identity.ClientConfig(near, "bare", anybody)
	must()
	listener, err := quicgo.ListenAddr("127.0.0.1:0", server, nil)
	must()
	b.Cleanup(func() { listener.Close() })
	go t.serve(listener)
	t.conn, err = quicgo.DialAddr(b.Context(), listener.Addr().String(), client, nil)
	must()
	b.Cleanup(func() { t.conn.CloseWithError(0, "") })
	return t
}

// serve is the runner's end.
func (t *bare) serve(listener *quicgo.Listener) {
	conn, err := listener.Accept(context.Background())
	if err != nil {
		return
	}
	for trip := uint64(1); ; trip++ {
		stream, err := conn.AcceptStream(context.Background())
		if err != nil {
			return // it is over
		}
		t.hear(stream, t.assignment, t.near, trip)
		t.say(stream, t.answer, t.far, trip)
	}
}

// trip is a round trip on a stream of its own, with four operations on signatures.
func (t *bare) trip() time.Duration {
	began := time.Now()
	t.trips++
	stream, err := t.conn.OpenStreamSync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.say(stream, t.assignment, t.near, t.trips)
	t.hear(stream, t.answer, t.far, t.trips)
	return time.Since(began)
}

// say writes so many bytes that end with a signature, and no more.
func (t *bare) say(stream *quicgo.Stream, like []byte, signer crypto.Signer, trip uint64) {
	sig := signer.Sign(tripDigest(like, trip))
	frame := append(like[:len(like)-len(sig):len(like)-len(sig)], sig[:]...)
	if _, err := stream.Write(frame); err != nil {
		t.Error(err)
	}
	stream.Close()
}

// hear reads them and verifies.
func (t *bare) hear(stream *quicgo.Stream, like []byte, signer crypto.Signer, trip uint64) {
	frame := make([]byte, len(like))
	if _, err := io.ReadFull(stream, frame); err != nil {
		t.Error(err)
		return
	}
	sig := types.Signature(frame[len(frame)-len(types.Signature{}):])
	if by, ok := t.verifier.Recover(tripDigest(like, trip), sig); !ok || by != signer.Address() {
		t.Error("the signature is another's")
	}
}

func tripDigest(like []byte, trip uint64) types.Hash {
	return types.Keccak(binary.BigEndian.AppendUint64(nil, trip), like)
}
