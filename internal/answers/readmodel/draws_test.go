package readmodel_test

import (
	"encoding/binary"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/history"
)

// byHand repeats a draw from its report, as a reader of CIP-11 §§9.2 and 9.3 would:
// without package selection.
func byHand(job types.Hash, d *model.JobDraw) (seed []byte, committee []types.Address) {
	keccak := func(parts ...[]byte) []byte {
		h := sha3.NewLegacyKeccak256()
		for _, part := range parts {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	le := func(n uint64, size int) []byte { return binary.LittleEndian.AppendUint64(nil, n)[:size] }
	if d.Attempt == 1 {
		seed = keccak(d.Basis[:], []byte("cowboy-runner-select-v2:"), job[:], le(uint64(d.SubmittedAt), 8))
	} else {
		seed = keccak(d.Basis[:], []byte("retry:"), le(uint64(d.Attempt-1), 4))
	}
	left := slices.Clone(d.Candidates)
	at := seed
	for i := range d.Committee {
		at = keccak(at, le(uint64(i), 8))
		weights, total := make([]uint64, len(left)), uint64(0)
		for k := i; k < len(left); k++ {
			weights[k] = left[k].Weight
			if i == 0 && d.Favoured != nil && left[k].Runner == *d.Favoured {
				weights[k] *= uint64(d.Multiplier)
			}
			total += weights[k]
		}
		number := binary.LittleEndian.Uint64(at[:8]) % total
		k := i
		for number >= weights[k] {
			number -= weights[k]
			k++
		}
		committee = append(committee, left[k].Runner)
		left[i], left[k] = left[k], left[i]
	}
	return seed, committee
}

// CIP-11 §§9.2 to 9.4: the report of each draw, favoured ones and retries too, is enough
// to repeat it by hand.
func TestADrawCanBeMadeAgainByHand(t *testing.T) {
	l := newLabour(t, nil)
	favoured, retried := 0, 0
	check := func(id types.Hash) {
		t.Helper()
		draws, err := l.reader().JobDraws(id)
		if err != nil || len(draws) == 0 {
			t.Fatalf("%d draws, %v", len(draws), err)
		}
		for i := range draws {
			d := &draws[i]
			seed, committee := byHand(id, d)
			if !slices.Equal(seed, d.Seed[:]) || !slices.Equal(committee, d.Committee) || int(d.Number) != len(d.Candidates) {
				t.Errorf("draw %d: seed %x, want %s; committee %v, want %v", d.Attempt, seed, d.Seed, committee, d.Committee)
			}
			for k, s := range d.Steps {
				if s.Runner != committee[k] {
					t.Errorf("step %d draws %s, want %s", k, s.Runner, committee[k])
				}
			}
			if len(d.Steps) != len(committee) {
				t.Errorf("%d steps", len(d.Steps))
			}
			if d.Favoured != nil {
				favoured++
			}
			if d.Attempt > 1 {
				retried++
			}
		}
	}
	check(l.ended(l.submit(2, push.Deterministic).ID).ID)
	check(l.ended(l.submit(1, push.None).ID).ID)
	j := l.submit(1, push.None)
	for j.Status == "Pending" {
		l.reach(l.Height("v0") + 1)
		j, _ = l.reader().Job(j.ID)
	}
	if len(j.Committee) > 0 {
		for _, name := range []string{"r0", "r1", "r2", "r3"} {
			if l.Key(name).Address() == j.Committee[0] {
				l.drop(name)
			}
		}
	}
	check(l.ended(j.ID).ID)
	if favoured == 0 || retried == 0 {
		t.Errorf("%d draws favoured a runner, %d were retries: the test shows too little", favoured, retried)
	}
}

// CIP-11 §9.1: a job without candidates reports how many runners each filter leaves out,
// while it waits and when it failed.
func TestAJobThatFindsNobodySaysWhy(t *testing.T) {
	l := newLabour(t, nil)
	l.drop("r0")
	l.reach(l.Height("v0") + 12) // until it is out of P
	j, err := l.reader().Job(l.submit(4, push.Deterministic).ID)
	if err != nil || j.Status != "Pending" {
		t.Fatalf("%+v, %v", j, err)
	}
	want := func(what string, p *model.JobPool) {
		t.Helper()
		if p == nil || p.Wanted != 4 || p.Eligible != 3 || len(p.LeftOut) != 1 || p.LeftOut[0].Filter != "absent" || p.LeftOut[0].Runners != 1 {
			t.Errorf("%s: %+v", what, p)
		}
	}
	want("waiting", j.Pool)
	failed := l.ended(j.ID)
	if failed.Error == nil || failed.Error.Code != "no_candidates" {
		t.Fatalf("%+v", failed)
	}
	want("failed", failed.Pool)
	told := 0
	story, err := l.reader().JobStory(j.ID, history.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range story {
		if e.What == model.JobWaiting || e.What == model.JobFailed {
			told++
			want(e.What, e.Pool)
		}
	}
	if told != 2 {
		t.Errorf("the story tells it %d times", told)
	}
}

// The example of docs/RUNNERS.md is right: made again by hand it has the page's seed and
// draws the page's runner.
func TestTheDrawOfThePageIsRight(t *testing.T) {
	data, err := os.ReadFile("../../../docs/RUNNERS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(data), "<!-- draw example: internal/answers/readmodel.TestTheDrawOfThePageIsRight -->")
	var job types.Hash
	d := model.JobDraw{Attempt: 1, Committee: make([]types.Address, 1)}
	var seed, digest types.Hash
	var position int
	for _, line := range strings.Split(strings.Split(page, "```")[1], "\n") {
		hash := func(text string) (h types.Hash) {
			if err := h.UnmarshalText([]byte(text)); err != nil {
				t.Fatal(err)
			}
			return h
		}
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[0] == "job":
			job = hash(words[1])
		case len(words) == 2 && words[0] == "parent":
			d.Basis = hash(words[1])
		case len(words) == 2 && words[0] == "seed":
			seed = hash(words[1])
		case len(words) == 4 && words[0] == "submitted":
			height, err := strconv.ParseUint(words[3], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			d.SubmittedAt = types.Height(height)
		case len(words) == 4 && strings.HasPrefix(words[2], "0x"):
			at, err := types.ParseAddress(words[2])
			weight, err2 := strconv.ParseUint(words[3], 10, 64)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			d.Candidates = append(d.Candidates, model.DrawCandidate{Runner: at, Weight: weight})
		case len(words) == 6 && strings.HasPrefix(words[1], "0x"):
			digest = hash(words[1])
			if position, err = strconv.Atoi(words[4]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(d.Candidates) != 4 {
		t.Fatalf("%+v", d)
	}
	got, committee := byHand(job, &d)
	first := sha3.NewLegacyKeccak256()
	first.Write(append(slices.Clone(got), make([]byte, 8)...))
	if !slices.Equal(got, seed[:]) || committee[0] != d.Candidates[position].Runner || !slices.Equal(first.Sum(nil), digest[:]) {
		t.Errorf("seed %x, drawn %s", got, committee)
	}
}
