package observe

import (
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/oracle"
)

// told is where a chain tells the n-th event of a name, from 0.
type told struct {
	o    *oracle.Observation
	list *[]types.Event
	at   int
}

func (e told) event() *types.Event { return &(*e.list)[e.at] }

func (e told) remove() { *e.list = slices.Delete(*e.list, e.at, e.at+1) }

// change edits an event about a job.
func (e told) change(edit func(*system.JobEvent)) {
	data := new(system.JobEvent)
	if err := codec.Unmarshal(e.event().Data, 1<<16, data); err != nil {
		panic(err)
	}
	edit(data)
	e.event().Data = codec.Marshal(data)
}

func find(t testing.TB, all []oracle.Observation, name string, n int) told {
	t.Helper()
	for i := range all {
		o := &all[i]
		lists := []*[]types.Event{&o.Events}
		for k := range o.Receipts {
			lists = append(lists, &o.Receipts[k].Events)
		}
		for _, list := range lists {
			for at := range *list {
				if (*list)[at].Name != name {
					continue
				}
				if n == 0 {
					return told{o, list, at}
				}
				n--
			}
		}
	}
	t.Fatalf("the chain does not tell %s so often", name)
	return told{}
}

// paid changes what a block left an account with.
func (e told) paid(to types.Address, wei uint64) {
	for i := range e.o.Accounts {
		if a := &e.o.Accounts[i]; a.Address == to {
			a.Balance = a.Balance.Add(types.WeiOf(wei))
		}
	}
}

func (e told) runner(who types.Address) *oracle.Runner {
	for i := range e.o.Runners {
		if r := &e.o.Runners[i]; r.Address == who || who.IsZero() {
			return r
		}
	}
	return &oracle.Runner{}
}

func winner(e told) (who types.Address) {
	e.change(func(data *system.JobEvent) { who = *data.Runner })
	return who
}

// Each row plants one thing that a chain could do wrong with runners and jobs.
func TestPlantedJobsAreFound(t *testing.T) {
	c := lives(t)
	for _, test := range []struct {
		name  string
		plant func([]oracle.Observation)
		text  string
	}{
		{"a job that never ends", func(all []oracle.Observation) { find(t, all, "job.completed", 1).remove() }, "want job.completed"},
		{"a job that ends twice", func(all []oracle.Observation) {
			e := find(t, all, "job.completed", 1)
			*e.list = append(*e.list, *e.event())
		}, "tells job.completed"},
		{"another outcome", func(all []oracle.Observation) {
			find(t, all, "job.completed", 0).event().Name = "job.failed"
		}, "want job.completed"},
		{"another winner", func(all []oracle.Observation) {
			find(t, all, "job.completed", 1).change(func(data *system.JobEvent) { data.Runner = &types.Address{1} })
		}, "want job.completed"},
		{"another price", func(all []oracle.Observation) {
			find(t, all, "job.completed", 1).change(func(data *system.JobEvent) { *data.Price = data.Price.Add(types.WeiOf(1)) })
		}, "want job.completed"},
		{"a wei less for a runner", func(all []oracle.Observation) {
			e := find(t, all, "job.completed", 1)
			balance := &e.o.Accounts[slices.IndexFunc(e.o.Accounts, func(a oracle.Account) bool { return a.Address == winner(e) })].Balance
			*balance = balance.Sub(types.WeiOf(1))
		}, "holds 1 wei less than stakes, escrows and payments leave it with"},
		{"a wei that stays in escrow", func(all []oracle.Observation) {
			find(t, all, "job.failed", 0).paid(types.DispatcherAddress, 1)
		}, "holds -1 wei less than stakes, escrows"},
		{"a stake that is not returned", func(all []oracle.Observation) {
			find(t, all, "runner.stake_returned", 0).remove()
		}, "want runner.stake_returned"},
		{"a stake that returns where the runner leaves", func(all []oracle.Observation) {
			left, back := find(t, all, "runner.deregistered", 0), find(t, all, "runner.stake_returned", 0)
			*left.list = append(*left.list, *back.event())
			back.remove()
		}, "tells runner.stake_returned"},
		{"a place that another holds", func(all []oracle.Observation) {
			e := find(t, all, "runner.registered", 1)
			var data system.RunnerEvent
			if err := codec.Unmarshal(e.event().Data, 1000, &data); err != nil || data.Index != 0 {
				t.Fatal(data, err)
			}
			data.Index = 1
			e.event().Data = codec.Marshal(&data)
		}, "has the place 1; the lowest free one is 0"},
		{"others drawn", func(all []oracle.Observation) {
			find(t, all, "job.drawn", 1).change(func(data *system.JobEvent) { slices.Reverse(data.Committee) })
		}, "want job.drawn"},
		{"nobody drawn", func(all []oracle.Observation) { find(t, all, "job.drawn", 2).remove() }, "want job.drawn"},
		{"drawn from absent ones", func(all []oracle.Observation) { // who was there is taken out of the votes
			e := find(t, all, "job.drawn", 1)
			block := *e.o.Block
			parent := *block.Parent
			parent.Votes = slices.Clone(parent.Votes)
			for i := range parent.Votes {
				parent.Votes[i].Bitmap = []byte{0, 0, 0, 6, 0}
			}
			block.Parent, e.o.Block = &parent, &block
		}, "want nothing"},
		{"a draw that forgets who was silent", func(all []oracle.Observation) {
			var was system.JobEvent
			for n := 0; was.Error == nil || *was.Error != "timeout"; n++ {
				find(t, all, "job.retried", n).change(func(data *system.JobEvent) { was = *data })
			}
			for n := range 12 {
				e := find(t, all, "job.drawn", n)
				e.change(func(data *system.JobEvent) {
					if data.ID == was.ID && data.Attempt == 2 {
						data.Committee = was.Committee
					}
				})
			}
		}, "want job.drawn"},
		{"a retry too late", func(all []oracle.Observation) {
			e := find(t, all, "job.retried", 0)
			*e.list = slices.Delete(*e.list, e.at, e.at+1)
		}, "want job.retried"},
		{"a failure for another reason", func(all []oracle.Observation) {
			find(t, all, "job.failed", 0).change(func(data *system.JobEvent) { *data.Error = "timeout" })
		}, "disagreement"},
		{"a callback that is missing", func(all []oracle.Observation) { find(t, all, "job.completed", 0).o.Sent = nil },
			"ended and does not call back"},
		{"a callback twice", func(all []oracle.Observation) {
			o := find(t, all, "job.completed", 0).o
			o.Sent = append(o.Sent, o.Sent[0])
		}, "no reason to, or twice"},
		{"a callback with another result", func(all []oracle.Observation) {
			find(t, all, "job.completed", 0).o.Sent[0].Payload = []byte{1}
		}, "another payload"},
		{"a silent runner unpunished", func(all []oracle.Observation) {
			o := find(t, all, "job.retried", 0).o
			for i := range o.Runners {
				o.Runners[i].Reputation = 75
			}
		}, "reputation 75"},
		{"a runner that forgets a job", func(all []oracle.Observation) { find(t, all, "job.drawn", 0).runner(types.Address{}).ActiveJobs = 0 },
			"0 jobs"},
		{"an unexplained change of an offer", func(all []oracle.Observation) {
			find(t, all, "job.drawn", 0).runner(types.Address{}).Offer.MaxJobs++
		}, "its owner did not change it"},
		{"a heartbeat without a transaction", func(all []oracle.Observation) {
			find(t, all, "job.drawn", 0).runner(types.Address{}).LastHeartbeat++
		}, "a heartbeat of"},
		{"a job of another number", func(all []oracle.Observation) {
			o := find(t, all, "job.submitted", 1).o
			o.Specs[0].Spec = slices.Clone(o.Specs[0].Spec)
			s := string(o.Specs[0].Spec)
			bob := c.keys["bob"].Address()
			alice := c.keys["alice"].Address()
			o.Specs[0].Spec = []byte(strings.Replace(s, string(alice[:]), string(bob[:]), 1))
		}, "is not the"},
		{"a spec that the state does not keep", func(all []oracle.Observation) { find(t, all, "job.submitted", 1).o.Specs = nil },
			"has no spec of it"},
		{"a commitment without a transaction", func(all []oracle.Observation) {
			e := find(t, all, "job.drawn", 0)
			*e.list = append(*e.list, types.Event{Actor: types.VerifierAddress, Name: "job.committed", Data: e.event().Data})
		}, "tells job.committed"},
		{"a cancellation without a transaction", func(all []oracle.Observation) {
			e := find(t, all, "job.drawn", 0)
			*e.list = append(*e.list, types.Event{Actor: types.DispatcherAddress, Name: "job.cancelled", Data: e.event().Data})
		}, "tells job.cancelled"},
	} {
		t.Run(test.name, func(t *testing.T) { found(t, c.judged(test.plant), "jobs", test.text) })
	}
}

func found(t *testing.T, j *oracle.Judge, name, text string) {
	t.Helper()
	for _, v := range j.Violations() {
		if v.Oracle == name && strings.Contains(v.Detail, text) {
			return
		}
	}
	t.Errorf("not found: %v", j.Violations())
}

// Each row plants one thing that is wrong about who is present.
func TestPlantedPresenceIsFound(t *testing.T) {
	c := lives(t)
	for _, test := range []struct {
		name  string
		plant func([]oracle.Observation)
		text  string
	}{
		{"one more in the votes than in P", func(all []oracle.Observation) {
			o := all[len(all)-1]
			block, parent := *o.Block, *o.Block.Parent
			parent.Votes = slices.Clone(parent.Votes)
			for i := range parent.Votes {
				parent.Votes[i].Bitmap = append(slices.Clone(parent.Votes[i].Bitmap[:4]), 0x7f)
			}
			block.Parent, all[len(all)-1].Block = &parent, &block
		}, "by the votes it is"},
		{"a registry of another length", func(all []oracle.Observation) { find(t, all, "runner.registered", 0).remove() }, "by the votes it is"},
		{"subsets that do not rotate", func(all []oracle.Observation) {
			for i := range all {
				all[i].Jobs.SubsetEpochBlocks = 9
			}
		}, "subset epoch"},
		{"votes that show one less", func(all []oracle.Observation) {
			for i := range all {
				all[i].Block = oneVote(all[i].Block)
			}
		}, "by the votes it is"},
	} {
		t.Run(test.name, func(t *testing.T) { found(t, c.judged(test.plant), "presence", test.text) })
	}
}

// oneVote leaves runner 0 in only one vote, which still makes it present.
func oneVote(b *types.Block) *types.Block {
	if b.Parent == nil || len(b.Parent.Votes) == 0 || len(b.Parent.Votes[0].Bitmap) < 5 {
		return b
	}
	block, parent := *b, *b.Parent
	parent.Votes = slices.Clone(parent.Votes)
	for i := range parent.Votes {
		parent.Votes[i].Bitmap = slices.Clone(parent.Votes[i].Bitmap)
		parent.Votes[i].Bitmap[4] &^= 1
	}
	block.Parent = &parent
	return &block
}

// A bit without a connection is found, as long as fewer lie than make a runner
// present; with more the rule claims nothing.
func TestAGhostIsFoundWhereTheRuleClaimsThereIsNone(t *testing.T) {
	c := lives(t)
	c.rules.Connects = true
	all := c.genesis.Validators.Members
	connect := func(j *oracle.Judge, runners ...string) {
		for _, v := range all {
			for _, r := range runners {
				j.Connected(v.Address, c.keys[r].Address())
			}
		}
	}
	seen := func(tell func(*oracle.Judge), from, to int) *oracle.Judge {
		j := oracle.New(c.rules)
		for i, o := range c.told[from:to] {
			if i == 0 && tell != nil {
				tell(j)
			}
			j.Observe(o)
		}
		return j
	}
	whole := func(j *oracle.Judge) { connect(j, "r0", "r1", "r2", "r3", "r4", "r5", "late", "next") }
	if j := seen(whole, 0, len(c.told)); j.Err() != nil {
		t.Error(j.Err())
	}
	found(t, seen(func(j *oracle.Judge) { connect(j, "r0", "r1", "r2", "r3", "r4", "late", "next") }, 0, 9), "presence",
		"a connection with none")
	if j := seen(func(j *oracle.Judge) {
		connect(j, "r0", "r1", "r2", "r3", "r4", "late", "next")
		j.Excuse(all[0].Address) // of three votes one makes a runner present, under quorum
	}, 0, 9); j.Err() != nil {
		t.Error(j.Err())
	}
	ended := seen(func(j *oracle.Judge) {
		whole(j)
		for _, v := range all {
			j.Disconnected(v.Address, c.keys["r5"].Address())
		}
	}, 0, len(c.told))
	found(t, ended, "presence", "a connection with none")
	for _, v := range ended.Violations() {
		if v.Height <= 16 {
			t.Errorf("accused too soon: %v", v)
		}
	}
}
