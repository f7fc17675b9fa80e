package polling

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

type job struct {
	at   Cursor
	size int
}

func at(j job) Cursor { return j.at }
func size(j job) int  { return j.size }

// J11: the consecutive pages of a list have each job once, in the order of the list, and
// none has more bytes than PageBytes, except a page with a single job.
func TestJ11PagesHaveEachJobOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var jobs []job
		for range chance.IntN(60) {
			jobs = append(jobs, job{Cursor{types.Height(chance.Uint64N(5)), types.Keccak([]byte{byte(chance.Uint32()), byte(chance.Uint32())})},
				chance.IntN(PageBytes * 5 / 4)})
		}
		slices.SortFunc(jobs, func(a, b job) int { return a.at.Compare(b.at) })
		jobs = slices.CompactFunc(jobs, func(a, b job) bool { return a.at == b.at })
		shuffled := slices.Clone(jobs)
		chance.Shuffle(len(jobs), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		var told []job
		for next, pages := (Cursor{}), 0; ; pages++ {
			var page []job
			page, next = Page(shuffled, next, at, size)
			bytes := 0
			for _, j := range page {
				bytes += j.size
			}
			if bytes > PageBytes && len(page) > 1 || pages > len(jobs) {
				t.Fatalf("page %d has %d bytes in %d jobs", pages, bytes, len(page))
			}
			told = append(told, page...)
			if next.IsZero() {
				break
			}
		}
		if !slices.Equal(told, jobs) {
			t.Fatalf("told are %d jobs of %d", len(told), len(jobs))
		}
	}
}

// J11: a cursor goes over HTTP unchanged; an invalid text is refused and named.
func TestJ11ACursorIsReadAsItWasWritten(t *testing.T) {
	c := Cursor{1 << 40, types.Hash{1, 2}}
	if read, err := ParseCursor(c.String()); err != nil || read != c {
		t.Errorf("%v, %v", read, err)
	}
	for _, text := range []string{"1", "-", "x-0x00", "-1-0x00", "1-0x0", strings.Repeat("9", 30) + "-" + c.Job.String()} {
		if _, err := ParseCursor(text); err == nil || !strings.Contains(err.Error(), "want DEADLINE-0xJOB") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
