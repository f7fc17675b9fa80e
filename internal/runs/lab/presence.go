package lab

import (
	"errors"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/cowboyinc/devnet/internal/worlds/bare/attest"
)

// describeWorld notes what the world of a row came to: that of the ledger, or that of the votes.
func (n *net) describeWorld(row *Row) error {
	if n.room == nil && n.votes == nil {
		return errors.New("play called neither net.run(blocks = …) nor net.presence(…)")
	}
	if n.room == nil {
		row.Digest = n.votes.Digest.String()
		return nil
	}
	row.Digest, row.Blocks, row.Fires = n.room.World.Root().String(), n.room.World.Blocks(), n.room.World.Fires()
	return n.room.World.Audit()
}

// playPresence plays subsets, votes and thresholds by the parameters of the point.
func (n *net) playPresence(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	c := attest.Config{Seed: n.seed, Params: n.params}
	fault, carried, latencies, sizes := string(attest.NoFault), "all", new(starlark.List), new(starlark.List)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "validators", &c.Validators, "runners", &c.Runners, "blocks", &c.Blocks,
		"lost_permille?", &c.LostPermille, "fault?", &fault, "carried?", &carried, "latencies?", &latencies, "sizes?", &sizes,
		"aware?", &c.IsAware); err != nil {
		return nil, err
	}
	if carried != "all" && carried != "quorum" {
		return nil, errors.New("net.presence: carried is all or quorum; got " + carried)
	}
	if n.votes != nil || n.room != nil || len(n.crowds) > 0 || n.traffic != nil {
		return nil, errors.New("net.presence is the whole world of a run: it stands alone, once, without crowds and traffic")
	}
	var err error
	if c.Latencies, err = wholeNumbers("latencies", latencies); err != nil {
		return nil, err
	}
	if c.Sizes, err = wholeNumbers("sizes", sizes); err != nil {
		return nil, err
	}
	c.Fault, c.QuorumOnly = attest.Fault(fault), carried == "quorum"
	counts, err := attest.Play(c)
	if err != nil {
		return nil, err
	}
	n.votes = &counts
	connected := float64(c.Runners / 2)
	return starlarkstruct.FromStringDict(starlark.String("presence"), starlark.StringDict{
		"present":    starlark.Float(float64(counts.Present) / float64(counts.Shown)),
		"invented":   starlark.Float(float64(counts.Invented) / float64(counts.Absent)),
		"links":      starlark.MakeInt(counts.SubsetSize),
		"vote_bytes": starlark.MakeInt(counts.VoteBytes),
		"foreign":    starlark.Float(float64(counts.Foreign) / connected),
		"first_ms":   starlark.Float(float64(counts.FirstPush) / connected),
		"busiest":    starlark.Float(float64(counts.BusiestLinks*c.Validators) / (connected * float64(counts.SubsetSize))),
		"worst_ms":   starlark.MakeUint64(counts.WorstPush),
	}), nil
}
