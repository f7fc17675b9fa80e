package quic

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

// p50 reports the median of the round trips that roundTrip makes.
func p50(b *testing.B, roundTrip func()) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		roundTrip()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
}

// BenchmarkRoundTrip is a frame of 200 bytes there and back, compared with the same
// on one stream of bare quic-go with its default configuration.
func BenchmarkRoundTrip(b *testing.B) {
	frame := make([]byte, 200)
	b.Run("mesh", func(b *testing.B) {
		nodes := mesh(b, 2, nil)
		p50(b, func() {
			nodes[0].Send(nodes[1].key.Address(), frame)
			d := <-nodes[1].received
			nodes[1].Send(d.from, d.frame)
			<-nodes[0].received
		})
	})
	b.Run("bare-quic", func(b *testing.B) {
		stream := bareEcho(b)
		back := make([]byte, len(frame))
		p50(b, func() {
			stream.Write(frame)
			io.ReadFull(stream, back)
		})
	})
}

// BenchmarkThroughput sends frames one way, as many at a time as the queues
// hold.
func BenchmarkThroughput(b *testing.B) {
	for _, size := range []int{200, 16 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("mesh/%d", size), func(b *testing.B) {
			nodes := mesh(b, 2, nil)
			frame := make([]byte, size)
			to := nodes[1].key.Address()
			window := min(1000, promptQueueBytes/size/2)
			if size > promptBytes {
				window = bulkQueueBytes / size / 2
			}
			b.SetBytes(int64(size))
			outstanding := 0
			for b.Loop() {
				if outstanding == window {
					<-nodes[1].received
					outstanding--
				}
				nodes[0].Send(to, frame)
				outstanding++
			}
			for range outstanding {
				<-nodes[1].received
			}
			if s := nodes[0].Stats()[0]; s.FramesDropped > 0 {
				b.Fatalf("stats %+v", s)
			}
		})
	}
	b.Run("bare-quic/16384", func(b *testing.B) {
		stream := bareEcho(b)
		data := make([]byte, 16<<10)
		b.SetBytes(int64(len(data)))
		binary.BigEndian.PutUint64(data, 1) // tells the echo to be silent
		for b.Loop() {
			stream.Write(data)
		}
	})
}

// bareEcho returns a stream of bare quic-go whose other end echoes, or only
// reads once what it read begins with seven zeros and a one.
func bareEcho(b *testing.B) *quic.Stream {
	key := crypto.DeriveKey(1, "bare")
	accept := func(types.PublicKey) error { return nil }
	client, _ := identity.ClientConfig(key, "bare", accept)
	server := identity.Listening(client, "bare", accept)
	listener, err := quic.ListenAddr("127.0.0.1:0", server, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { listener.Close() })
	go echo(listener)
	conn, err := quic.DialAddr(context.Background(), listener.Addr().String(), client, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.CloseWithError(0, "") })
	stream, err := conn.OpenStream()
	if err != nil {
		b.Fatal(err)
	}
	return stream
}

func echo(listener *quic.Listener) {
	conn, err := listener.Accept(context.Background())
	if err != nil {
		return
	}
	stream, err := conn.AcceptStream(context.Background())
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for silent := false; ; {
		n, err := stream.Read(buf)
		if err != nil {
			return
		}
		silent = silent || n >= 8 && binary.BigEndian.Uint64(buf) == 1
		if !silent {
			stream.Write(buf[:n])
		}
	}
}

// BenchmarkMesh is the time from New to four validators that are all connected,
// compared with six bare TLS handshakes one after the other.
func BenchmarkMesh(b *testing.B) {
	b.Run("four", func(b *testing.B) {
		for b.Loop() {
			nodes := mesh(b, 4, nil)
			for _, from := range nodes {
				for _, to := range nodes {
					from.Send(to.key.Address(), []byte{1})
				}
			}
			for _, n := range nodes {
				for range 3 {
					<-n.received
				}
			}
			b.StopTimer()
			for _, n := range nodes {
				n.close()
			}
			b.StartTimer()
		}
	})
	b.Run("six-bare-tls-handshakes", func(b *testing.B) {
		key := crypto.DeriveKey(1, "bare")
		accept := func(types.PublicKey) error { return nil }
		for b.Loop() {
			for range 6 {
				client, _ := identity.ClientConfig(key, "bare", accept)
				server := identity.Listening(client, "bare", accept)
				near, far := net.Pipe()
				go tls.Server(far, server).Handshake()
				if err := tls.Client(near, client).Handshake(); err != nil {
					b.Fatal(err)
				}
				near.Close()
			}
		}
	})
}
