package ledger

import (
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// FuzzAdmit: whatever comes from outside is taken or refused with an *Invalid,
// and what is taken has the bytes it came with.
func FuzzAdmit(f *testing.F) {
	w := newWorld(f, nil)
	w.block(w.deploy("alice", "counter", "c", 0))
	for _, c := range bad(w) {
		if len(c.raw) < 10_000 {
			f.Add(c.raw)
		}
	}
	w.forget()
	f.Add(w.deploy("alice", "counter", "d", 5).Tx.Encode())
	f.Add(w.call("bob", "c", "increment", []byte("payload")).Tx.Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := w.executor.Admit(w.head, raw)
		if err != nil {
			codeOf(t, err)
			return
		}
		if string(c.Tx.Encode()) != string(raw) || c.Hash != c.Tx.Hash() || c.Size != len(raw) {
			t.Error("an admitted transaction is another one")
		}
	})
}

// FuzzApply: a hostile proposer puts properly signed transactions of any content
// into a block; executing it ends with a verdict, whatever they say. Each chunk
// of the input is one of them: bytes over a payload, at an offset, with limits.
func FuzzApply(f *testing.F) {
	w := stage(f, "paid", scheduler.EIP1559)
	seeds := []*Checked{w.call("alice", "c", "increment", nil), w.deploy("alice", "counter", "x", 1),
		w.call("alice", "hb", "start", samples.Number(1)),
		w.call("alice", "r", "send", (&samples.Order{Target: w.address("c"), Handler: "h", Payload: []byte{}, Cycles: 9, Cells: 9}).Encode()),
		w.call("alice", "st", "make", []byte(`{"count":2,"in":1,"priority":3,"use":9}`)),
		w.transfer("alice", "bob", 1), w.instruct(64, map[string]any{"key": "cip3.min_basefee", "value": "1", "height": 0})}
	f.Add([]byte{0, 0, 0, 1, 2, 3})
	f.Add([]byte{1, 9, 0, 255, 254, 253, 5, 30, 2, 3, 4, 5, 3, 40, 1, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, script []byte) {
		w.t = t
		block := *w.opened(w.head)
		nonce := w.head.Account(w.address("alice")).Nonce
		for len(script) >= 6 && len(block.Transactions) < 8 {
			chunk := script[:6]
			script = script[6:]
			tx := *seeds[int(chunk[0])%len(seeds)].Tx
			payload := append(codec.RawMessage{}, tx.Payload...)
			if at := int(chunk[1]); at+3 <= len(payload) && chunk[2]%2 == 1 {
				copy(payload[at:], chunk[3:])
			}
			if codec.UnmarshalPartial(payload, len(payload), new(codec.RawMessage)) != nil {
				continue // no block that was decoded holds such a payload
			}
			tx.Payload, tx.Nonce = payload, nonce
			tx.CyclesLimit = types.Cycles(uint64(chunk[3]) * 200)
			tx.Value = types.WeiOf(uint64(chunk[5]) << (chunk[4] % 56))
			from := "alice"
			if chunk[2]%4 == 2 {
				from, tx.Nonce = "system", 0
			} else {
				nonce++
			}
			block.Transactions = append(block.Transactions, *w.sign(from, &tx))
		}
		_, err := w.executor.Apply(w.head, &block)
		var refusal *Invalid
		if err != nil && !errors.As(err, &refusal) {
			t.Errorf("neither a result nor the proposer's fault: %v", err)
		}
		// The same transactions as an honest proposer would include them.
		var checked []*Checked
		for i := range block.Transactions {
			if c, refusal := w.executor.checkTransaction(w.head.next, &block.Transactions[i], block.Transactions[i].Encode()); refusal == nil {
				checked = append(checked, c)
			}
		}
		head := w.head
		w.block(checked...)
		w.head = head
	})
}
