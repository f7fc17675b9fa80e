package box

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/fixtures"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/worlds/audit"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/mempool"
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

// Beside its home, a victim is told of a Python actor that an earlier life
// deployed, of its durability, and of the bytes that a file may have: a file that cannot grow stands
// for a disk that is full.
const (
	victimActor      = "DEVNET_TEST_VICTIM_ACTOR"
	victimDurability = "DEVNET_TEST_VICTIM_DURABILITY"
	victimFull       = "DEVNET_TEST_VICTIM_FULL"
)

// payee is nobody's; each transfer gives it 1 wei.
var payee = types.Address{0: 0xbb, 19: 1}

// highest is the most that any validator has, running or stopped: a full disk may
// have stopped those that have most before they are asked.
func highest(n *Network) (h types.Height) {
	for _, node := range n.List() {
		h = max(h, node.finalHeight())
	}
	return h
}

// victim brings the network up, increments counters, has a Python actor beat and
// transfers money until it is killed. It says a word a line: up, refused, final,
// done, paid, actor, called, stopped, error.
func victim(dir string) error {
	full := os.Getenv(victimFull) != ""
	if full {
		signal.Ignore(syscall.SIGXFSZ)
		most, err := strconv.ParseUint(os.Getenv(victimFull), 10, 64)
		if err != nil {
			return err
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	lines := make(chan string, 1024)
	go func() {
		for line := range lines {
			fmt.Println(line)
		}
	}()
	var durability store.Durability
	if err := durability.UnmarshalText([]byte(os.Getenv(victimDurability))); err != nil {
		return err
	}
	n, err := Up(context.Background(), Config{Plan: setup.Plan{Durability: durability, BlockTime: 2 * time.Millisecond, Seed: testSeed(),
		Params: map[string]string{"chain.link_delay_ms": "20"}}, Home: dir, Log: slog.New(slog.NewTextHandler(stops(lines), nil))})
	if err != nil {
		fmt.Println("refused", strings.ReplaceAll(err.Error(), "\n", " "))
		return nil
	}
	if broken := n.Broken(); len(broken) > 0 { // it runs without that validator: an operator who reads this stops it
		err := errors.Join(append(broken, n.Close())...)
		fmt.Println("refused", strings.ReplaceAll(err.Error(), "\n", " "))
		return nil
	}
	lines <- fmt.Sprint("up ", highest(n))
	n.Subscribe(func(h types.Height) { lines <- fmt.Sprint("final ", h) })
	for _, name := range wallet.Users()[:4] {
		go work(n, name, full, lines, counting(new(types.Address)))
	}
	go work(n, "erin", full, lines, beating(lines))
	go work(n, "frank", full, lines, paying(lines))
	select {}
}

// stops passes on what the log says of validators that stop.
type stops chan<- string

// Write implements io.Writer.
func (s stops) Write(p []byte) (int, error) {
	if line := string(p); strings.Contains(line, "the validator stops") {
		s <- "stopped " + strings.TrimSpace(line)
	}
	return len(p), nil
}

// job is what a worker does next, and what it does when that has landed.
type job struct {
	next   func(*payer) *types.Transaction
	landed func(*history.Executed)
}

// askAgain are the refusals after which a client looks for its nonce and goes on: the
// log held more than the stores, and has been replayed now; or a busy machine did
// not answer in time, and may have taken the transaction all the same.
var askAgain = []string{refusal.CodeNonceTooLow, refusal.CodeNonceTaken, refusal.CodeNonceGap, mempool.CodeAlreadyKnown, "no_answer",
	"busy"}

// work does a job again and again, and says what was acknowledged. Where the disk
// is full, the validators stop, and then it ends.
func work(n *Network, name string, full bool, lines chan<- string, j job) {
	w := newPayer(n, name)
	for ctx := context.Background(); ; {
		hash, err := n.Submit(ctx, j.next(w).Encode())
		var refused *refusal.Error
		if errors.As(err, &refused) && slices.Contains(askAgain, refused.Code) {
			w = newPayer(n, name)
			continue
		}
		if err == nil {
			var receipt *history.Executed
			if receipt, err = n.Wait(ctx, hash); err == nil {
				lines <- fmt.Sprint("done ", hash)
				j.landed(receipt)
				continue
			}
			if errors.As(err, &refused) && refused.Code == refusal.CodeDropped {
				w = newPayer(n, name) // one of the life before used the nonce
				continue
			}
		}
		if !full {
			lines <- fmt.Sprint("error ", name, ": ", err)
		}
		return
	}
}

// counting deploys a counter with a timer in Go, and has it count.
func counting(heart *types.Address) job {
	return job{func(w *payer) *types.Transaction {
		if heart.IsZero() {
			return w.deploy(samples.Code("heartbeat"), "", 10*types.CBY)
		}
		return w.execute(*heart, "start", []byte{0, 0, 0, 0, 0, 0, 0, 3})
	}, func(r *history.Executed) {
		if heart.IsZero() {
			*heart = r.To
		}
	}}
}

// beating deploys a Python actor, once in all lives, whose timer then beats for
// ever, and calls it.
func beating(lines chan<- string) job {
	heart, err := types.ParseAddress(os.Getenv(victimActor))
	if err != nil {
		heart = types.Address{}
	}
	var deployed types.Address
	tries := types.Cycles(0) // each has a limit of its own: what a busy machine gave up is refused when it comes again (C18)
	return job{func(w *payer) *types.Transaction {
		tries++
		if heart.IsZero() {
			source, err := fixtures.Actors.ReadFile("actors/heartbeat.py")
			if err != nil {
				panic(err)
			}
			deployed = actors.ActorAddress(w.key.Address(), types.Hash{}, source)
			return w.limited(w.deploy(source, "", 100_000*types.CBY), 1_000_000+tries, 400_000)
		}
		return w.limited(w.execute(heart, "start", nil), 200_000+tries, 20_000)
	}, func(r *history.Executed) {
		switch {
		case heart.IsZero() && r.Error != nil && r.Error.Code == "address_taken" && r.To == deployed:
			// A life that was killed before it could say so had it final already.
			heart = deployed
			lines <- fmt.Sprint("actor ", heart)
		case r.Status != types.StatusOK:
			lines <- fmt.Sprintf("error the Python actor ended with %s: %+v", r.Status, r.Error)
		case heart.IsZero():
			heart = r.To
			lines <- fmt.Sprint("actor ", heart)
			lines <- "called"
		default:
			lines <- "called"
		}
	}}
}

// paying transfers 1 wei to nobody.
func paying(lines chan<- string) job {
	return job{func(w *payer) *types.Transaction { return w.transfer(payee, 1) }, func(r *history.Executed) {
		if r.Status != types.StatusOK {
			lines <- fmt.Sprint("error a transfer ended with ", r.Status)
			return
		}
		lines <- fmt.Sprint("paid ", r.Hash)
	}}
}

// How often a disk is full, and a file damaged, in lives.
const (
	fullEvery   = 8
	damageEvery = 10
)

// witness is what a victim said in all its lives, and what was done to it.
type witness struct {
	dir        string
	random     *rand.Rand
	durability store.Durability
	node       string // whose files are damaged: one of four, which is f

	final, floor types.Height // the highest; and what a life begins with at least
	done         map[types.Hash]bool
	paid, called uint64 // transfers, and calls of the Python actor
	actor        string

	full, stopped, damaged, refused int
	beats                           int // of the Python actor's heart, in the end
}

// homesAtOnce is how many networks are killed side by side: each mostly waits, for
// its peers, for Python and for the moment of its end.
const homesAtOnce = 4

// kill -9 of the whole process under load, again and again: Go and Python actors
// with timers, and transfers. It comes up again at or above the last finalized
// height, no acknowledged transaction is lost, no validator contradicts itself,
// and the audit is clean. Sometimes the disk is full, and validators stop; or a
// file of one validator is damaged or gone between two lives, and the network goes
// on or refuses it by name, with a remedy that works.
func TestKillMinus9(t *testing.T) {
	kills := 100
	if os.Getenv("DEVNET_SOAK") != "" {
		kills = 1000
	}
	if text := os.Getenv("DEVNET_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal("DEVNET_KILLS is how often a process is killed: ", err)
		}
	}
	seed := rand.Uint64()
	t.Logf("moments of the kills: seed %d", seed)
	var homes [homesAtOnce]witness
	var all sync.WaitGroup
	for i := range homes {
		w := &homes[i]
		*w = witness{dir: t.TempDir() + "/home", random: rand.New(rand.NewPCG(seed, uint64(i))), done: map[types.Hash]bool{}}
		w.node, w.durability = wallet.ValidatorName(w.random.IntN(4)), []store.Durability{store.Process, store.Disk}[i%2]
		share := (kills + i) / homesAtOnce // they add up
		all.Go(func() { t.Run(fmt.Sprint("home", i, " ", w.durability), func(t *testing.T) { w.kill(t, share) }) })
	}
	all.Wait()
	var sum witness
	acknowledged := 0
	for i := range homes {
		w := &homes[i]
		acknowledged += len(w.done)
		sum.paid, sum.called, sum.beats = sum.paid+w.paid, sum.called+w.called, sum.beats+w.beats
		sum.stopped, sum.refused = sum.stopped+w.stopped, sum.refused+w.refused
		sum.full, sum.damaged, sum.final = sum.full+w.full, sum.damaged+w.damaged, sum.final+w.final
	}
	t.Logf("%d kills: %d heights, %d acknowledged transactions, %d of them transfers, %d calls of Python, whose timers beat %d times; %d "+
		"full disks stopped %d validators; "+
		"files were damaged %d times, and %d times refused",
		kills, sum.final, acknowledged, sum.paid, sum.called, sum.beats, sum.full, sum.stopped, sum.damaged, sum.refused)
	if acknowledged == 0 || sum.final < types.Height(kills) {
		t.Fatalf("the load did nothing: %d transactions, %d heights", acknowledged, sum.final)
	}
	few := uint64(kills / 8)
	if kills >= 100 && (sum.paid < few || sum.called < few || sum.beats == 0 || sum.stopped == 0 || sum.refused == 0) {
		t.Error("not all of it was met, or too little")
	}
}

// words are what lives are waited for to say before they are counted.
var words = []string{"up", "done", "paid", "called"}

// kill lives on one home so many times, and judges it.
func (w *witness) kill(t *testing.T, kills int) {
	for i := range kills {
		switch {
		case i%fullEvery == fullEvery-1:
			w.fill(t)
		case i%damageEvery == damageEvery-2 && i+1 < kills:
			w.damage(t)
		default:
			// Most lives begin to be counted with an acknowledgement, by turns of all
			// that is under load, so that a slow machine gets there too.
			if refusal := w.live(t, words[i%len(words)], 0); refusal != "" {
				t.Errorf("an undamaged home is refused: %s", refusal)
			}
		}
		if t.Failed() {
			t.Fatalf("at kill %d", i)
		}
	}
	if kills > 0 {
		w.judge(t)
	}
}

// fill lives with files that can hardly grow, until a validator stops.
func (w *witness) fill(t *testing.T) {
	most := int64(0)
	for i := range 4 {
		if info, err := os.Stat(home.NodeFiles(w.dir, wallet.ValidatorName(i)).Votes); err == nil {
			most = max(most, info.Size())
		}
	}
	w.full++
	w.live(t, "stopped", most+1+int64(w.random.IntN(64<<10)))
}

// damage spoils or removes a file, and begins again: where that is refused, it
// does what the refusal says.
func (w *witness) damage(t *testing.T) {
	files := home.NodeFiles(w.dir, w.node)
	path := []string{files.State, files.Votes}[w.random.IntN(2)]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.damaged++
	w.floor = 0 // that node alone may have stored the last block; the others have it in their logs
	how := ""
	switch w.random.IntN(4) {
	case 0:
		how, err = "removed", os.Remove(path)
	case 1:
		how = "a bit flipped in its middle"
		data[len(data)/2] ^= 1 << w.random.IntN(8)
		err = os.WriteFile(path, data, 0o600)
	case 2:
		how = "a piece zeroed"
		clear(data[len(data)/4 : len(data)/2])
		err = os.WriteFile(path, data, 0o600)
	case 3:
		how = "bits flipped all over"
		for range 1 + len(data)/1000 {
			data[w.random.IntN(len(data))] ^= 1 << w.random.IntN(8)
		}
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	refusal := w.live(t, "done", 0)
	if refusal == "" {
		return
	}
	w.refused++
	for _, word := range []string{w.node + ": ", path, "remove " + path + ",", "--reset"} {
		if !strings.Contains(refusal, word) {
			t.Errorf("%s, %s: %q does not say %q", path, how, refusal, word)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if again := w.live(t, "done", 0); again != "" {
		t.Errorf("%s, %s, and removed as was advised: %s", path, how, again)
	}
}

// judge audits what the last life left, and looks for all that was acknowledged.
func (w *witness) judge(t *testing.T) {
	report, err := audit.Home(w.dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range report.Nodes {
		for _, problem := range node.Problems {
			t.Errorf("%s: %s", node.Name, problem)
		}
		t.Logf("%s: height %d, %d blocks, %d votes", node.Name, node.Height, node.Blocks, node.Votes)
	}
	n := up(t, Config{Home: w.dir})
	for _, node := range n.List() {
		awaitNode(t, node, w.final)
	}
	best := n.Best().Validator()
	for hash := range w.done {
		if receipt, err := best.Archive().Receipt(hash); err != nil || receipt == nil {
			t.Fatalf("the acknowledged transaction %s is lost: %v", hash, err)
		}
	}
	state := best.Head().State
	if had, fits := state.Account(payee).Balance.Uint64(); !fits || had < w.paid {
		t.Errorf("%d transfers of 1 wei were acknowledged, and %s has %d", w.paid, payee, had)
	}
	if w.called < 2 { // the first may be the deploy
		return
	}
	heart, err := types.ParseAddress(w.actor)
	if err != nil {
		t.Fatal(err)
	}
	// Whoever crashed between a fire and the timer that it schedules has both or none.
	if timers := state.Timers(heart); len(timers) != 1 || timers[0].Height > state.Height()+10 {
		t.Errorf("the Python actor's heart has %d timers at height %d: %+v", len(timers), state.Height(), timers)
	}
	if beats, _ := state.Storage(heart, []byte("beats")); string(beats) == "0" {
		if w.called < 6 {
			return // each life may have ended before a timer was due
		}
		t.Error("the Python actor's heart never beat")
	} else if w.beats, err = strconv.Atoi(string(beats)); err != nil {
		t.Errorf("the Python actor's heart has beaten %q times", beats)
	}
}

// live starts the process, lets it live for a while after it first says the word
// since, and kills it. With full above 0 no file grows beyond so many bytes. It
// returns why the home was refused, or "".
func (w *witness) live(t *testing.T, since string, full int64) (refusal string) {
	t.Helper()
	life := time.Duration(20+w.random.IntN(400)) * time.Millisecond
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), victimHome+"="+w.dir, victimActor+"="+w.actor, victimDurability+"="+w.durability.String())
	if full > 0 {
		command.Env = append(command.Env, fmt.Sprintf("%s=%d", victimFull, full))
	}
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
	unsaid := time.AfterFunc(4*patience, func() {
		t.Errorf("the network did not say %q within %v; its goroutines follow", since, 4*patience)
		command.Process.Signal(syscall.SIGQUIT)
	})
	defer unsaid.Stop()
	var killer *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		hung.Reset(patience)
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if word == since && killer == nil {
			unsaid.Stop()
			killer = time.AfterFunc(life, func() { command.Process.Signal(syscall.SIGKILL) })
		}
		if word == "refused" {
			refusal = rest
		}
		w.hear(t, word, rest, full > 0)
	}
	command.Wait() // its error is the kill
	switch {
	case refusal != "" && full > 0 && !strings.Contains(refusal, "file too large"):
		t.Errorf("with a full disk it is refused without that reason: %s", refusal)
	case refusal == "" && killer == nil:
		t.Errorf("the network never said %q", since)
	}
	return refusal
}

// hear takes a line of a victim.
func (w *witness) hear(t *testing.T, word, rest string, full bool) {
	switch word {
	case "up":
		h := height(t, rest)
		if h < w.floor {
			t.Errorf("up again at height %d, below the finalized %d", h, w.floor)
		}
		w.floor = h
	case "final":
		h := height(t, rest)
		w.final, w.floor = max(w.final, h), max(w.floor, h)
	case "done":
		hash, err := types.ParseHash(rest)
		if err != nil {
			t.Fatal(err)
		}
		w.done[hash] = true
	case "paid":
		w.paid++
	case "actor":
		w.actor = rest
	case "called":
		w.called++
	case "stopped":
		w.stopped++
		if !full || !strings.Contains(rest, "file too large") {
			t.Errorf("a validator stops, and not since the disk is full: %s", rest)
		}
	case "error":
		t.Errorf("the network under load: %s", rest)
	}
}

func height(t *testing.T, text string) types.Height {
	h, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return types.Height(h)
}
