package actors_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// post is a message to a receiver, or a callback of a submitter's job to it.
func post(to byte, submitter byte) *actors.Message {
	m := &actors.Message{From: types.Address{7}, Payer: types.Address{7}, To: types.Address{to}}
	if submitter > 0 {
		m.From, m.Payer = types.DispatcherAddress, types.Address{submitter}
	}
	return m
}

// receiverOf is whose turn a message takes, in this test's own words.
func receiverOf(m *actors.Message) string {
	if m.From == types.DispatcherAddress {
		return fmt.Sprint("submitter ", m.Payer[0])
	}
	return fmt.Sprint("receiver ", m.To[0])
}

// C16: while a message waits, at most two messages of each other receiver are delivered
// before one of its own receiver, whatever is sent meanwhile. Among the messages of one
// receiver the oldest is first.
func TestC16NoReceiverWaitsForManyMessagesOfAnother(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := actors.NewState(trie.Empty)
		since := map[string]map[string]int{} // by receivers that wait: deliveries of others since
		last := map[string]types.Seq{}
		for range rapid.IntRange(1, 30).Draw(rt, "blocks") {
			var waiting []*actors.Message
			actors.ScanMessages(s, func(m *actors.Message) bool { waiting = append(waiting, m); return true })
			for _, m := range waiting {
				if since[receiverOf(m)] == nil {
					since[receiverOf(m)] = map[string]int{}
				}
			}
			send := func() {
				for range rapid.IntRange(0, 6).Draw(rt, "sent") {
					s.Enqueue(post(byte(rapid.IntRange(1, 4).Draw(rt, "to")), byte(rapid.IntRange(0, 2).Draw(rt, "submitter"))))
				}
			}
			send()
			delivered := waiting[:rapid.IntRange(0, len(waiting)).Draw(rt, "delivered")]
			for _, m := range delivered {
				of := receiverOf(m)
				if last[of] > m.Seq {
					rt.Fatalf("message %d of %s after message %d", m.Seq, of, last[of])
				}
				last[of] = m.Seq
				delete(since, of)
				for other, counts := range since { // order-independent: each is counted separately
					if counts[of]++; counts[of] > 2 {
						rt.Fatalf("%d messages of %s are delivered while %s waits", counts[of], of, other)
					}
				}
				s.Dequeue(m)
				if rapid.Bool().Draw(rt, "it sends") {
					send()
				}
			}
			send()
			s.GiveTurns()
			if err := actors.CheckLines(s); err != nil {
				rt.Fatal(err)
			}
			tree, _ := s.Seal()
			s = actors.NewState(tree)
		}
	})
}

// C16, J16: one message is next but one to thousands of callbacks of one submitter.
func TestC16OneMessageBesideThousandsOfCallbacks(t *testing.T) {
	s := actors.NewState(trie.Empty)
	for i := range 5000 {
		s.Enqueue(post(byte(i), 1))
	}
	s.Enqueue(post(1, 0))
	s.Enqueue(post(1, 2))
	s.GiveTurns()
	var order []types.Seq
	actors.ScanMessages(s, func(m *actors.Message) bool { order = append(order, m.Seq); return len(order) < 4 })
	if want := []types.Seq{0, 5000, 5001, 1}; fmt.Sprint(order) != fmt.Sprint(want) {
		t.Errorf("the first are %v, want %v", order, want)
	}
}

// BenchmarkEnqueue is one more message after a hundred thousand of one receiver.
func BenchmarkEnqueue(b *testing.B) {
	for _, waiting := range []int{0, 100_000} {
		b.Run(fmt.Sprint(waiting, " waiting"), func(b *testing.B) {
			s := actors.NewState(trie.Empty)
			for range waiting {
				s.Enqueue(post(1, 0))
			}
			s.GiveTurns()
			tree, _ := s.Seal()
			s = actors.NewState(tree)
			for b.Loop() {
				before := s.Snapshot()
				m := post(2, 0)
				s.Enqueue(m)
				s.GiveTurns()
				s.Revert(before)
			}
		})
	}
}
