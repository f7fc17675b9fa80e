package ledger

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const (
	nestedVault = `import pvm_host

def check(payload):
    raise PermissionError("the limit is 0")

def charge(payload):
    check(payload)

def spin(payload):
    while True:
        pass
`
	nestedPaper = `import pvm_host

def subscribe(payload):
    pvm_host.call_actor(payload, "charge", b"")

def told(payload):
    try:
        pvm_host.call_actor(payload, "charge", b"")
    except pvm_host.CallError as e:
        pvm_host.set_state(b"told", str(e).encode())
    raise ValueError("of its own")

def reads(payload):
    try:
        pvm_host.call_actor(payload[:20], "deliver", payload[20:])
    except pvm_host.CallError as e:
        return str(e).encode()

def deliver(payload):
    pvm_host.call_actor(payload, "charge", b"")

def slow(payload):
    pvm_host.call_actor(payload, "spin", b"", cycles_limit=20_000)

def far(payload):
    pvm_host.call_actor(payload[:20], "deliver", payload[20:])
`
)

// C20: the error of a call within a call has its places for people, each with its actor. A
// program reads no place, and where messages are hashed the receipt has the host's own.
func TestC20ANestedFailureNamesTheActorOfEachPlace(t *testing.T) {
	for _, hashed := range []bool{false, true} {
		w := newPythonWorld(t, params.Overrides{"chain.receipts_root": "2"})
		if hashed {
			w = newPythonWorld(t, nil)
		}
		w.block(w.python("alice", "vault", nestedVault, 0), w.python("alice", "gazette", nestedPaper, 0),
			w.python("alice", "kiosk", nestedPaper, 0))
		w.ok()
		vault, gazette := w.address("vault"), w.address("gazette")
		through := append(gazette[:], vault[:]...)
		const permission = "permission_error: PermissionError: the limit is 0"
		for _, c := range []struct {
			actor, handler string
			payload        []byte
			want, old      string
		}{
			{"gazette", "subscribe", vault[:], "gazette line 4, in subscribe: CallError: permission_error: " +
				"vault line 7, in charge; vault line 4, in check: PermissionError: the limit is 0", "line 4, in subscribe: CallError: " + permission},
			{"gazette", "told", vault[:], "line 11, in told: ValueError: of its own", "line 11, in told: ValueError: of its own"},
			{"gazette", "slow", vault[:], "gazette line 23, in slow: CallError: out_of_cycles: vault line 11, in spin: " +
				"the limit of 20000 cycles is used up", "line 23, in slow: CallError: out_of_cycles: the limit of 20000 cycles is used up"},
			{"kiosk", "far", through, "kiosk line 26, in far: CallError: permission_error: gazette line 20, in deliver: " +
				"CallError: permission_error: vault line 7, in charge; vault line 4, in check: PermissionError: the limit is 0",
				"line 26, in far: CallError: permission_error: CallError: " + permission},
		} {
			w.block(w.call("bob", c.actor, c.handler, c.payload))
			want := c.want
			if hashed {
				want = c.old
			}
			if r := w.last.Receipts[0]; r.Status != types.StatusReverted || r.Error.Message != want {
				t.Errorf("%s.%s: %s %q\n\twant %q", c.actor, c.handler, r.Status, r.Error.Message, want)
			}
		}
		w.block(w.call("bob", "kiosk", "reads", through))
		w.ok()
		if read := string(w.last.Receipts[0].Output); strings.Contains(read, "line ") || read != "permission_error: CallError: "+permission {
			t.Errorf("the program reads %q", read)
		}
	}
}
