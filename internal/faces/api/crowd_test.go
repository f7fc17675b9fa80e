package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// served is a server of a small chain, reached through a listener.
func served(t *testing.T, bound func(net.Listener) net.Listener, change ...func(*Server)) (w *world, address string) {
	t.Helper()
	w = newWorld(t)
	for _, c := range change {
		c(w.server)
	}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = w.server.http.Serve(bound(inner)) }() // until the world's Close
	t.Cleanup(func() { _ = w.server.http.Close() })
	return w, inner.Addr().String()
}

// abroad is a listener whose connections come from another address while it is said.
type abroad struct {
	net.Listener
	is *atomic.Bool
}

func (a abroad) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err == nil && a.is.Load() {
		c = foreign{c}
	}
	return c, err
}

type foreign struct{ net.Conn }

func (foreign) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }

// asked sends the text of a request, and leaves the connection open.
func asked(t *testing.T, address, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

func request(method, path, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, len(body), body)
}

// wantClosed reads an error, and the end of the connection after it.
func wantClosed(t *testing.T, conn net.Conn, status int, code string) {
	t.Helper()
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer answer.Body.Close()
	var said model.Error
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil || answer.StatusCode != status || said.Error.Code != code {
		t.Fatalf("answered %d %q, %v; want %d %s", answer.StatusCode, said.Error.Code, err, status, code)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		t.Fatalf("the connection of a refused request stays open: %v", err)
	}
}

func wantStatus(t *testing.T, conn net.Conn, status int) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != status {
		t.Fatalf("answered %v, %v; want %d", answer, err, status)
	}
}

// Readers of events who find no place give up their connections, so that others are
// answered, however many they are.
func TestRefusedEventReadersHoldNoConnection(t *testing.T) {
	const readers, room = 3, 8
	_, address := served(t, func(l net.Listener) net.Listener { return shapedListener{limitListener(l, room, room)} }, func(s *Server) {
		s.readers = newPlaces(readers, "too_many_readers", "clients follow events already", "Close one of them.")
	})
	for range readers {
		wantStatus(t, asked(t, address, request("GET", "/events", "")), 200)
	}
	for range 4 * room {
		wantClosed(t, asked(t, address, request("GET", "/events", "")), 503, "too_many_readers")
	}
	wantStatus(t, asked(t, address, request("GET", "/height", "")), 200)
}

// An address has some of all connections: the next one is refused at once, and those of
// other addresses are not.
func TestOneAddressLeavesRoomForOthers(t *testing.T) {
	const each, room = 3, 8
	var elsewhere atomic.Bool
	_, address := served(t, func(l net.Listener) net.Listener {
		return shapedListener{limitListener(abroad{l, &elsewhere}, room, each)}
	})
	var held []net.Conn
	for range each {
		held = append(held, asked(t, address, ""))
	}
	for range 2 * room {
		wantClosed(t, asked(t, address, ""), 503, "too_many_connections")
	}
	elsewhere.Store(true) // all before were accepted, since the last of them was refused
	wantStatus(t, asked(t, address, request("GET", "/height", "")), 200)
	elsewhere.Store(false)
	if err := held[0].Close(); err != nil {
		t.Fatal(err)
	}
	// The server notices the end when it reads it.
	for conn := asked(t, address, request("GET", "/height", "")); ; conn = asked(t, address, request("GET", "/height", "")) {
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode == 200 {
			return
		}
	}
}

// A body that is slow ends when others need its place; a whole one is answered at once.
func TestSlowBodiesMakeRoomForOthers(t *testing.T) {
	w := newWorld(t)
	g := gate{hosts: map[string]bool{}, bodyTime: time.Hour, bodies: bodies{most: 4}}
	w.server.made()
	w.server.http.Handler = g.refuseEarly(w.server.mux, func(*http.Request) *Error { return nil })
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = w.server.http.Serve(shapedListener{limitListener(inner, 8, 8)}) }() // until the end of the test
	defer w.server.http.Close()
	slow := strings.TrimSuffix(request("POST", "/actor/read", strings.Repeat(" ", 100)), strings.Repeat(" ", 99))
	const crowd = 16
	ended := make(chan error, crowd)
	for range crowd {
		conn := asked(t, inner.Addr().String(), slow)
		go func() {
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil && answer.StatusCode != http.StatusRequestTimeout {
				err = fmt.Errorf("answered %s", answer.Status)
			}
			ended <- err
		}()
	}
	for range crowd - g.bodies.most {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, asked(t, inner.Addr().String(), request("GET", "/height", "")), 200)
	wantStatus(t, asked(t, inner.Addr().String(), request("POST", "/actor/read", "{}")), 422)
}
