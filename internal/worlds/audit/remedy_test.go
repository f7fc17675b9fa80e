package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/home"
)

// Four validators of a home, of which some have problems.
func TestARemedyIsThatOfTheFilesThatAreDamaged(t *testing.T) {
	type damage map[int]kind
	for name, c := range map[string]struct {
		damage damage
		change func(*Report)
		alone  bool
		want   string
	}{
		"clean": {},
		"state": {damage: damage{2: ofState}, want: "rm v2/state.db, up"},
		"state, others drop": {damage: damage{2: ofState}, change: func(r *Report) { r.Nodes[0].From = 9 },
			want: "cp v0/state.db v2/state.db, up"},
		"votes":            {damage: damage{1: ofVotes}, want: "rm v1/votes.log, up"},
		"votes gone":       {damage: damage{1: ofLost}, want: "up"},
		"votes of two":     {damage: damage{1: ofVotes, 3: ofLost}, want: "reset"},
		"both files":       {damage: damage{1: ofVotes, 2: ofState}, want: "rm v1/votes.log, rm v2/state.db, up"},
		"every state":      {damage: damage{0: ofState, 1: ofState, 2: ofState, 3: ofState}, want: "reset"},
		"contradiction":    {damage: damage{0: ofOaths}, want: "reset"},
		"a fork":           {damage: damage{3: ofOthers}, want: "reset"},
		"state, then fork": {damage: damage{0: ofState, 3: ofOthers}, want: "rm v0/state.db, up"},
		"one, alone": {damage: damage{0: ofState}, change: func(r *Report) { r.Nodes = r.Nodes[:1] }, alone: true,
			want: "rm v0/state.db, up"},
		"one, no others": {damage: damage{0: ofState}, change: func(r *Report) { r.Nodes = r.Nodes[:1] }, want: "reset"},
		"its votes, alone": {damage: damage{0: ofVotes}, change: func(r *Report) { r.Nodes = r.Nodes[:1] }, alone: true,
			want: "rm v0/votes.log, up"},
	} {
		r := &Report{}
		for i, node := range []string{"v0", "v1", "v2", "v3"} {
			a := ran(node)
			if k, damaged := c.damage[i]; damaged {
				a.problemOf(k, "it is damaged")
			}
			r.Nodes = append(r.Nodes, a.report)
		}
		if c.change != nil {
			c.change(r)
		}
		r.Advise(Commands{Up: "up", Reset: "reset", Quote: func(path string) string { return path }}, c.alone)
		want := slices.DeleteFunc(strings.Split(c.want, ", "), func(s string) bool { return s == "" })
		if !slices.Equal(r.Remedy, want) {
			t.Errorf("%s: %q, want %q", name, r.Remedy, want)
		}
	}
}

func ran(name string) *node {
	return &node{report: NodeReport{Name: name, Height: 10, Problems: []string{},
		files: home.Node{Votes: name + "/votes.log", State: name + "/state.db"}}}
}
