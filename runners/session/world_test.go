package session

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

const chainID = 8011

var signatures = crypto.NewKeyedHash(types.Hash{1})

func signerOf(name string) crypto.Signer { return signatures.Signer(crypto.DeriveKey(1, name)) }

// world is a machine under test, and the validators that it meets.
type world struct {
	testing.TB
	*Machine
	now        types.Time
	head       *chainview.Head
	rotation   *selection.Rotation
	validators map[string]crypto.Signer // by endpoint
	dials      []dialled
	lines      map[connection.ID]*line
	jobs       []Stream
	reports    []Report
}

type dialled struct {
	at       types.Time
	endpoint string
	id       connection.ID
}

// line is a validator's end of a connection, which says what the test wants.
type line struct {
	*world
	id     connection.ID
	signer crypto.Signer
	sent   []push.Frame // on the control stream, not looked at yet
	done   bool
	closed *connection.Close
	hello  push.Hello
	at     []types.Time // of every frame on the control stream
}

// newWorld has validators named v0 and so on, all in the runner's subset while they
// are few.
func newWorld(t testing.TB, validators int) *world {
	w := &world{TB: t, validators: map[string]crypto.Signer{}, lines: map[connection.ID]*line{}}
	p := params.Defaults()
	w.head = &chainview.Head{Height: 100, Registered: true, Staked: true, Params: &p}
	w.rotate(&selection.Rotation{Current: w.assignment(0, validators)})
	w.Machine = New(Config{ChainID: chainID, Signer: signerOf("r0"), Verifier: signatures, Chance: rand.New(rand.NewPCG(1, 2))})
	return w
}

var pace = selection.Pace{EpochBlocks: 1000, OverlapBlocks: 32}

// rotate makes the next heads report other subsets.
func (w *world) rotate(r *selection.Rotation) {
	w.rotation = r
	w.told(w.head)
}

// told makes a head report the runner's validators.
func (w *world) told(h *chainview.Head) {
	h.Epoch, h.Overlaps = w.rotation.Epoch, w.rotation.Overlaps(h.Height, pace)
	h.Validators = w.rotation.Serving(signerOf("r0").PublicKey(), h.Height, pace)
}

// assignment is one over the validators from a number to another.
func (w *world) assignment(from, to int) selection.Assignment {
	a := selection.Assignment{Constants: selection.Constants{MinSubset: 3, MaxSubset: 8, Rule: selection.Quorum}}
	for i := from; i < to; i++ {
		name := fmt.Sprint("v", i)
		s := signerOf(name)
		w.validators[name] = s
		a.Members = append(a.Members, types.Validator{Address: s.Address(), PublicKey: s.PublicKey(), Endpoint: name})
	}
	for i := range a.Members { // by address, as in a set
		for j := range i {
			if a.Members[i].Address.Compare(a.Members[j].Address) < 0 {
				a.Members[i], a.Members[j] = a.Members[j], a.Members[i]
			}
		}
	}
	return a
}

func (w *world) step(e Event) {
	w.Helper()
	out := w.Step(w.now, e)
	w.jobs = append(w.jobs, out.Jobs...)
	w.reports = append(w.reports, out.Report...)
	for _, v := range out.Do {
		switch v := v.(type) {
		case connection.Dial:
			w.dials = append(w.dials, dialled{w.now, v.Endpoint, v.ID})
			w.lines[v.ID] = &line{world: w, id: v.ID, signer: w.validators[v.Endpoint]}
		case connection.Send:
			l := w.lines[v.ID]
			if l.done || l.closed != nil {
				w.Fatalf("a frame after the end")
			}
			if v.Stream != connection.Control {
				continue
			}
			f, err := push.Decode(push.Raw{Type: push.Type(v.Frame[0]), Payload: v.Frame[1:]})
			if err != nil {
				w.Fatal(err)
			}
			l.sent, l.at = append(l.sent, f), append(l.at, w.now)
		case connection.End:
			if v.Stream == connection.Control {
				w.lines[v.ID].done = true
			}
		case connection.Close:
			w.lines[v.ID].closed = &v
		}
	}
}

// pass lets time pass, with every tick that falls into it.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for until := w.now.Add(d); ; {
		next := w.Deadline()
		if next > until {
			w.now = until
			return
		}
		if next <= w.now {
			w.now++ // a deadline that stands still would never end
		}
		w.now = max(w.now, next)
		w.step(Tick{})
	}
}

func (w *world) newHead(change func(*chainview.Head)) {
	w.Helper()
	next := *w.head
	p := *next.Params
	next.Params = &p
	next.Height++
	w.told(&next)
	if change != nil {
		change(&next)
	}
	w.head = &next
	w.step(Head{&next})
}

// begin gives the machine its first head and returns the lines it dialled.
func (w *world) begin() []*line {
	w.Helper()
	w.step(Head{w.head})
	var lines []*line
	for _, d := range w.dials {
		lines = append(lines, w.lines[d.id])
	}
	return lines
}

func (l *line) up() *line {
	l.Helper()
	l.step(Connection{connection.Up{ID: l.id, Peer: l.signer.PublicKey()}})
	return l
}

func (l *line) raw(stream connection.Stream, frame ...byte) {
	l.Helper()
	l.step(Connection{connection.Came{ID: l.id, Stream: stream, Frame: frame}})
}

func (l *line) say(stream connection.Stream, f push.Frame) {
	l.Helper()
	frame, err := push.Encode(f)
	if err != nil {
		l.Fatal(err)
	}
	l.raw(stream, frame[4:]...)
}

func (l *line) helloOf() *push.Hello {
	return &push.Hello{Version: push.Version, PartyPubkey: l.signer.PublicKey(), PartyRole: push.Validator, ChallengeNonce: types.Hash{7}}
}

func (l *line) ackOf() *push.HelloAck {
	f := &push.HelloAck{Version: push.Version, PartyPubkey: l.signer.PublicKey(), PartyRole: push.Validator}
	f.SignedChallenge = l.signer.Sign(f.Digest(chainID, l.hello.ChallengeNonce, signerOf("r0").PublicKey()))
	return f
}

// greeted goes through the exchange of Hellos up to our HelloAck.
func (l *line) greeted() *line {
	l.Helper()
	l.up()
	l.hello = *expect[*push.Hello](l)
	l.say(0, l.helloOf())
	expect[*push.HelloAck](l)
	return l
}

// live goes through all of it, and takes the first ping.
func (l *line) live() *line {
	l.Helper()
	l.greeted()
	l.say(0, l.ackOf())
	expect[*push.HeartbeatPing](l)
	return l
}

func expect[F push.Frame](l *line) F {
	l.Helper()
	if len(l.sent) == 0 {
		l.Fatalf("nothing was sent; closed: %v", l.closed)
	}
	f, is := l.sent[0].(F)
	if !is {
		l.Fatalf("%T %v was sent", l.sent[0], l.sent[0])
	}
	l.sent = l.sent[1:]
	return f
}

func (l *line) goodbye() push.Reason {
	l.Helper()
	for len(l.sent) > 1 {
		l.sent = l.sent[1:]
	}
	why := expect[*push.Goodbye](l).Reason
	if !l.done {
		l.Fatal("the control stream continues after Goodbye")
	}
	return why
}

func (l *line) down(reason string) { l.step(Connection{connection.Down{ID: l.id, Reason: reason}}) }
