package run

import (
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

func TestEveryRunIsInOneShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, n := rapid.Uint64Range(0, 1000).Draw(t, "seed"), rapid.Uint64Range(1, 60).Draw(t, "seeds")
		files := []string{"a.star", "b.star", "c.star"}[:rapid.IntRange(1, 3).Draw(t, "files")]
		of := rapid.Uint64Range(1, n*uint64(len(files))).Draw(t, "shards")
		type run struct {
			file string
			seed uint64
		}
		seen := map[run]int{}
		for i := range of {
			p := &plan{files: files}
			if err := p.readSeeds(decimal(first), decimal(n), decimal(i+1)+"/"+decimal(of)); err != nil {
				t.Fatal(err)
			}
			jobs := slices.Collect(p.jobsOfShard())
			if len(jobs) == 0 || len(jobs) != p.mineCount() {
				t.Fatalf("shard %d of %d has %d runs, and counts %d", i+1, of, len(jobs), p.mineCount())
			}
			for _, j := range jobs {
				seen[run{j.File, *j.Seed}]++
			}
		}
		for _, file := range files {
			for seed := first; seed < first+n; seed++ {
				if seen[run{file, seed}] != 1 {
					t.Fatalf("%s with seed %d is in %d shards", file, seed, seen[run{file, seed}])
				}
			}
		}
		if len(seen) != int(n)*len(files) {
			t.Fatalf("%d runs, want %d", len(seen), int(n)*len(files))
		}
	})
}

func decimal(n uint64) string {
	digits := []byte{byte('0' + n%10)}
	for n /= 10; n > 0; n /= 10 {
		digits = append([]byte{byte('0' + n%10)}, digits...)
	}
	return string(digits)
}

func TestTheWorstEndIsTheBatchs(t *testing.T) {
	for _, c := range [][3]int{{failure.ExitDone, failure.ExitFailed, failure.ExitFailed},
		{failure.ExitUsage, failure.ExitFailed, failure.ExitUsage}, {failure.ExitNoStart, failure.ExitFailed, failure.ExitNoStart},
		{failure.ExitNoStart, failure.ExitUsage, failure.ExitUsage}} {
		if worseExitCode(c[0], c[1]) != c[2] || worseExitCode(c[1], c[0]) != c[2] {
			t.Errorf("worse(%d, %d) = %d, want %d", c[0], c[1], worseExitCode(c[0], c[1]), c[2])
		}
	}
}

func TestReplayIsAShellsCommand(t *testing.T) {
	defer func(was string) { os.Args[0] = was }(os.Args[0])
	os.Args[0] = "bin/devnet"
	if got := replayCommand(batch.Job{File: "a.star"}, batch.World{Backend: batch.Sim}, 7); got != "bin/devnet run a.star --seed 7" {
		t.Error(got)
	}
	if got := replayCommand(batch.Job{File: "it's here.star"}, batch.World{Backend: batch.Live, BlockTime: "100ms"}, 7); got != `bin/devnet run 'it'\''s here.star' --seed 7 --block-time 100ms --backend live` {
		t.Error(got)
	}
}

func TestWordsBehindTheBar(t *testing.T) {
	s := &show{failures: 3}
	// order: each is judged alone
	for done, want := range map[int64]string{0: " 3 failed", 10: " 3 failed, 18s left", 100: " 3 failed, 0s left"} {
		if got := s.barWords(done, 100, 2*time.Second); got != want {
			t.Errorf("after %d of 100: %q, want %q", done, got, want)
		}
	}
}

// A verdict's code is what devnet run ends with.
func TestTheCodesOfVerdictsAreExitCodes(t *testing.T) {
	if batch.Passed != failure.ExitDone || batch.Failed != failure.ExitFailed || batch.Mistaken != failure.ExitUsage ||
		batch.NotStarted != failure.ExitNoStart {
		t.Error("they are not")
	}
}
