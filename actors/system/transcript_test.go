package system

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// TestTranscripts plays lives of jobs and prints what each block did: events, the
// open jobs, and who of the runners changed.
//
//	register r0 r1 …                       alice registers runners
//	owner HANDLER r0                       pause, resume or deregister
//	submit runners=3 timeout=10 callback   bob submits a job, the next by number
//	commit J V R RESULT                    validator V commits for runner R of job J
//	reveal J R RESULT                      the result of R; of a single runner, too
//	cancel J                               by bob
//	end [HEIGHTS]                          ends the block, and so many more
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		s := &transcript{world: newWorld(t)}
		datadriven.RunTest(t, path, s.run)
	})
}

type transcript struct {
	*world
	jobs []types.Hash
	seen map[string]string // what was printed of each runner last
}

func (s *transcript) run(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(d.Input), "\n") {
		words := strings.Fields(line)
		if code := s.do(&out, words); code != "" {
			fmt.Fprintf(&out, "%s: %s\n", line, code)
		}
	}
	return out.String()
}

// do plays a line, and returns the code of its refusal.
func (s *transcript) do(out *strings.Builder, words []string) string {
	job := func(word string) types.Hash {
		var n int
		if _, err := fmt.Sscan(word, &n); err != nil || n >= len(s.jobs) {
			s.t.Fatalf("there is no job %q", word)
		}
		return s.jobs[n]
	}
	switch words[0] {
	case "register":
		s.register(words[1:]...)
	case "owner":
		return s.registry("alice", words[1], Naming{Runner: s.address(words[2])})
	case "submit":
		return s.submitted(words[1:])
	case "commit":
		return s.commit(words[2], job(words[1]), words[3], words[4])
	case "reveal":
		op := OpReveal
		if j := s.job(job(words[1])); j != nil && j.Terms.Runners == 1 {
			op = OpResult
		}
		return s.reveal(op, job(words[1]), words[2], words[3])
	case "cancel":
		id := job(words[1])
		_, code := s.call("bob", types.DispatcherAddress, "cancel", id[:])
		return code
	case "end":
		blocks := 1
		if len(words) > 1 {
			fmt.Sscan(words[1], &blocks)
		}
		for range blocks {
			s.ended(out)
		}
	default:
		s.t.Fatalf("there is no command %q", words[0])
	}
	return ""
}

func (s *transcript) submitted(words []string) string {
	runners, timeout := uint64(1), uint64(10)
	callback := slices.Contains(words, "callback")
	for _, word := range words {
		fmt.Sscanf(word, "runners=%d", &runners)
		fmt.Sscanf(word, "timeout=%d", &timeout)
	}
	job := spec(runners)
	job.TimeoutBlocks = timeout
	if callback {
		job.Callback = &push.Callback{Actor: types.Address{9}, Handler: "done", CorrelationID: []byte{}, Context: []byte{}}
	}
	id, code := s.submit("bob", job)
	if code == "" {
		s.jobs = append(s.jobs, id)
	}
	return code
}

// ended ends a block and prints its effects, if any.
func (s *transcript) ended(out *strings.Builder) {
	height := s.block.Height
	s.end()
	var lines []string
	for _, e := range s.past {
		lines = append(lines, "  "+e.Name+s.told(e))
	}
	for i, id := range s.jobs {
		if j := s.job(id); j != nil && len(s.past) > 0 {
			lines = append(lines, fmt.Sprintf("  job %d %s, attempt %d, deadline %d, committee %v", i, j.Status, j.Attempts, j.Deadline(),
				s.committee(id)))
		}
	}
	if s.seen == nil {
		s.seen = map[string]string{}
	}
	Runners(s.state, func(r *Runner) bool {
		name := s.name(r.Address)
		now := fmt.Sprintf("  %s reputation %d, %d jobs, stake %s, holds %s", name, r.Reputation, r.ActiveJobs, r.Stake, s.balance(r.Address))
		if s.seen[name] != now {
			lines, s.seen[name] = append(lines, now), now
		}
		return true
	})
	if len(lines) > 0 {
		fmt.Fprintf(out, "height %d, escrows %s, treasury %s\n%s\n", height, s.balance(types.DispatcherAddress), s.balance(types.TreasuryAddress),
			strings.Join(lines, "\n"))
	}
}

func (s *transcript) told(e types.Event) string {
	var job JobEvent
	if codec.Unmarshal(e.Data, 1<<16, &job) != nil {
		return ""
	}
	out := fmt.Sprintf(" %d", slices.Index(s.jobs, job.ID))
	if job.Runner != nil {
		out += " by " + s.name(*job.Runner)
	}
	if job.Validator != nil {
		out += ", sent by " + s.name(*job.Validator)
	}
	if job.Price != nil {
		out += fmt.Sprintf(", price %s", job.Price)
	}
	if job.Error != nil {
		out += ": " + *job.Error
	}
	return out
}
