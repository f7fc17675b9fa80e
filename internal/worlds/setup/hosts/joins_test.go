package hosts

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/validators/history"
)

func status(n *box.Network) string { return n.Nodes()[0].Status }

// join has the system key ask for a validator's membership.
func join(t *testing.T, by *box.Network, key types.PublicKey, endpoint string) {
	t.Helper()
	system, cycles, cells := by.Key(wallet.System), types.Cycles(500_000), types.Cells(50_000)
	draft := wallet.Draft{Cycles: &cycles, Cells: &cells, Payload: types.System{Kind: types.KindSystem, Opcode: governance.OpJoinValidator,
		Args: codec.Marshal(governance.JoinValidator{PublicKey: key, Endpoint: endpoint})}}
	fees := by.Best().Validator().Head().State.NextBaseFees()
	tx := draft.Sign(wallet.Times(2, by.Genesis().ChainID, fees.Cycle, fees.Cell), system, by.NextNonce(system.Address()))
	hash, err := by.Submit(t.Context(), tx.Encode())
	if err == nil {
		_, err = by.Wait(t.Context(), hash)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// freePort is a port of this machine that nobody has by UDP.
func freePort(t *testing.T) int {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return socket.LocalAddr().(*net.UDPAddr).Port
}

// awaitStatus waits by the blocks of one validator until another stands so.
func awaitStatus(t *testing.T, by, of *box.Network, want string) {
	t.Helper()
	for range 400 {
		if status(of) == want {
			return
		}
		await(t, by)
	}
	t.Fatalf("it is %s, and not %s", status(of), want)
}

// One that joins says so before its first block, and once it has left that it has left,
// in its next life too.
func TestAValidatorThatHasLeftDoesNotJoinWhenItIsStartedAgain(t *testing.T) {
	dir, made := written(t, func(p *Plan) {
		p.Port = freePort(t)
		p.Chain.Params = map[string]string{"chain.epoch_blocks": "8"}
	})
	key := NewKey()
	joins, err := made.AddValidator(dir, "v1", freePort(t), key)
	if err != nil {
		t.Fatal(err)
	}
	open := func(name string) box.Config {
		v, err := Open(filepath.Join(dir, name+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		return configOf(v)
	}
	config := open("v0")
	config.Here.Names = map[types.Address]string{key.Address(): "v1"}
	v0, v1 := start(t, config), start(t, open("v1"))
	if got := status(v1); got != history.StatusJoining {
		t.Errorf("before it is asked for it is %s", got)
	}
	join(t, v0, key.PublicKey(), joins.Endpoint)
	awaitStatus(t, v0, v1, history.StatusActive)
	if _, err := v0.Leave(t.Context(), "v1"); err != nil {
		t.Fatal(err)
	}
	awaitStatus(t, v0, v1, history.StatusLeft)
	if err := v1.Close(); err != nil {
		t.Fatal(err)
	}
	if got := status(start(t, open("v1"))); got != history.StatusLeft {
		t.Errorf("in its next life it is %s", got)
	}
}
