package readmodel

import (
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
)

// AddStatus adds to a node what its running validator says of itself, and the runners that are connected to it.
func AddStatus(n *answers.Node, s *validators.Status, connections []gateway.Live) {
	n.View, n.Connections, n.Pooled = s.Round.View, len(s.Connected), s.Pool
	n.DeadLetters, n.Restarted = s.Roles.DeadLetters, s.Roles.Restarted+s.Roles.Contracts
	for _, c := range connections {
		n.Runners = append(n.Runners, answers.Connected{Runner: c.Runner, Accepting: c.Accepting, Changes: showChanges(c.Changes)})
	}
}

// showChanges returns a runner's announcements on a connection about its offer, for
// display; nil without any.
func showChanges(c *gateway.Changes) *model.RunnerChanges {
	if c == nil {
		return nil
	}
	return &model.RunnerChanges{AddedCapabilities: c.AddedCapabilities, RemovedCapabilities: c.RemovedCapabilities,
		AddedEntitlements: c.AddedEntitlements, RemovedEntitlements: c.RemovedEntitlements}
}

func (v *reader) Runner(a types.Address) (*model.Runner, error) {
	r := v.state.Runner(a)
	if r == nil {
		return nil, nil
	}
	latest, err := v.Archive.LatestPresence(v.state.Height())
	if err != nil {
		return nil, err
	}
	m := v.runnerOf(r, latest.Bitmap)
	m.Heard = v.source.Sightings.ofRunner(a)
	for i := range m.Heard {
		if m.Heard[i].Height, err = v.sentAt(m.Heard[i].Height); err != nil {
			return nil, err
		}
	}
	m.Heard = slices.DeleteFunc(m.Heard, func(e model.RunnerEvent) bool { return v.isLater(e.Height) })
	return &m, nil
}

// isLater says that something came after the state that is read, which is not the latest.
func (v *reader) isLater(h types.Height) bool { return v.isPast && h > v.state.Height() }

func (v *reader) Runners(f answers.RunnerFilter) (out []model.Runner, err error) {
	latest, err := v.Archive.LatestPresence(v.state.Height())
	if err != nil {
		return nil, err
	}
	v.state.Runners(func(r *system.Runner) bool {
		switch {
		case f.Health != "" && v.healthOf(r) != f.Health, f.Available && !v.isAvailable(r, latest.Bitmap):
		case f.Offset > 0:
			f.Offset--
		default:
			out = append(out, v.runnerOf(r, latest.Bitmap))
		}
		return len(out) < f.Limit
	})
	return out, nil
}

// RunnerAddresses implements answers.Reader.
func (v *reader) RunnerAddresses(first, last types.Address) (out []types.Address) {
	v.state.RunnersBetween(first, last, func(a types.Address) { out = append(out, a) })
	return out
}

// isAvailable reports whether a draw in the next block would look at a runner at all:
// the filters that are the same for every job (CIP-11 §9.1).
func (v *reader) isAvailable(r *system.Runner, latest *selection.Bitmap) bool {
	p := v.state.NextParams()
	phase := selection.Phase(p.Push)
	hot := phase == selection.Hot || phase == selection.Sunset
	return v.healthOf(r) == model.RunnerHealthy && (!hot || isPresent(r, latest)) && v.reputationOf(r) >= p.MinReputation
}

// reputationOf is a runner's for the draws of the next block (decision J21).
func (v *reader) reputationOf(r *system.Runner) uint64 {
	limits := selection.LimitsOf(v.state.NextParams())
	return limits.Reputed(r.Reputation, r.ReputedAt, v.state.Height()+1)
}

// countRefusals are those that lower a runner's weight in the next block.
func (v *reader) countRefusals(r *system.Runner) uint64 {
	if uint64(v.state.Height()+1-r.RefusedAt) >= v.state.NextParams().RefusalWindow {
		return 0
	}
	return r.Refusals
}

// isPresent reports whether the latest P shows a runner that holds its place.
func isPresent(r *system.Runner, latest *selection.Bitmap) bool {
	return !r.Stake.IsZero() && latest.Has(int(r.Index))
}

func (v *reader) runnerOf(r *system.Runner, latest *selection.Bitmap) model.Runner {
	health := v.healthOf(r)
	m := model.Runner{Index: r.Index, Address: r.Address, PublicKey: r.PublicKey, Owner: r.Owner, Stake: r.Stake,
		Reputation: v.reputationOf(r),
		Refusals:   v.countRefusals(r), Health: health, Connected: []types.Address{}, Present: isPresent(r, latest),
		Subset: []types.Address{}, ActiveJobs: r.ActiveJobs,
		MaxConcurrentJobs: r.Offer.MaxConcurrentJobs, Accepting: health == model.RunnerHealthy,
		Capabilities: append([]string{}, r.Offer.Capabilities...), Entitlements: append([]string{}, r.Offer.Entitlements...),
		RateCard: r.Offer.RateCard, RegisteredAt: r.RegisteredAt, LastHeartbeat: r.LastHeartbeat, Heard: []model.RunnerEvent{},
		StakeReturns: r.ReturnsAt}
	if health != model.RunnerDeregistered {
		current := &v.state.Rotation().Current
		for _, i := range current.Subset(r.PublicKey) {
			m.Subset = append(m.Subset, current.Members[i].Address)
		}
	}
	return m
}

var healths = map[selection.Health]string{selection.Healthy: model.RunnerHealthy, selection.Paused: model.RunnerPaused,
	selection.Deregistered: model.RunnerDeregistered}

func (v *reader) healthOf(r *system.Runner) string {
	p := v.state.Params()
	if r.Health == selection.Healthy && selection.Stale(selection.Phase(p.Push), r.LastHeartbeat, v.state.Height(), p.StaleHeartbeatBlocks) {
		return model.RunnerUnhealthy
	}
	return healths[r.Health]
}

func (v *reader) Subsets() model.Subsets {
	r := v.state.Rotation()
	m := model.Subsets{SubsetEpoch: r.Epoch, Height: r.Height, OverlapBlocks: v.state.Params().OverlapBlocks, Current: basisOf(&r.Current)}
	if r.Former != nil {
		m.Former = new(basisOf(r.Former))
	}
	return m
}

func basisOf(a *selection.Assignment) model.SubsetBasis {
	m := model.SubsetBasis{MinSubset: a.Constants.MinSubset, MaxSubset: a.Constants.MaxSubset, PresenceRule: string(a.Constants.Rule),
		SubsetSize: a.SubsetSize(), Validators: []model.SubsetMember{}}
	for i := range a.Members {
		v := &a.Members[i]
		m.Validators = append(m.Validators, model.SubsetMember{Address: v.Address, PublicKey: v.PublicKey, QUICAddress: v.Endpoint})
	}
	return m
}

// Attested implements answers.Reader.
func (v *reader) Attested(h types.Height) (*history.Presence, error) {
	if h >= v.state.Height() {
		return nil, nil
	}
	return v.Archive.Presence(h)
}

// Presence implements answers.Reader. Where P is not known it says why.
func (v *reader) Presence(h types.Height) (*model.Presence, error) {
	if h >= v.state.Height() {
		return nil, nil
	}
	p, err := v.Archive.Presence(h)
	if err == nil && p == nil {
		err = v.requireKeptBlock(h + 1)
	}
	if err != nil || p == nil {
		return nil, err
	}
	m := &model.Presence{Height: h, Rule: string(p.Rule), Threshold: p.Threshold, Votes: answers.ShowVotes(p.Votes),
		Runners: []model.RunnerPresence{}}
	for i := range p.Bitmap.Len() {
		if at := v.state.RunnerAt(i, h); !at.IsZero() {
			m.Runners = append(m.Runners, model.RunnerPresence{Index: i, Address: at, Present: p.Bitmap.Has(i), Validators: []types.Address{}})
		}
	}
	for _, vote := range p.Votes {
		bitmap, err := selection.ParseBitmap(vote.Bitmap)
		if err != nil {
			return nil, err
		}
		for i := range m.Runners {
			if r := &m.Runners[i]; bitmap.Has(r.Index) {
				r.Count++
				r.Validators = append(r.Validators, vote.Validator)
			}
		}
	}
	return m, nil
}

// presenceEvents lists the bits of P that a block changed.
func (v *reader) presenceEvents(h types.Height) (events []model.PresenceEvent, err error) {
	p, bits, err := v.Archive.Changed(h)
	if err != nil || len(bits) == 0 {
		return nil, err
	}
	counts := make([]int, p.Bitmap.Len())
	for _, vote := range p.Votes {
		bitmap, err := selection.ParseBitmap(vote.Bitmap)
		if err != nil {
			return nil, err
		}
		for _, i := range bits {
			if bitmap.Has(i) {
				counts[i]++
			}
		}
	}
	for _, i := range bits {
		events = append(events, model.PresenceEvent{Height: p.Height, Index: i, Runner: v.state.RunnerAt(i, p.Height), Present: p.Bitmap.Has(i),
			Count: counts[i]})
	}
	return events, nil
}
