package script

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// FreePorts finds some ports in a row that nobody has, by UDP and TCP.
func FreePorts(count int) (first int, err error) {
	for range 100 {
		first = 20_000 + rand.IntN(12_000) // below those that systems give to who asks for any
		if areFree(first, count) {
			return first, nil
		}
	}
	return 0, errors.New("no ports in a row are free")
}

func areFree(first, count int) bool {
	for port := first; port < first+count; port++ {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		tcp, err := net.Listen("tcp", address)
		if err != nil {
			return false
		}
		udp, err := net.ListenPacket("udp", address)
		_ = tcp.Close()
		if err != nil {
			return false
		}
		_ = udp.Close()
	}
	return true
}
