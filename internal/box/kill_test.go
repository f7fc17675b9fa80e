package box

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/api"
	"github.com/cowboyinc/devnet/internal/types"
)

// The test's own binary is the process that is killed: with this variable it
// runs a network on the home that the variable names, under load, and says on
// standard output what was acknowledged.
const victimHome = "DEVNET_TEST_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimHome); dir != "" {
		if err := victim(dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// victim brings the network up and increments counters until it is killed.
func victim(dir string) error {
	n, err := Up(context.Background(), Config{Home: dir, BlockTime: 2 * time.Millisecond, Seed: testSeed(),
		Params: map[string]string{"chain.link_delay_ms": "20"}, Log: logger()})
	if err != nil {
		return err
	}
	lines := make(chan string, 1024)
	go func() {
		for line := range lines {
			fmt.Println(line)
		}
	}()
	lines <- fmt.Sprint("up ", n.Best().height())
	n.Subscribe(func(h types.Height) { lines <- fmt.Sprint("final ", h) })
	for _, name := range AccountNames[:4] {
		go func() {
			w := newWallet(n, name)
			var heart types.Address
			for ctx := context.Background(); ; {
				var tx *types.Transaction
				if heart.IsZero() {
					tx = w.deploy(samples.Code("heartbeat"), "", 10*types.CBY)
				} else {
					tx = w.execute(heart, "start", []byte{0, 0, 0, 0, 0, 0, 0, 3})
				}
				hash, err := n.Submit(ctx, tx.Encode())
				var refused *api.Error
				if errors.As(err, &refused) && refused.Body.Code == api.CodeNonceTooLow {
					w = newWallet(n, name) // the log held more than the stores, and has been replayed now
					continue
				}
				if err != nil {
					lines <- fmt.Sprint("error ", name, ": ", err)
					return
				}
				receipt, err := n.Wait(ctx, hash)
				if errors.As(err, &refused) && refused.Body.Code == "dropped" {
					w = newWallet(n, name) // one of the life before used the nonce
					continue
				}
				if err != nil {
					lines <- fmt.Sprint("error ", err)
					return
				}
				if heart.IsZero() {
					heart = receipt.To
				}
				lines <- fmt.Sprint("done ", hash)
			}
		}()
	}
	select {}
}

// kill -9 of the whole process under load, again and again: it comes up again
// at or above the last finalized height, no acknowledged transaction is lost,
// no validator contradicts itself, and the audit is clean.
func TestKillMinus9(t *testing.T) {
	kills := 20
	if os.Getenv("DEVNET_SOAK") != "" {
		kills = 500
	}
	dir := t.TempDir() + "/home"
	seed := rand.Uint64()
	t.Logf("moments of the kills: seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var final types.Height
	done := map[types.Hash]bool{}
	for i := range kills {
		// Every other life begins to be counted with the first acknowledgement, so
		// that a slow machine gets there too.
		runVictim(t, dir, []string{"up", "done"}[i%2], time.Duration(20+random.IntN(400))*time.Millisecond, &final, done)
		if t.Failed() {
			t.Fatalf("at kill %d", i)
		}
	}
	t.Logf("%d kills: height %d, %d acknowledged transactions", kills, final, len(done))
	if len(done) == 0 || final < types.Height(kills) {
		t.Fatalf("the load did nothing: %d transactions, height %d", len(done), final)
	}
	report, err := Check(dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range report.Nodes {
		for _, problem := range node.Problems {
			t.Errorf("%s: %s", node.Name, problem)
		}
		t.Logf("%s: height %d, %d blocks, %d votes", node.Name, node.Height, node.Blocks, node.Votes)
	}
	n := up(t, Config{Home: dir})
	for _, node := range n.List() {
		awaitNode(t, node, final)
	}
	for hash := range done {
		if receipt, err := n.Best().Validator().Archive().Receipt(hash); err != nil || receipt == nil {
			t.Fatalf("the acknowledged transaction %s is lost: %v", hash, err)
		}
	}
}

// runVictim starts the process, lets it live for so long after it first says the
// word since, and kills it.
func runVictim(t *testing.T, dir, since string, life time.Duration, final *types.Height, done map[types.Hash]bool) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), victimHome+"="+dir)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(patience, func() {
		t.Errorf("the network did nothing worth telling for %v; its goroutines follow", patience)
		command.Process.Signal(syscall.SIGQUIT)
	})
	defer hung.Stop()
	var killer *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if word == since && killer == nil {
			killer = time.AfterFunc(life, func() { command.Process.Signal(syscall.SIGKILL) })
		}
		switch word {
		case "up":
			if h := height(t, rest); h < *final {
				t.Errorf("up again at height %d, below the finalized %d", h, *final)
			}
		case "final":
			*final = max(*final, height(t, rest))
		case "done":
			hash, err := types.ParseHash(rest)
			if err != nil {
				t.Fatal(err)
			}
			done[hash] = true
		case "error":
			t.Errorf("the network under load: %s", rest)
		}
	}
	if killer == nil {
		t.Error("the network did not come up")
	}
	command.Wait() // its error is the kill
}

func height(t *testing.T, text string) types.Height {
	h, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return types.Height(h)
}
