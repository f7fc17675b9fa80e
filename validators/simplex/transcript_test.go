package simplex

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Transcripts of testdata: what validators send and report, in virtual time.
//
//	network n=4 [block-time=1s] [epoch=64] [auto]
//	watch v0 v2           whose lines are shown
//	run for=3s            goes on
//	stop v1 · start v1    the process; the log stays
//	crash v1              stops it after its next persist, before the send
//	partition v0,v1 v2    links between groups are cut
//	heal                  they are there again
//	silent v1             sends nothing, still hears
//	equivocate v1         proposes two blocks, and votes for either
//	lose kind             drops every vote of that kind; lose nothing ends it
//	work v0               its application has something to put into a block
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, s.command)
	})
}

type script struct {
	w      *world
	out    strings.Builder
	shown  map[string]bool
	silent map[int]bool
	twice  map[int]bool
	lost   string
}

func (s *script) command(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "network":
		s.network(t, d)
	case "watch":
		s.shown = map[string]bool{}
		for _, a := range d.CmdArgs {
			s.shown[a.Key] = true
		}
	case "run":
		var length time.Duration
		var text string
		d.ScanArgs(t, "for", &text)
		length, err := time.ParseDuration(text)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.w.run(length, nil)
		if s.w.violation != "" {
			d.Fatalf(t, "violation: %s", s.w.violation)
		}
	case "partition":
		for group, a := range d.CmdArgs {
			for _, id := range strings.Split(a.Key+","+strings.Join(a.Vals, ","), ",") {
				if id != "" {
					s.w.groups[s.node(t, d, id).id] = group
				}
			}
		}
	case "heal":
		clear(s.w.groups)
	case "lose":
		s.lost = d.CmdArgs[0].Key
	default:
		for _, a := range d.CmdArgs {
			s.on(t, d, s.node(t, d, a.Key))
		}
	}
	out := s.out.String()
	s.out.Reset()
	return out
}

func (s *script) on(t *testing.T, d *datadriven.TestData, n *member) {
	switch d.Cmd {
	case "stop":
		s.w.stop(n)
	case "start":
		s.w.start(n)
	case "crash":
		n.crash = true
	case "silent":
		s.silent[n.id] = true
	case "equivocate":
		s.twice[n.id] = true
	case "work":
		n.pending = true
		s.w.post(delivery{to: n.id, event: Work{Pending: true}, life: n.machine}, 0)
	case "rest":
		n.pending = false
		s.w.post(delivery{to: n.id, event: Work{}, life: n.machine}, 0)
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
}

func (s *script) node(t *testing.T, d *datadriven.TestData, name string) *member {
	var id int
	if _, err := fmt.Sscanf(name, "v%d", &id); err != nil || id >= len(s.w.nodes) {
		d.Fatalf(t, "%q is no validator", name)
	}
	return s.w.nodes[id]
}

func (s *script) network(t *testing.T, d *datadriven.TestData) {
	n, epoch, blockTime := 4, uint64(64), "1s"
	d.MaybeScanArgs(t, "n", &n)
	d.MaybeScanArgs(t, "epoch", &epoch)
	d.MaybeScanArgs(t, "block-time", &blockTime)
	s.silent, s.twice = map[int]bool{}, map[int]bool{}
	s.w = newWorld(1, n, func(w *world) {
		w.epochBlocks, w.cfg.Timing.Auto = epoch, d.HasArg("auto")
		w.cfg.Timing.BlockTime, _ = time.ParseDuration(blockTime)
		w.trace = func(format string, args ...any) {
			if who := fmt.Sprint(args[0]); s.shown[who] {
				fmt.Fprintf(&s.out, "%-7v %s\n", time.Duration(w.now), strings.TrimSpace(fmt.Sprintf(format, args...)))
			}
		}
		w.tamper = s.tamper
	})
}

// tamper applies the faults of the script to what a validator sends.
func (s *script) tamper(from int, send Send) []Send {
	if s.silent[from] {
		return nil
	}
	if v, ok := send.Message.(*types.Vote); ok && v.Kind.String() == s.lost {
		return nil
	}
	if p, ok := send.Message.(*types.Proposal); ok && s.twice[from] && send.To == nil {
		return equivocate(s.w, from, p)
	}
	if !s.twice[from] {
		s.w.witness(s.w.nodes[from], send.Message)
	}
	return []Send{send}
}

// equivocate sends one proposal to validators of even numbers and another to
// the rest.
func equivocate(w *world, from int, p *types.Proposal) []Send {
	other := *p.Block
	other.Header.Timestamp++
	q := &types.Proposal{View: p.View, Block: &other}
	q.Signature = w.nodes[from].key.Sign(q.Digest())
	var sends []Send
	for to := range w.nodes {
		address := w.nodes[to].key.address
		if to%2 == 0 {
			sends = append(sends, Send{To: &address, Message: p})
		} else {
			sends = append(sends, Send{To: &address, Message: q})
		}
	}
	return sends
}
