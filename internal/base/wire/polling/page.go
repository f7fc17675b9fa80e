package polling

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// NextPage is the header of an answer to GET /runner/{address}/jobs with the cursor of the
// next page. An answer with the last page has none.
const NextPage = "Next-After"

const (
	// PageBytes bounds the specs of an answer, in bytes of CBOR. Four of the maximum size fit;
	// a longer one has its own page.
	PageBytes = 1 << 20
	// MaxPages bounds the pages that a runner asks for in a row: its maximum number
	// of jobs at the maximum size.
	MaxPages = 256
)

// Cursor is a place in the list of a runner's jobs, which is by deadline, then by job. The
// zero Cursor is before all. A cursor stays good when jobs come and go.
type Cursor struct {
	Deadline types.Height
	Job      types.Hash
}

// IsZero reports whether the cursor is before all jobs.
func (c Cursor) IsZero() bool { return c == Cursor{} }

// Compare orders cursors as the list is.
func (c Cursor) Compare(d Cursor) int {
	if c.Deadline != d.Deadline {
		return cmp.Compare(c.Deadline, d.Deadline)
	}
	return slices.Compare(c.Job[:], d.Job[:])
}

// String is the cursor as it travels over HTTP: the deadline in decimal, a minus, the job.
func (c Cursor) String() string { return fmt.Sprintf("%d-%s", c.Deadline, c.Job) }

// ParseCursor reads what String wrote; an empty text is the zero Cursor. The error says what
// is wrong with a text of anybody.
func ParseCursor(text string) (c Cursor, err error) {
	if text == "" {
		return c, nil
	}
	deadline, job, both := strings.Cut(text, "-")
	height, err := strconv.ParseUint(deadline, 10, 64)
	if err == nil && both {
		err = c.Job.UnmarshalText([]byte(job))
	}
	if err != nil || !both {
		return Cursor{}, fmt.Errorf("the cursor is %.100q, want DEADLINE-0xJOB", text)
	}
	c.Deadline = types.Height(height)
	return c, nil
}

// Page cuts the page after a cursor from a runner's jobs. place is the place of a job in
// the list, size the bytes of its spec. next is the cursor of the page after it, zero if
// there is none. A page has at most MaxJobs jobs and PageBytes bytes, but at least one job.
func Page[J any](jobs []J, after Cursor, place func(J) Cursor, size func(J) int) (page []J, next Cursor) {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b J) int { return place(a).Compare(place(b)) })
	bytes := 0
	for _, j := range jobs {
		if !after.IsZero() && place(j).Compare(after) <= 0 {
			continue
		}
		bytes += size(j)
		if len(page) > 0 && (bytes > PageBytes || len(page) == MaxJobs) {
			return page, place(page[len(page)-1])
		}
		page = append(page, j)
	}
	return page, Cursor{}
}
