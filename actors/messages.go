package actors

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Message is a send that waits for its delivery (decision C16). Its limits are
// paid at the base fees of the block that sent it; what the delivery does not
// use goes back to the sender.
type Message struct {
	_          struct{}  `cbor:",toarray"`
	Seq        types.Seq // chain-wide, the order of delivery
	SentAt     types.Height
	Cause      types.Hash // the hash of the receipt it was sent under
	From       types.Address
	To         types.Address
	Handler    string
	Payload    []byte
	Cycles     types.Cycles // limits of the delivery
	Cells      types.Cells
	PriceCycle types.Wei // what was paid for each
	PriceCell  types.Wei
}

// Hash is what the receipt of the delivery is found by.
func (m *Message) Hash() types.Hash { return types.Keccak(codec.Marshal(m)) }

// Prepaid is what the message holds in wei. It was paid, so it cannot overflow.
func (m *Message) Prepaid() types.Wei {
	return m.PriceCycle.Mul(uint64(m.Cycles)).Add(m.PriceCell.Mul(uint64(m.Cells)))
}

// Enqueue gives a message, which is paid for, its sequence number and stores it.
func (s *State) Enqueue(m *Message) {
	m.Seq = s.next("message")
	s.Set(messageKey(m.Seq), codec.Marshal(m))
}

// Dequeue removes a message that is being delivered. Its prepayment is the
// caller's to settle.
func (s *State) Dequeue(m *Message) { s.Set(messageKey(m.Seq), nil) }

// ScanMessages calls each for every waiting message, oldest first, until it
// returns false.
func ScanMessages(s Reader, each func(*Message) bool) {
	s.Scan([]byte{prefixMessage}, []byte{prefixMessage + 1}, func(_, value []byte) bool {
		m := new(Message)
		decode(value, m)
		return each(m)
	})
}

// MessageIn reads a key of state and its value as a message that waits, or returns
// nil where the key is something else's or the message was delivered.
func MessageIn(key, value []byte) *Message {
	if len(key) == 0 || key[0] != prefixMessage || value == nil {
		return nil
	}
	m := new(Message)
	decode(value, m)
	return m
}

// next returns a counter and adds one to it.
func (s *State) next(counter string) types.Seq {
	key := append([]byte{prefixCounter}, counter...)
	var n uint64
	if data := s.Get(key); data != nil {
		n = binary.BigEndian.Uint64(data)
	}
	s.Set(key, binary.BigEndian.AppendUint64(nil, n+1))
	return types.Seq(n)
}

func messageKey(seq types.Seq) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefixMessage}, uint64(seq))
}
