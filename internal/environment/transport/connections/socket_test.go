package connections

import (
	"net"
	"testing"
	"time"
)

// A port that becomes free within a second is taken; one that stays in use is refused.
func TestASocketWaitsForItsPort(t *testing.T) {
	holder, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := holder.LocalAddr().String()
	if _, err := Socket(at); err == nil {
		t.Fatal("a port in use was opened")
	}
	freed := time.AfterFunc(portPatience/4, func() { holder.Close() })
	defer freed.Stop()
	socket, err := Socket(at)
	if err != nil {
		t.Fatal(err)
	}
	if got := socket.LocalAddr().String(); got != at {
		t.Errorf("it listens on %s, want %s", got, at)
	}
	socket.Close()
}
