package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// lineRun has something of all that commands read: timers that are deferred, cancelled and fire, messages, jobs that are done, refused and
// late, a runner that leaves, a validator that joins, changed parameters, calls that fail.
const lineRun = `
net = network(validators = 4, runners = 3, block_time = "500ms", link = link(latency = "20ms", jitter = "5ms"),
              params = {"cip1.lane_timer_cycles": 251000, "chain.epoch_blocks": 8})
hearts = [net.deploy("go:heartbeat", name = "hb%d" % i, fund = "1000 CBY") for i in range(3)]
count, relay = net.deploy("go:counter", name = "count"), net.deploy("go:relay", name = "relay", fund = "100 CBY")
bidder = net.deploy("go:bidder", name = "bidder")
for heart in hearts:
    net.send(heart, "start", be8(1))
net.send(count, "increment")
job = net.submit_job(kind = "custom", executor = "echo", params = "hello", timeout_blocks = 40)
net.run(blocks = 2)
typo = net.submit_job(kind = "custom", executor = "sha265", timeout_blocks = 3)
net.set_param("cip3.min_basefee", 700)
net.send(relay, "send", b"\x85\x54" + bytes(count.address) + b"\x69increment\x40\x1a\x00\x03\x0d\x40\x19\x03\xe8", sender = "carol")
net.send(count, "fail", sender = "bob")
net.join_validator()
net.run(blocks = 3)
late = net.submit_job(kind = "custom", executor = "echo", params = "late", timeout_blocks = 40, sender = "bob")
net.send(bidder, "step", be8(5))
net.leave_runner("r2")
for t in net.timers(status = "pending")[:1]:
    net.cancel_timer(t)
net.transfer("carol", "3 wei")
net.send(count, "increment")
net.run(blocks = 14)
`

// lineSeed is the seed of its runs.
const lineSeed = 3

// heldLine is a held run, and the address at which commands ask it.
type heldLine struct {
	t       *testing.T
	run     *simulated.Held
	driven  *api.Driven
	address string
}

// holdForLine plays a script to a height, and serves it until the test ends.
func holdForLine(t *testing.T, path string, height types.Height) *heldLine {
	t.Helper()
	seed, pulse := uint64(lineSeed), &scenario.Pulse{}
	h := &heldLine{t: t}
	h.run = simulated.NewHeld(t.Context(), self.Version, simulated.Script{Name: path, Out: io.Discard,
		At: func() string {
			_, _, at := pulse.Look()
			return at.String()
		},
		Play: func(ctx context.Context, open scenario.Open, out io.Writer) string {
			if _, err := scenario.Run(path, scenario.Options{Open: open, Seed: &seed, Out: out, Stop: ctx, Pulse: pulse}); err != nil {
				return err.Error()
			}
			return ""
		}})
	if _, err := h.run.Begin(moment.Moment{Kind: moment.AtHeight, Height: height}); err != nil {
		t.Fatal(err)
	}
	h.driven = api.NewDriven(h.run, api.Config{Held: h.run}, h.run.Tell)
	server := httptest.NewServer(h.driven)
	h.address = server.Listener.Addr().String()
	t.Cleanup(func() {
		server.Close()
		if err := h.driven.Close(); err != nil {
			t.Error(err)
		}
		h.run.Close()
	})
	return h
}

// held is where the run is.
func (h *heldLine) held() model.Held {
	h.driven.Lock()
	defer h.driven.Unlock()
	return h.run.Held()
}

// say is what a command prints, errors too, and how it ends. The address of the network is masked.
func (h *heldLine) say(at string, words ...string) string {
	h.t.Helper()
	var out, complaints bytes.Buffer
	args := append([]string{"devnet"}, words...)
	if at != "" {
		args = append(args, "--at", at)
	}
	code := Run(append(args, "--http", h.address), &out, &complaints)
	noted := strings.ReplaceAll(complaints.String(), "As it was at "+at+".\n", "")
	return strings.ReplaceAll(fmt.Sprintf("%d\n%s\n%s", code, out.String(), noted), h.address, "ADDRESS")
}

// presentParts are what a command prints of a runner's connections, offers by word and dead letters: no block says them, so that they are
// left out at an earlier moment.
var presentParts = []struct {
	found *regexp.Regexp
	put   string
}{
	{regexp.MustCompile(`(?m)^( *\d+ +r\d +0x\S+ +\w+ +\w+ +)[\d-]+/`), "${1}-/"}, // PEERS
	{regexp.MustCompile(`(?m)^(connected|says|dead letters) .*\n`), ""},
	{regexp.MustCompile(`, takes no new ones`), ""},
	{regexp.MustCompile(`(?s)\n *"(connected|changes|dead_letters)": (\[.*?\]|\{.*?\}|null|\d+),?`), ""},
	{regexp.MustCompile(`\n *"accepting": (true|false),?`), ""},
}

// leaveOutPresent leaves out of what a command about runners printed what is of the present alone.
func leaveOutPresent(line, printed string) string {
	if !strings.HasPrefix(line, "runner ") {
		return printed
	}
	for _, part := range presentParts {
		printed = part.found.ReplaceAllString(printed, part.put)
	}
	return printed
}

// replayedBlocks are what a trace says of the work that it took: how many blocks were executed again, which is no word on the chain. Text
// has its facts in columns, as wide as the longest word.
var (
	replayedBlocks = regexp.MustCompile(`(?m)^replayed .*\n|\n *"replayed": \d+,?`)
	factsOfTrace   = regexp.MustCompile(`(?m)^(hash|kind|height|status|did) +`)
)

// normalize leaves out of what a command printed what is of the present, or of the work that it took.
func normalize(line, printed string) string {
	if strings.HasPrefix(line, "tx --trace ") {
		return factsOfTrace.ReplaceAllString(replayedBlocks.ReplaceAllString(printed, ""), "$1 ")
	}
	return leaveOutPresent(line, printed)
}

// body is an answer of the API.
func (h *heldLine) body(path string) []byte {
	h.t.Helper()
	answer, err := http.Get("http://" + h.address + path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		h.t.Fatalf("%s: %s %v %s", path, answer.Status, err, data)
	}
	return data
}

// commandsAtMoments are the commands of the line that take a moment, with what they are asked here.
func (h *heldLine) commandsAtMoments() (all [][]string) {
	for _, line := range []string{
		"account", "account alice", "account carol", "account hb1", "account relay",
		"actor list", "actor list --limit 2", "actor show hb0", "actor show count", "actor show relay", "actor state hb0", "actor state count",
		"actor state hb1 --limit 1", "actor logs hb1", "actor logs hb1 --oldest", "actor read count get", "actor read count nothing",
		"actor bid bidder", "actor bid count",
		"block", "block latest", "block 3", "params get", "params get cip3.min_basefee", "params get cip3.min_basfee",
		"timer list", "timer list --oldest --limit 5", "timer list --status pending", "timer list --actor hb1 --status fired", "timer lane",
		"timer lane --last 4", "job list", "job list --oldest", "job list --status Completed", "job list --submitter bob", "job list --runner r1",
		"runner list", "runner list --status Healthy", "runner show r0", "runner show r2", "tx 0x0000000000000001",
	} {
		all = append(all, strings.Fields(line))
	}
	ctx, n := h.t.Context(), client.NewAPI(h.address)
	jobs, err := client.Collect(n.Jobs(ctx, client.JobFilter{}, client.Page{Limit: command.MaxPage}))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := range jobs {
		id := jobs[i].ID.String()
		all = append(all, []string{"job", "show", id}, []string{"job", "show", "--draw", id}, []string{"tx", id})
	}
	timers, err := client.Collect(n.Timers(ctx, client.TimerFilter{}, client.Page{Limit: 6, Newest: true}))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := range timers {
		id := timers[i].ID.String()
		all = append(all, []string{"timer", "show", id}, []string{"tx", id})
	}
	receipts, err := client.Collect(n.BlockReceipts(ctx, "latest", client.Page{Limit: 4}))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := range receipts {
		hash := receipts[i].Hash.String()
		all = append(all, []string{"tx", hash}, []string{"tx", "--trace", hash})
	}
	return all
}

// jsonOf are reads whose --json is the answer of the API, by its path.
var jsonOf = map[string]string{"account alice": "/account/alice", "params get": "/params",
	"job list --oldest": "/jobs?limit=1000", "timer lane --last 4": "/timers/lane?last=4", "runner show r0": "/runner/r0"}

// atFlags are the paths of the commands that have the flag of a moment.
func atFlags(path string, commands []*cli.Command) (all []string) {
	for _, c := range commands {
		if slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f == command.AtFlag }) {
			all = append(all, path+c.Name)
		}
		all = append(all, atFlags(path+c.Name+" ", c.Subcommands)...)
	}
	return all
}

// Twenty moments drawn at random: what a command prints with --at is, to the byte, what it printed when that block was the latest, what it
// prints in another run of the seed that is held there, and what the API answers. To read moves nothing.
func TestTheLinePrintsMomentsAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "line.star")
	if err := os.WriteFile(path, []byte(lineRun), 0o600); err != nil {
		t.Fatal(err)
	}
	h := holdForLine(t, path, 1)
	was := map[types.Height]map[string]string{}
	digests, asked := map[types.Height]types.Hash{}, map[string][]string{}
	for {
		at := h.held()
		if at.Ended {
			break // some steps behind the last block
		}
		said := map[string]string{}
		for _, words := range h.commandsAtMoments() {
			for _, form := range [][]string{words, append(slices.Clone(words), "--json")} {
				line := strings.Join(form, " ")
				said[line], asked[line] = h.say("", form...), form
			}
		}
		was[at.Height], digests[at.Height] = said, at.Digest
		if after := h.held(); after.Digest != at.Digest || after.Changed != "" {
			t.Fatalf("reading moved it from %+v to %+v", at, after)
		}
		if _, err := client.NewAPI(h.address).Step(t.Context(), model.StepRequest{Unit: model.UnitBlock}); err != nil {
			t.Fatal(err)
		}
	}
	if len(was) < 20 {
		t.Fatalf("the run has %d heights", len(was))
	}
	for _, command := range atFlags("", newApp(io.Discard, io.Discard).Commands) {
		covered := false
		for line := range asked { // order: any will do
			covered = covered || strings.HasPrefix(line+" ", command+" ")
		}
		if !covered {
			t.Errorf("devnet %s takes --at, and is not asked", command)
		}
	}
	rng := rand.New(rand.NewPCG(43, 2))
	heights := slices.Sorted(maps.Keys(was))
	rng.Shuffle(len(heights), func(i, j int) { heights[i], heights[j] = heights[j], heights[i] })
	for i, height := range heights[:20] {
		name := fmt.Sprintf("h%d", height)
		if i%3 == 0 {
			name = moment.Moment{Script: path, Seed: lineSeed, Kind: moment.AtHeight, Height: height}.String()
		}
		fresh := holdForLine(t, path, height)
		if at := fresh.held(); at.Digest != digests[height] {
			t.Fatalf("a fresh run to %s is %+v, and had the digest %s", name, at, digests[height])
		}
		for _, line := range slices.Sorted(maps.Keys(was[height])) {
			want := was[height][line]
			if got := fresh.say("", asked[line]...); normalize(line, got) != normalize(line, want) {
				t.Fatalf("devnet %s in a fresh run to %s prints\n%s\nand printed\n%s", line, name, got, want)
			}
			if got := h.say(name, asked[line]...); normalize(line, got) != normalize(line, want) {
				t.Errorf("devnet %s --at %s prints\n%s\nand printed\n%s", line, name, got, want)
			}
		}
		for line, path := range jsonOf { // order: each is judged alone
			sign := "?"
			if strings.Contains(path, "?") {
				sign = "&"
			}
			_, printed, _ := strings.Cut(h.say(name, append(strings.Fields(line), "--json")...), "\n")
			var got, want any
			if err := json.Unmarshal([]byte(printed), &got); err != nil {
				t.Fatalf("devnet %s --json --at %s: %v in %s", line, name, err, printed)
			}
			if err := json.Unmarshal(h.body(path+sign+"at=h"+fmt.Sprint(height)), &want); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("devnet %s --json --at %s prints\n%v\nand the API answers\n%v", line, name, got, want)
			}
		}
	}
}
