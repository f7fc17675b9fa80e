package gateway

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// crowd is a machine with the given number of live runners, with real signatures.
func crowd(b *testing.B, runners int) (*world, []*crypto.Key) {
	b.Helper()
	w := newWorld(b, nil)
	verifier := crypto.NewVerifier(false)
	w.Machine, _ = New(Config{ChainID: chainID, Signer: crypto.DeriveKey(1, "v0"), Verifier: verifier, Chance: rand.New(rand.NewPCG(1, 2))},
		w.head)
	keys := make([]*crypto.Key, runners)
	for i := range keys {
		keys[i] = crypto.DeriveKey(1, fmt.Sprint("r", i))
		w.runners[keys[i].Address()] = &Registration{Index: i, Stake: types.WeiOf(100), MaxJobs: 4, LastHeartbeat: w.head.Height}
		id := connection.ID(i + 1)
		w.Step(w.now, Connection{connection.Up{ID: id, Peer: keys[i].PublicKey(), Remote: connection.Address{byte(i), byte(i >> 8)}}})
		p := w.connections.peers[id]
		w.chain.placePeer(p) // as its Hello and HelloAck do
		p.stage, p.opened = live, true
		w.connections.live[p.key] = p
		p.ping, p.present, p.accepting = w.chain.markNow(w.Machine.now), true, true
		w.connections.attestPeer(p)
		w.attested.Take(w.takeOutput().Attest)
	}
	return w, keys
}

// BenchmarkPing is a ping verified and answered, by the cost of the runner's key.
func BenchmarkPing(b *testing.B) {
	const runners = 1000
	w, keys := crowd(b, runners)
	frames := make([][]byte, b.N)
	for i := range frames {
		f := &push.HeartbeatPing{BlockHeight: 100, Nonce: uint64(i/runners + 1)}
		f.Signed = keys[i%runners].Sign(f.Digest(chainID))
		frames[i] = push.Write(f)
	}
	b.ResetTimer()
	for i, frame := range frames {
		if i%runners == 0 {
			w.now = w.now.Add(time.Second)
		}
		w.Step(w.now, Connection{connection.Came{ID: connection.ID(i%runners + 1), Frame: frame}})
	}
	if b.StopTimer(); len(w.connections.live) != runners {
		b.Fatal("somebody was left")
	}
}

// BenchmarkHead is a new head told to everybody, a signed pong each.
func BenchmarkHead(b *testing.B) {
	for _, runners := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(runners), func(b *testing.B) {
			w, _ := crowd(b, runners)
			for b.Loop() {
				next := *w.head
				next.Height++
				w.head = &next
				w.Step(w.now, &next)
			}
		})
	}
}

// BenchmarkBitmap is what a vote waits for.
func BenchmarkBitmap(b *testing.B) {
	for _, runners := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(runners), func(b *testing.B) {
			w, _ := crowd(b, runners)
			for b.Loop() {
				if w.attested.Bitmap(w.now, runners, heldAll(runners)).Count() != runners {
					b.Fatal("a runner is missing")
				}
			}
		})
	}
}

// lookedUp reads the chain as the job index does: an assignment is found by its name.
type lookedUp struct {
	*world
	of map[resultID]*Assignment
}

func (l lookedUp) Assignment(a types.Address, id AssignmentID) *Assignment {
	return l.of[resultID{a, id}]
}

// BenchmarkHeldResults is the cost of a head that follows from results of 31 runners for 4,096
// jobs each, all of which wait. The baseline looks up the assignment of each. Sixteen jobs
// change.
func BenchmarkHeldResults(b *testing.B) {
	const runners, jobs, changed = 31, 4096, 16
	w := newWorld(b, nil)
	of := map[resultID]*Assignment{}
	w.head.Reader = lookedUp{w, of}
	var list plainList
	for i := range runners {
		address := w.register(fmt.Sprint("r", i)).Address()
		for n := range jobs {
			id := resultID{address, AssignmentID{Job: types.Keccak(fmt.Append(nil, n)), Drawn: 90}}
			of[id] = &Assignment{AssignmentID: id.AssignmentID, MaxReturn: 10, Deadline: 1 << 40, CommitEnd: 1 << 39, Committee: runners}
			w.results.keepResult(&pendingResult{resultID: id, committed: true})
			list = append(list, &brought{runner: address, id: id.AssignmentID, committed: true})
			if i == 0 && n < changed {
				w.changed = append(w.changed, id.Job)
			}
		}
	}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			w.results.advanceReady()
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			list.visit(w.head.Height, func(one *brought) *Assignment { return of[resultID{one.runner, one.id}] })
		}
	})
}

// BenchmarkHeadWithJobs is a new head for runners with 4,096 open assignments each. The
// last 256 are pushed, and a result of each is held, which is not due.
func BenchmarkHeadWithJobs(b *testing.B) {
	const jobs = 4096
	for _, runners := range []int{1, 4, 31} {
		b.Run(fmt.Sprint(runners), func(b *testing.B) {
			w, keys := crowd(b, runners)
			chain := lookedUp{w, map[resultID]*Assignment{}}
			w.head.Reader = chain
			for i, key := range keys {
				p := w.connections.peers[connection.ID(i+1)]
				w.runners[p.address].MaxJobs = jobs
				for n := range jobs {
					a := Assignment{AssignmentID: AssignmentID{Job: types.Keccak(fmt.Append(nil, n)), Drawn: 90}, MaxReturn: 10,
						Deadline: 1 << 40, CommitEnd: 1 << 39, Committee: runners}
					w.open[key.Address()] = append(w.open[key.Address()], a)
					chain.of[resultID{key.Address(), a.AssignmentID}] = &a
					if n >= jobs-MaxJobStreams {
						p.deliveries = append(p.deliveries, &delivery{AssignmentID: a.AssignmentID, answered: true})
					}
					w.results.keepResult(&pendingResult{resultID: resultID{key.Address(), a.AssignmentID}, committed: true, revealed: true})
				}
			}
			for b.Loop() {
				next := *w.head
				next.Height++
				w.head = &next
				w.Step(w.now, &next)
			}
		})
	}
}
