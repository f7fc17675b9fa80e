package actors

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Message is a send that waits for its delivery (decision C16). Its limits are paid
// at the base fees of the block that sent it; the part that the delivery does not
// use is refunded to the sender.
type Message struct {
	_          struct{}  `cbor:",toarray"`
	Seq        types.Seq // chain-wide, in the order sent
	Turn       uint64    // in which it is delivered (decision C16)
	SentAt     types.Height
	Cause      types.Hash    // the hash of the receipt it was sent under
	Payer      types.Address // that prepaid the limits: From, or the submitter of the job
	From       types.Address
	To         types.Address
	Handler    string
	Payload    []byte
	Cycles     types.Cycles // limits of the delivery
	Cells      types.Cells
	PriceCycle types.Wei // what was paid for each
	PriceCell  types.Wei
}

// Hash is the key of the delivery's receipt.
func (m *Message) Hash() types.Hash { return types.Keccak(codec.Marshal(m)) }

// Prepaid is the money that the message holds, in wei. It was paid, so it cannot overflow.
func (m *Message) Prepaid() types.Wei {
	return m.PriceCycle.Mul(uint64(m.Cycles)).Add(m.PriceCell.Mul(uint64(m.Cells)))
}

// Enqueue stores a prepaid message and sets its sequence number. GiveTurns sets its turn.
func (s *State) Enqueue(m *Message) {
	m.Seq, m.Turn = s.nextCounter("message"), noTurn
	s.Set(messageKey(m), codec.Marshal(m))
}

// Dequeue removes a message that is being delivered. The caller settles its prepayment.
func (s *State) Dequeue(m *Message) {
	s.Set(messageKey(m), nil)
	s.leaveLine(m)
}

// ScanMessages calls each for every waiting message in the order of delivery, until
// each returns false: by turn, within a turn by sequence number.
func ScanMessages(s Reader, each func(*Message) bool) {
	scanMessages(s, []byte{prefixMessage}, each)
}

func scanMessages(s Reader, from []byte, each func(*Message) bool) {
	s.Scan(from, []byte{prefixMessage + 1}, func(_, value []byte) bool {
		m := new(Message)
		mustDecode(value, m)
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
	mustDecode(value, m)
	return m
}

// nextCounter returns a counter and adds one to it.
func (s *State) nextCounter(counter string) types.Seq {
	n := s.readCounter(counter)
	s.setCounter(counter, n+1)
	return types.Seq(n)
}

func (s *State) readCounter(name string) (n uint64) {
	if data := s.Get(counterKey(name)); data != nil {
		n = binary.BigEndian.Uint64(data)
	}
	return n
}

func (s *State) setCounter(name string, n uint64) {
	s.Set(counterKey(name), binary.BigEndian.AppendUint64(nil, n))
}

func counterKey(name string) []byte { return append([]byte{prefixCounter}, name...) }

func messageKey(m *Message) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{prefixMessage}, m.Turn), uint64(m.Seq))
}
