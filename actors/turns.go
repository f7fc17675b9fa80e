package actors

import (
	"fmt"
	"math"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// line is the waiting messages of one receiver. The callbacks of one submitter's jobs
// are a separate line.
//
// Spec: decisions C16, J16.
type line struct {
	_       struct{} `cbor:",toarray"`
	Waiting uint64   // at least 1
	Last    uint64   // the turn of the last message
}

// The kinds of lines.
const (
	lineReceiver  = 'r' // by the address of the receiver
	lineSubmitter = 's' // by the address of the submitter
)

// counterTurn is the key of the highest turn of a delivered message.
const counterTurn = "turn"

// noTurn is the turn of a message until the end of the block that sent it.
const noTurn = math.MaxUint64

// GiveTurns gives the messages of this block their turns, in the order sent. It is called
// once, at the end of the block: what deliveries have come to by then is the same for
// all of them.
func (s *State) GiveTurns() {
	var sent []*Message
	scanMessages(s, messageKey(&Message{Turn: noTurn}), func(m *Message) bool {
		sent = append(sent, m)
		return true
	})
	for _, m := range sent {
		s.Set(messageKey(m), nil)
		m.Turn = s.joinLine(m)
		s.Set(messageKey(m), codec.Marshal(m))
	}
}

// joinLine counts a new message and returns its turn. A turn has at most one message of
// each line. So a line of thousands delays another line by one message per turn.
func (s *State) joinLine(m *Message) uint64 {
	key := lineKey(m)
	l := s.readLine(key)
	l.Last = max(l.Last, s.readCounter(counterTurn)) + 1
	if plant.Planted == plant.NoTurns {
		l.Last = 1
	}
	l.Waiting++
	s.Set(key, codec.Marshal(&l))
	return l.Last
}

// leaveLine takes a message that is being delivered out of its line.
func (s *State) leaveLine(m *Message) {
	if m.Turn > s.readCounter(counterTurn) {
		s.setCounter(counterTurn, m.Turn)
	}
	key := lineKey(m)
	l := s.readLine(key)
	if l.Waiting--; l.Waiting == 0 {
		s.Set(key, nil)
		return
	}
	s.Set(key, codec.Marshal(&l))
}

func (s *State) readLine(key []byte) (l line) {
	if data := s.Get(key); data != nil {
		mustDecode(data, &l)
	}
	return l
}

func lineKey(m *Message) []byte {
	kind, address := byte(lineReceiver), m.To
	if m.From == types.DispatcherAddress {
		kind, address = lineSubmitter, m.Payer
	}
	return append([]byte{prefixLine, kind}, address[:]...)
}

// CheckLines returns the first line that does not count the waiting messages it has.
func CheckLines(s Reader) (err error) {
	waiting := map[string]uint64{}
	ScanMessages(s, func(m *Message) bool {
		waiting[string(lineKey(m))]++
		return true
	})
	lines := 0
	s.Scan([]byte{prefixLine}, []byte{prefixLine + 1}, func(key, value []byte) bool {
		var l line
		mustDecode(value, &l)
		if l.Waiting != waiting[string(key)] || l.Waiting == 0 {
			err = fmt.Errorf("line %x counts %d messages, and %d wait", key, l.Waiting, waiting[string(key)])
		}
		lines++
		return err == nil
	})
	if err == nil && lines != len(waiting) {
		err = fmt.Errorf("%d lines are kept, and messages wait in %d", lines, len(waiting))
	}
	return err
}
