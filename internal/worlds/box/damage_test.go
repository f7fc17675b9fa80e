package box

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/environment/store/log"
	"github.com/cowboyinc/devnet/internal/worlds/audit"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// ran is a home in which four validators made some blocks.
func ran(t *testing.T) string {
	t.Helper()
	dir := t.TempDir() + "/home"
	n, err := Up(context.Background(), Config{Plan: setup.Plan{BlockTime: 10 * time.Millisecond, Seed: testSeed()}, Home: dir, Log: logger()})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range n.List() {
		awaitNode(t, node, 12)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// refusedHome brings a home up, which must be refused in these words, and in no
// others of a Go trace.
func refusedHome(t *testing.T, dir string, words ...string) {
	t.Helper()
	n, err := Up(context.Background(), Config{Home: dir, Log: logger()})
	if err == nil {
		n.Close()
		t.Fatalf("it is brought up; wanted %q", words)
	}
	for _, word := range append(words, "--reset") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), "goroutine") {
		t.Errorf("%q is a trace", err)
	}
}

// staysDown brings a home up in which one validator is beyond help: it says so in these words,
// and the others make blocks.
func staysDown(t *testing.T, dir, name string, words ...string) {
	t.Helper()
	n := up(t, Config{Home: dir, Log: logger()})
	failure := n.findNode(name).Failure()
	if failure == nil || len(n.Broken()) != 1 {
		t.Fatalf("%s is up; broken are %v", name, n.Broken())
	}
	for _, word := range append(words, name) {
		if !strings.Contains(failure.Error(), word) {
			t.Errorf("%q does not say %q", failure, word)
		}
	}
	for _, node := range n.Nodes() {
		if told := strings.Join(node.Missing, "\n"); node.Name == name && !strings.Contains(name+": "+told, failure.Error()) {
			t.Errorf("/ready says of %s: %q", name, told)
		}
	}
	await(t, n, n.Best().finalHeight()+5)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// goesOn brings a home up and waits until all its validators have more blocks.
func goesOn(t *testing.T, dir string) *Network {
	t.Helper()
	n := up(t, Config{Home: dir, Log: logger()})
	target := n.Best().finalHeight() + 30
	for _, node := range n.List() {
		awaitNode(t, node, target)
	}
	return n
}

func spoilFile(t *testing.T, path string, spoil func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, spoil(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A damaged state.db is refused with node, path and remedy, by up and by check,
// and the remedy works: the state comes from the others, the votes stay.
func TestADamagedStateIsNamedAndFetchedAgain(t *testing.T) {
	dir := ran(t)
	files := home.NodeFiles(dir, "v2")
	whole, err := os.ReadFile(files.State)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for name, spoil := range map[string]func([]byte) []byte{
		"cut":    func(b []byte) []byte { return b[:15_598] },
		"zeroed": func(b []byte) []byte { clear(b[8192:]); return b },
		"flipped": func(b []byte) []byte {
			for range 2000 {
				b[8192+random.IntN(len(b)-8192)] ^= 1 << random.IntN(8)
			}
			return b
		},
	} {
		if err := os.WriteFile(files.State, spoil(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			staysDown(t, dir, "v2", files.State, "remove", "fetches its state")
			report, err := audit.Home(dir, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, node := range report.Nodes {
				if told := strings.Join(node.Problems, "\n"); (node.Name == "v2") != strings.Contains(told, files.State+" is damaged") {
					t.Errorf("check says of %s: %q", node.Name, told)
				}
			}
		})
	}
	if err := os.Remove(files.State); err != nil {
		t.Fatal(err)
	}
	goesOn(t, dir)
}

// A validator whose log is gone sits out, and comes back; a second one is too
// many of four.
func TestAHomeWithoutALog(t *testing.T) {
	dir := ran(t)
	for _, path := range []string{home.NodeFiles(dir, "v1").Votes, filepath.Dir(home.NodeFiles(dir, "v1").Votes)} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		var said logged
		n := up(t, Config{Home: dir, Log: said.logger()})
		target := n.Best().finalHeight() + 30
		for _, node := range n.List() {
			awaitNode(t, node, target)
		}
		// A block must be stamped two allowed drifts after the start: how many blocks
		// that takes is this machine's affair.
		for range 2000 {
			if said.contains("it votes again") {
				break
			}
			await(t, n, n.Best().finalHeight()+1)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if !said.contains("its log of votes is lost") || !said.contains("it votes again") {
			t.Errorf("with %s gone the log says %s", path, said.text())
		}
	}
	for _, name := range []string{"v1", "v3"} {
		if err := os.Remove(home.NodeFiles(dir, name).Votes); err != nil {
			t.Fatal(err)
		}
	}
	refusedHome(t, dir, "the logs of votes of v1, v3 are lost", "of 4 validators 1")
}

// told is the text of check for each node of a home, without an error.
func told(t *testing.T, dir string) map[string]string {
	t.Helper()
	report, err := audit.Home(dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, node := range report.Nodes {
		all[node.Name] = strings.Join(node.Problems, "\n")
	}
	return all
}

// A log of votes that is cut, anywhere before the store's tip, is a lost log. check names
// it in the words of the validator's own log, and the validator sits out. Two of four are
// too many (decision C5).
func TestALogThatIsCutIsLost(t *testing.T) {
	const empty, short = "its log of votes is lost: it holds no record", "its log of votes is lost: it ends before the tip of the store"
	for name, one := range map[string]struct {
		cut  func([]byte) []byte
		says string
	}{
		"to a half":       {func(b []byte) []byte { return b[:len(b)/2] }, short},
		"behind its head": {func(b []byte) []byte { return b[:16] }, empty},
		"in its head":     {func(b []byte) []byte { return b[:7] }, empty},
	} {
		t.Run(name, func(t *testing.T) {
			dir := ran(t)
			votes := home.NodeFiles(dir, "v1").Votes
			spoilFile(t, votes, one.cut)
			for node, problems := range told(t, dir) {
				if lost := strings.Contains(problems, one.says) && strings.Contains(problems, votes); lost != (node == "v1") {
					t.Errorf("check says of %s: %q", node, problems)
				}
			}
			var said logged
			n := up(t, Config{Home: dir, Log: said.logger()})
			for range 2000 {
				if said.contains("it votes again") {
					break
				}
				await(t, n, n.Best().finalHeight()+1)
			}
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			if !said.contains(one.says) || !said.contains("it votes again") {
				t.Errorf("the log says %s", said.text())
			}
			if problems := told(t, dir)["v1"]; problems != "" {
				t.Errorf("after it voted again check says %q", problems)
			}
			for _, node := range []string{"v1", "v3"} {
				spoilFile(t, home.NodeFiles(dir, node).Votes, one.cut)
			}
			refusedHome(t, dir, "the logs of votes of v1, v3 are lost", "of 4 validators 1")
		})
	}
}

// check names a store that is missing while its log of votes exists.
func TestCheckNamesAStateThatIsGone(t *testing.T) {
	dir := ran(t)
	files := home.NodeFiles(dir, "v0")
	if err := os.Remove(files.State); err != nil {
		t.Fatal(err)
	}
	for node, problems := range told(t, dir) {
		if lost := strings.Contains(problems, "its state is lost: "+files.State); lost != (node == "v0") {
			t.Errorf("check says of %s: %q", node, problems)
		}
	}
}

// A log of votes that is cut at any byte either is lost, or has every vote before the
// store's tip. A crash could have kept the votes that it lacks from being written.
func TestALogCutAnywhereIsLostOrHasTheTip(t *testing.T) {
	dir := ran(t)
	files := home.NodeFiles(dir, "v2")
	db, err := bolt.Open(files.State, store.Process)
	if err != nil {
		t.Fatal(err)
	}
	tip, err := history.Of(db).Tip()
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(files.Votes)
	if err != nil {
		t.Fatal(err)
	}
	root := simplex.Root{Block: tip.Block, Hash: tip.Hash}
	due := votesUpTo(t, replayed(t, files.Votes), tip.Block.Header.View)
	path := filepath.Join(t.TempDir(), "votes.log")
	found := map[simplex.Reach]int{}
	for size := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		records := replayed(t, path)
		reach, err := simplex.ReachOf(records, root)
		if err != nil {
			t.Fatalf("cut to %d bytes: %v", size, err)
		}
		found[reach]++
		if have := votesUpTo(t, records, tip.Block.Header.View); !reach.Lost(true) && have != due {
			t.Fatalf("cut to %d of %d bytes it has %d of %d votes up to the tip, and %v", size, len(whole), have, due, reach)
		}
	}
	if found[simplex.Empty] == 0 || found[simplex.Short] == 0 || found[simplex.Whole] == 0 || found[simplex.Former] != 0 || due == 0 {
		t.Errorf("found %v, with %d votes up to the tip", found, due)
	}
}

func replayed(t *testing.T, path string) (records [][]byte) {
	t.Helper()
	votes, err := log.Open(path, store.Process)
	if err != nil {
		t.Fatal(err)
	}
	err = votes.Replay(func(record []byte) error {
		records = append(records, record)
		return nil
	})
	if err := errors.Join(err, votes.Close()); err != nil {
		t.Fatal(err)
	}
	return records
}

// votesUpTo counts the votes in views before one.
func votesUpTo(t *testing.T, records [][]byte, view types.View) (n int) {
	t.Helper()
	votes, err := simplex.OwnVotes(records)
	if err != nil {
		t.Fatal(err)
	}
	for i := range votes {
		if votes[i].View < view {
			n++
		}
	}
	return n
}

// A log that is damaged, or is none, is refused with a remedy, and not by a trace.
func TestADamagedLogIsNamed(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"its head":   func(b []byte) []byte { copy(b, "another thing"); return b },
		"its middle": func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := ran(t)
			files := home.NodeFiles(dir, "v0")
			spoilFile(t, files.Votes, spoil)
			staysDown(t, dir, "v0", files.Votes, "remove", "votes again")
		})
	}
}

// What a crash left of the last write to the log is told.
func TestATornTailIsTold(t *testing.T) {
	dir := ran(t)
	spoilFile(t, home.NodeFiles(dir, "v3").Votes, func(b []byte) []byte { return b[:len(b)-3] })
	var said logged
	n := up(t, Config{Home: dir, Log: said.logger()})
	await(t, n, n.Best().finalHeight()+2)
	if !said.contains("the incomplete record was cut off") {
		t.Errorf("the log says %s", said.text())
	}
}

// A genesis that is gone or altered is another chain's.
func TestAnotherGenesisIsRefused(t *testing.T) {
	dir := ran(t)
	path := filepath.Join(dir, "genesis.cbor")
	spoilFile(t, path, func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	refusedHome(t, dir, path, "differs from the genesis that the network began with")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refusedHome(t, dir, path)
	if _, err := audit.Home(dir, "", nil); !errors.As(err, new(*home.BrokenError)) {
		t.Errorf("check: %v", err)
	}
}

// The audit names the job of which one validator keeps another row than executing its
// blocks gives, whichever it is.
func TestADamagedRowOfAJobIsNamed(t *testing.T) {
	dir := t.TempDir() + "/home"
	jobs := newDocket()
	n, err := Up(t.Context(), Config{Plan: setup.Plan{Runners: 2, BlockTime: 50 * time.Millisecond, Seed: testSeed()}, Home: dir,
		Log: logger(), Observe: jobs.observe})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, n)
	spec := customJob("echo", "hello", 2, types.Address{})
	spec.Callback = nil
	job := newPayer(n, "alice").submit(t, spec)
	jobs.await(t, job, "completed", kindIs(types.JobChangeCompleted))
	for _, node := range n.List() {
		awaitNode(t, node, n.Best().finalHeight()+2)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	said := func() (clean bool, told string) {
		report, err := audit.Home(dir, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range report.Nodes {
			if node.Name == "v2" {
				told = strings.Join(node.Problems, "\n")
			} else if len(node.Problems) > 0 {
				t.Errorf("%s: %q", node.Name, node.Problems)
			}
		}
		return report.Clean(), told
	}
	if clean, told := said(); !clean {
		t.Fatalf("before any damage: %s", told)
	}
	for _, bucket := range []env.Bucket{"jobs", "job_standings", "job_order", "submitter_jobs", "runner_jobs", "status_jobs", "job_notes",
		"job_results"} {
		for what, damaged := range map[string]func([]byte) []byte{
			"another value": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
			"gone":          func([]byte) []byte { return nil },
		} {
			mend := rewritten(t, home.NodeFiles(dir, "v2").State, bucket, damaged)
			if clean, told := said(); clean || !strings.Contains(told, job.String()+" in "+string(bucket)) {
				t.Errorf("%s, %s: %q", bucket, what, told)
			}
			mend()
		}
	}
	if clean, told := said(); !clean {
		t.Errorf("behind it all: %s", told)
	}
}

// rewritten changes the first row of a bucket in a store, and returns what puts it back.
func rewritten(t *testing.T, path string, bucket env.Bucket, change func([]byte) []byte) (mend func()) {
	t.Helper()
	with := func(do func(db *bolt.Store) error) {
		db, err := bolt.Open(path, store.Process)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(do(db), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var key, value []byte
	with(func(db *bolt.Store) error {
		err := db.Scan(bucket, nil, nil, false, func(k, v []byte) bool {
			key, value = bytes.Clone(k), bytes.Clone(v)
			return false
		})
		return errors.Join(err, db.Commit([]env.Write{{Bucket: bucket, Key: key, Value: change(bytes.Clone(value))}}))
	})
	return func() {
		with(func(db *bolt.Store) error { return db.Commit([]env.Write{{Bucket: bucket, Key: key, Value: value}}) })
	}
}
