package pyhost

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// Decision C18: a node's hosts of reads and their children wait for all other work of the machine. Those
// of blocks do not, and none of a command does.
func TestC18HostsOfReadsYield(t *testing.T) {
	t.Run("node", func(t *testing.T) { testNicenessOfHosts(t, Config{Hosts: 1, ReadsYield: true}, readNiceness) })
	t.Run("command", func(t *testing.T) { testNicenessOfHosts(t, Config{Hosts: 1}, 0) })
}

func testNicenessOfHosts(t *testing.T, config Config, ofReads int) {
	p := openPool(t, config)
	own, err := nicenessOf(0)
	if err != nil {
		t.Fatal(err)
	}
	for purpose, want := range map[program.Purpose]int{program.ForBlock: own, program.ForRead: min(own+ofReads, mostNiceness)} {
		s, err := p.Open(purpose)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w := newWorld(s)
		m := program.Message{Kind: program.Call, Sender: alice, Self: w.deploy(1, "def f(p): pass\n"), Handler: "f"}
		if _, _, err := w.handle(m, fire); err != nil {
			t.Fatal(err)
		}
		h := s.(*session).host
		for what, pid := range map[string]int{"fork server": h.cmd.Process.Pid, "child": h.child} {
			if got, err := nicenessOf(pid); err != nil || got != want {
				t.Errorf("the %s for purpose %d has niceness %d, want %d: %v", what, purpose, got, want, err)
			}
		}
	}
}
