package api

import (
	"net"
	"testing"
)

// TestConnectionsBeyondTheLimitWait: with room for one, the second is accepted
// when the first is closed, closed twice though it be.
func TestConnectionsBeyondTheLimitWait(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limitListener(inner, 1, 1)
	accepted := make(chan net.Conn)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	for range 2 {
		client, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
	}
	first := <-accepted
	if len(l.(*limitedListener).slots) != 1 {
		t.Fatal("the connection holds no place")
	}
	select {
	case <-accepted:
		t.Fatal("two connections are open, the limit is one")
	default:
	}
	_ = first.Close()
	_ = first.Close()
	second := <-accepted
	_ = l.Close()
	_ = second.Close()
	if _, open := <-accepted; open {
		t.Fatal("a closed listener accepts")
	}
}
