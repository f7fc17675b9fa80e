package sim

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	realconns "github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/environment/transport/memnet"
	"github.com/cowboyinc/devnet/internal/environment/transport/quic"
)

// What package connection promises is kept by the real connections and by the
// simulated ones: each script is played on both, side by side, in virtual time.

// told is one end, and what it told, by stream: between streams there is no order.
type told struct {
	env.Connections
	mu    sync.Mutex
	hold  bool // what comes is not taken
	lines map[string][]string
}

func newTold(t *testing.T, c env.Connections) *told {
	t.Helper()
	end := &told{Connections: c, lines: map[string][]string{}}
	if err := c.Start(end.hear); err != nil {
		t.Fatal(err)
	}
	return end
}

func (o *told) hear(e connection.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of, line := "connection", ""
	on := func(s connection.Stream, format string, args ...any) {
		of, line = fmt.Sprintf("stream %d", s), fmt.Sprintf(format, args...)
	}
	switch e := e.(type) {
	case connection.Up:
		line = fmt.Sprintf("up with %.6x", e.Peer[:])
	case connection.Down:
		if line = "down"; e.Closed {
			line = fmt.Sprintf("closed %d %q", e.Code, e.Reason)
		}
	case connection.Stuck:
		line = "stuck"
	case connection.Opened:
		on(e.Stream, "opened")
	case connection.Came:
		on(e.Stream, "%.4s (%d)", strings.TrimRight(string(e.Frame), "\x00"), len(e.Frame))
		if !o.hold {
			o.Do(connection.Taken{ID: e.ID})
		}
	case connection.Ended:
		on(e.Stream, "ended %v", e.Torn)
	case connection.Cut:
		on(e.Stream, "cut")
	case connection.TooLong:
		on(e.Stream, "too long %d %q", e.Length, e.Type)
	case connection.Stalled:
		on(e.Stream, "stalled")
	}
	o.lines[of] = append(o.lines[of], line)
}

func (o *told) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []string
	for of, lines := range o.lines {
		all = append(all, of+": "+strings.Join(lines, ", "))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// parties are a runner and a validator, in one world.
type parties struct {
	runner, validator *told
	endpoint          string
	pass              func(time.Duration)
	cut               func(bool) // the link between them, both ways
}

// The names of the connection at its parties.
const ours, theirs connection.ID = 7, 1

func frame(text string, size int) []byte {
	return append([]byte(text), make([]byte, size-len(text))...)
}

// meet connects them, with a control stream on which the runner has said hello.
func (e *parties) meet() {
	e.runner.Do(connection.Dial{ID: ours, Endpoint: e.endpoint})
	e.pass(time.Second)
	e.runner.Do(connection.Open{ID: ours, Stream: connection.Control})
	e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("hello", 8)})
	e.pass(time.Second)
}

// job has the validator open its n-th stream with a frame.
func (e *parties) job(n uint64) {
	e.validator.Do(connection.Open{ID: theirs, Stream: connection.Job(n)})
	e.validator.Do(connection.Send{ID: theirs, Stream: connection.Job(n), Frame: frame("job", 8)})
}

// reals plays a script on QUIC over packets in memory.
func reals(t *testing.T, play func(*parties)) (validator, runner string) {
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		gateway := realconns.NewGateway(nil)
		mesh, err := quic.New(quic.Config{Signer: crypto.DeriveKey(1, "v0"), PacketConn: network.Listen(0), Runners: gateway})
		if err != nil {
			t.Fatal(err)
		}
		e := &parties{validator: newTold(t, gateway), endpoint: mesh.Addr().String(),
			pass: func(d time.Duration) { time.Sleep(d); synctest.Wait() }}
		if err := mesh.Start(func(types.Address, []byte) {}); err != nil {
			t.Fatal(err)
		}
		dialer, err := realconns.NewDialer(realconns.DialerConfig{Signer: crypto.DeriveKey(1, "r0"), PacketConn: network.Listen(0)})
		if err != nil {
			t.Fatal(err)
		}
		e.runner = newTold(t, dialer)
		e.cut = func(on bool) {
			network.SetFate(func(string, string, int) (time.Duration, bool) { return time.Millisecond, on })
		}
		play(e)
		validator, runner = e.validator.String(), e.runner.String()
		dialer.Close()
		gateway.Close()
		mesh.Close()
	})
	return validator, runner
}

// simulated plays it in a world.
func simulated(t *testing.T, link Link, play func(*parties)) (validator, runner string) {
	w := New(Config{Seed: 1, Link: link})
	defer w.Close()
	e := &parties{endpoint: Endpoint("v0"), pass: func(d time.Duration) { letRun(t, w, d) }}
	e.cut = func(on bool) {
		if w.Heal(); on {
			w.Partition([]string{"v0"}, []string{"r0"})
		}
	}
	for _, name := range []string{"v0", "r0"} {
		end := map[string]**told{"v0": &e.validator, "r0": &e.runner}[name]
		boot := func(c env.Connections) (func(), error) { *end = newTold(t, c); return nil, nil }
		given := func(l *process) env.Connections {
			if name == "v0" {
				return l.newGatewayEnd()
			}
			return l.newRunnerEnd(0)
		}
		if err := addMachine(w, name, fault.Validators, Parts{Signer: crypto.DeriveKey(1, name)}, given, boot); err != nil {
			t.Fatal(err)
		}
		if err := w.Boot(name); err != nil {
			t.Fatal(err)
		}
	}
	play(e)
	return e.validator.String(), e.runner.String()
}

// contract is what holds in both.
var contract = []struct {
	name              string
	play              func(*parties)
	validator, runner string // what they are told
}{
	{"frames of every size both ways, an end, and a leave", func(e *parties) {
		e.meet()
		e.runner.Do(connection.Admit{ID: ours})
		e.validator.Do(connection.Admit{ID: theirs})
		e.job(0)
		e.pass(time.Second)
		for _, size := range []int{64 << 10, connection.MaxFrameBytes} {
			e.validator.Do(connection.Send{ID: theirs, Stream: connection.Job(0), Frame: frame("big", size)})
			e.runner.Do(connection.Send{ID: ours, Stream: connection.Job(0), Frame: frame("big", size)})
		}
		e.runner.Do(connection.End{ID: ours, Stream: connection.Job(0)})
		e.pass(9 * time.Second)
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Job(0), Frame: frame("late", 8)})
		e.validator.Do(connection.Send{ID: theirs, Stream: connection.Job(0), Frame: frame("last", 8)})
		e.validator.Do(connection.End{ID: theirs, Stream: connection.Job(0)})
		e.pass(time.Second)
		e.runner.Do(connection.Close{ID: ours, Code: 1, Reason: "not_registered"})
		e.pass(time.Minute)
		for _, v := range []connection.Verb{connection.Send{ID: ours, Frame: []byte{1}}, connection.Open{ID: ours},
			connection.Taken{ID: ours}, connection.Close{ID: ours}} {
			e.runner.Do(v)
		}
		e.pass(time.Minute)
	}, `connection: up with RUNNER, closed 1 "not_registered"
stream 0: opened, hell (8)
stream 1: big (65536), big (1048576), ended false`, `connection: up with VALIDATOR, down
stream 1: opened, job (8), big (65536), big (1048576), last (8), ended false`},

	{"a long frame behind the one that admits", func(e *parties) {
		e.meet()
		e.validator.hold = true
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("ack", 8)})
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("long", connection.MaxGreetingBytes+1)})
		e.pass(time.Second)
		e.validator.Do(connection.Admit{ID: theirs})
		e.validator.Do(connection.Taken{ID: theirs})
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8), ack (8), long (4097)`, `connection: up with VALIDATOR`},

	{"a long frame behind one that does not admit", func(e *parties) {
		e.meet()
		e.validator.hold = true
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("ack", 8)})
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("long", connection.MaxGreetingBytes+1)})
		e.pass(time.Second)
		e.validator.Do(connection.Taken{ID: theirs})
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8), ack (8), too long 4097 'l'`, `connection: up with VALIDATOR`},

	{"frames that are none", func(e *parties) {
		e.meet()
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("long", connection.MaxGreetingBytes+1)})
		e.runner.Do(connection.Open{ID: ours, Stream: 4})
		e.runner.Do(connection.Send{ID: ours, Stream: 4, Frame: []byte{}})
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8), too long 4097 'l'
stream 4: opened, too long 0 '\x00'`, `connection: up with VALIDATOR`},

	{"a stream that is broken off", func(e *parties) {
		e.meet()
		e.job(0)
		e.job(1)
		e.pass(time.Second)
		e.validator.Do(connection.Reset{ID: theirs, Stream: connection.Job(1), Code: 1})
		e.pass(time.Second)
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Job(1), Frame: frame("none", 8)})
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Job(0), Frame: frame("done", 8)})
		e.pass(time.Second)
		e.runner.Do(connection.Reset{ID: ours, Stream: connection.Job(0), Code: 1})
		e.runner.Do(connection.Reset{ID: ours, Stream: connection.Job(9), Code: 1})
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8)
stream 1: done (8), cut`, `connection: up with VALIDATOR
stream 1: opened, job (8)
stream 5: opened, job (8), cut`},

	{"what is not taken holds its sender up", func(e *parties) {
		e.meet()
		e.validator.hold = true
		for range 100 {
			e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("more", 100)})
		}
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8), more (100), more (100), more (100), more (100)`, `connection: up with VALIDATOR`},

	{"and goes on when it is", func(e *parties) {
		e.meet()
		e.validator.hold = true
		for range 6 {
			e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("more", 100)})
		}
		e.runner.Do(connection.End{ID: ours, Stream: connection.Control})
		e.pass(time.Second)
		e.validator.Do(connection.Taken{ID: theirs})
		e.pass(time.Second)
		e.validator.Do(connection.Taken{ID: theirs})
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8), more (100), more (100), more (100), more (100), more (100), more (100), ended false`,
		`connection: up with VALIDATOR`},

	{"who takes nothing is stuck, once", func(e *parties) {
		e.meet()
		e.runner.hold = true
		e.validator.Do(connection.Patience{Write: 300 * time.Millisecond})
		e.job(0)
		for range 40 {
			e.validator.Do(connection.Send{ID: theirs, Stream: connection.Job(0), Frame: frame("more", 3<<10)})
		}
		e.pass(290 * time.Millisecond)
		before := e.validator.String()
		if strings.Contains(before, "stuck") {
			e.validator.hear(connection.Stuck{}) // too early: the transcript shows it
		}
		e.pass(time.Second)
		for range 5 {
			e.validator.Do(connection.Send{ID: theirs, Stream: connection.Job(0), Frame: frame("more", 1<<20)})
		}
		e.pass(time.Second)
	}, `connection: up with RUNNER, stuck
stream 0: opened, hell (8)`, `connection: up with VALIDATOR
stream 1: opened, job (8), more (3072), more (3072), more (3072)`},

	{"more than the queue holds", func(e *parties) {
		e.meet()
		for range 6 {
			e.validator.Do(connection.Send{ID: theirs, Stream: connection.Control, Frame: frame("more", 1<<20)})
		}
		e.pass(100 * time.Microsecond)
		e.validator.Do(connection.Close{ID: theirs, Code: 1, Reason: "slow_reader"})
		e.pass(time.Second)
	}, `connection: up with RUNNER, stuck, down
stream 0: opened, hell (8)`, `connection: up with VALIDATOR, closed 1 "slow_reader"
stream 0: too long 1048576 'm'`},

	{"a stream that is not allowed yet waits for one to end", func(e *parties) {
		e.meet()
		for i := range uint64(connection.LeastJobStreams + 1) {
			e.job(i)
		}
		e.pass(time.Second)
		e.runner.Do(connection.End{ID: ours, Stream: connection.Job(3)})
		e.pass(300 * time.Millisecond)
		e.validator.Do(connection.End{ID: theirs, Stream: connection.Job(3)})
		e.pass(300 * time.Millisecond)
		e.job(connection.LeastJobStreams + 1) // has no room
		e.pass(time.Second)
		e.validator.Do(connection.Reset{ID: theirs, Stream: connection.Job(0)})
		e.pass(300 * time.Millisecond)
		e.runner.Do(connection.End{ID: ours, Stream: connection.Job(0)})
		e.pass(time.Minute)
	}, `connection: up with RUNNER
stream 0: opened, hell (8)
stream 13: ended false`, func() string {
		lines := []string{"connection: up with VALIDATOR"}
		for i := range uint64(connection.LeastJobStreams + 2) {
			more := map[uint64]string{0: ", cut", 3: ", ended false"}[i]
			lines = append(lines, fmt.Sprintf("stream %d: opened, job (8)%s", connection.Job(i), more))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}()},

	{"a stream that is not allowed for too long", func(e *parties) {
		e.meet()
		e.runner.Do(connection.Open{ID: ours, Stream: 4})
		e.runner.Do(connection.Open{ID: ours, Stream: 8})
		e.pass(1990 * time.Millisecond)
		e.runner.Do(connection.Send{ID: ours, Stream: 4, Frame: frame("late", 8)})
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8)
stream 4: opened, late (8)`, `connection: up with VALIDATOR, stuck`},

	{"streams of lower numbers are there with a higher one", func(e *parties) {
		e.meet()
		e.validator.Do(connection.Open{ID: theirs, Stream: connection.Job(0)})
		e.job(1)
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8)`, `connection: up with VALIDATOR
stream 1: opened
stream 5: opened, job (8)`},

	{"a short silence loses nothing", func(e *parties) {
		e.meet()
		e.cut(true)
		for range 3 {
			e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("ping", 100)})
			e.pass(time.Second)
		}
		e.cut(false)
		e.pass(8 * time.Second)
		e.validator.Do(connection.Send{ID: theirs, Stream: connection.Control, Frame: frame("pong", 100)})
		e.pass(time.Second)
	}, `connection: up with RUNNER
stream 0: opened, hell (8), ping (100), ping (100), ping (100)`, `connection: up with VALIDATOR
stream 0: pong (100)`},

	{"a long one ends the connection, and dialling is in vain", func(e *parties) {
		e.meet()
		e.cut(true)
		e.pass(6 * time.Second)
		e.runner.Do(connection.Send{ID: ours, Stream: connection.Control, Frame: frame("ping", 100)})
		e.pass(15 * time.Second)
		e.runner.Do(connection.Dial{ID: 8, Endpoint: e.endpoint})
		e.pass(6 * time.Second)
		e.cut(false)
		e.pass(time.Second)
		e.runner.Do(connection.Dial{ID: 9, Endpoint: "nowhere"})
		e.runner.Do(connection.Dial{ID: 10, Endpoint: e.endpoint})
		e.runner.Do(connection.Close{ID: 10}) // before it is up
		e.pass(time.Second)
	}, `connection: up with RUNNER, down
stream 0: opened, hell (8)`, `connection: up with VALIDATOR, down, down, down, down`},

	{"an end that closes tells its peers", func(e *parties) {
		e.meet()
		e.validator.Close()
		e.pass(time.Second)
		e.runner.Do(connection.Dial{ID: 8, Endpoint: e.endpoint})
		e.pass(6 * time.Second)
	}, `connection: up with RUNNER, down
stream 0: opened, hell (8)`, `connection: up with VALIDATOR, closed 0 "shutdown", up with VALIDATOR, closed 0 "shutdown"`},
}

func TestTheContractOfConnections(t *testing.T) {
	who := strings.NewReplacer("RUNNER", fmt.Sprintf("%.6x", keyOf("r0")), "VALIDATOR", fmt.Sprintf("%.6x", keyOf("v0")))
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) {
			check := func(where, validator, runner string) {
				t.Helper()
				if want := who.Replace(c.validator); validator != want {
					t.Errorf("%s: the validator was told\n%s\nand not\n%s", where, validator, want)
				}
				if want := who.Replace(c.runner); runner != want {
					t.Errorf("%s: the runner was told\n%s\nand not\n%s", where, runner, want)
				}
			}
			validator, runner := simulated(t, Link{Latency: time.Millisecond}, c.play)
			check("simulated", validator, runner)
			validator, runner = reals(t, c.play)
			check("real", validator, runner)
		})
	}
}

func keyOf(name string) []byte {
	key := crypto.DeriveKey(1, name).PublicKey()
	return key[:]
}
