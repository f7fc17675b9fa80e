package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// TestConcurrentSendsNeverCollide sends from two accounts at once while nothing
// becomes final, then lets one block hold them all: each nonce is used once,
// without a gap.
func TestConcurrentSendsNeverCollide(t *testing.T) {
	const each = 20
	w := newWorld(t, func(m *memory) { m.auto = false })
	var all sync.WaitGroup
	statuses := make(chan int, 2*each)
	for i := range 2 * each {
		all.Go(func() {
			from := []string{"alice", "bob"}[i%2]
			status, _ := w.call("POST", "/devnet/send", model.SendRequest{From: from, To: "system"})
			statuses <- status
		})
	}
	for pooled := 0; pooled < 2*each; {
		w.chain.mu.Lock()
		pooled = len(w.chain.pool)
		w.chain.mu.Unlock()
	}
	w.chain.mine()
	all.Wait()
	close(statuses)
	for status := range statuses {
		if status != 200 {
			t.Fatalf("a send was answered %d", status)
		}
	}
	used := map[types.Address][]types.Nonce{}
	for _, tx := range w.chain.blocks[0].Block.Transactions {
		from := w.chain.senders[tx.Hash()]
		used[from] = append(used[from], tx.Nonce)
	}
	for from, got := range used {
		if len(got) != each || !slices.IsSorted(got) || got[0] != 0 || got[each-1] != each-1 {
			t.Fatalf("%s used the nonces %v", from, got)
		}
	}
}

func TestANonceThatAnotherTookIsPassedOver(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.auto = false })
	alice := w.chain.keys["alice"]
	foreign := wallet.Draft{To: &types.Address{5}, Payload: transferPayload}.Sign(feeOffer(testChain, answers.Head{}), alice, 0)
	if _, err := w.chain.Submit(context.Background(), foreign.Encode()); err != nil {
		t.Fatal(err)
	}
	h, _, err := w.server.nonces.submitWithNonce(context.Background(), alice.Address(), 0, func(n types.Nonce) []byte {
		return wallet.Draft{To: &types.Address{6}, Payload: transferPayload}.Sign(feeOffer(testChain, answers.Head{}), alice, n).Encode()
	})
	if err != nil || len(w.chain.pool) != 2 || w.chain.pool[1].Nonce != 1 {
		t.Fatal(h, err, len(w.chain.pool))
	}
}

// A transaction that the pool gives up leaves no gap for which the next one would
// wait.
func TestADroppedTransactionGivesItsNonceBack(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.auto, m.drops, m.gaps = false, true, true })
	w.refused(409, refusal.CodeDropped, "POST", "/devnet/send", model.SendRequest{From: "alice", To: "system"})
	w.chain.mu.Lock()
	w.chain.drops, w.chain.auto = false, true
	w.chain.mu.Unlock()
	if status, body := w.call("POST", "/devnet/send", model.SendRequest{From: "alice", To: "system"}); status != 200 {
		t.Fatal(status, string(body))
	}
	if tx := w.chain.blocks[0].Block.Transactions[0]; tx.Nonce != 0 {
		t.Errorf("the next transaction has the nonce %d", tx.Nonce)
	}
}

func TestTriesEndWithThePoolsRefusal(t *testing.T) {
	w := newWorld(t)
	w.chain.refuse = func(*types.Transaction) error { return Refuse(http.StatusConflict, refusal.CodeNonceTaken, "taken") }
	w.refused(409, refusal.CodeNonceTaken, "POST", "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	if w.chain.submits != wallet.NonceTries {
		t.Fatalf("%d tries, the limit is %d", w.chain.submits, wallet.NonceTries)
	}
}

// TestLawFreeNoncesAreTheLeastNotTaken holds sender.lowestFreeNonce against the dumbest
// twin: a scan over the set of taken nonces.
func TestLawFreeNoncesAreTheLeastNotTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		taken := rapid.MapOf(rapid.Custom(func(t *rapid.T) types.Nonce { return types.Nonce(rapid.Uint64Range(0, 12).Draw(t, "nonce")) }),
			rapid.Custom(func(t *rapid.T) types.Height { return types.Height(rapid.Uint64Range(0, 200).Draw(t, "at")) })).Draw(t, "taken")
		next := types.Nonce(rapid.Uint64Range(0, 12).Draw(t, "next"))
		head := types.Height(rapid.Uint64Range(0, 300).Draw(t, "head"))
		want := next
		for {
			at, is := taken[want]
			if !is || head > at+forgetNonce {
				break
			}
			want++
		}
		s := &sender{taken: taken}
		if got := s.lowestFreeNonce(next, head); got != want {
			t.Fatalf("free is %d, want %d", got, want)
		}
	})
}

func TestConcurrentDeploysUnderOneNameLetOneThrough(t *testing.T) {
	w := newWorld(t, func(m *memory) { m.auto = false })
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			status, _ := w.call("POST", "/devnet/deploy", model.DeployRequest{From: "alice", Code: "x", Name: "one"})
			answers <- status
		}()
	}
	if first := <-answers; first != http.StatusConflict {
		t.Fatalf("the first answer is %d, before any block", first)
	}
	w.chain.mineWhenPooled()
	if second := <-answers; second != http.StatusOK {
		t.Fatal(second)
	}
	if len(w.server.claims.held) != 0 {
		t.Fatal("the name is still claimed")
	}
}

// mineWhenPooled waits for a transaction and makes a block of it.
func (m *memory) mineWhenPooled() {
	for {
		m.mu.Lock()
		pooled := len(m.pool)
		m.mu.Unlock()
		if pooled > 0 {
			m.mine()
			return
		}
	}
}

// FuzzRequests throws bodies at every route that takes one: no answer is a
// fault of the devnet, and every refusal is whole.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{`{"tx":"0x8c"}`, `{"from":"alice","to":"bob"}`, `{"address":"alice"}`, "\x8c\x19\x1f\x4b", `[]`, `{"from":"alice","code":"x","fund":"1"}`} {
		for i := range uint8(6) {
			f.Add(i, []byte(seed))
		}
	}
	w := &world{chain: newMemory()}
	w.server = New(w.chain, Config{})
	paths := []string{"/submit", "/submit_wait", "/devnet/send", "/devnet/deploy", "/faucet", "/actor/read"}
	f.Fuzz(func(t *testing.T, route uint8, body []byte) {
		w := &world{t, w.chain, w.server}
		status, data := w.call("POST", paths[int(route)%len(paths)], body)
		if status >= 500 {
			t.Fatalf("%d %s", status, data)
		}
		var e model.Error
		if status != 200 && (json.Unmarshal(data, &e) != nil || e.Error.Code == "") {
			t.Fatalf("%d %s", status, data)
		}
	})
}

func TestAnErrorWrappedIsStillTheClients(t *testing.T) {
	inner := Refuse(http.StatusTeapot, "teapot", "short and stout")
	if got := asError(errors.Join(errors.New("context"), inner)); got != inner {
		t.Fatalf("%+v", got)
	}
}
