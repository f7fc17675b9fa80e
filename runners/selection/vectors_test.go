package selection

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func ints(numbers []vectors.Number) (all []int) {
	for _, n := range numbers {
		all = append(all, int(n))
	}
	return all
}

// constants are the constants of a case.
type constants struct {
	MinSubset vectors.Number `json:"min_subset"`
	MaxSubset vectors.Number `json:"max_subset"`
	Rule      Rule
}

func (c constants) real() Constants {
	return Constants{MinSubset: uint64(c.MinSubset), MaxSubset: uint64(c.MaxSubset), Rule: c.Rule}
}

func TestVectorsOfSubsets(t *testing.T) {
	for i, c := range vectors.Cases[struct {
		constants
		Runner     types.PublicKey
		Validators []types.PublicKey
		K          vectors.Number
		Subset     []types.PublicKey
	}](t, "cip11/5.1-subset.json") {
		a := Assignment{Constants: c.real()}
		for _, key := range c.Validators {
			a.Members = append(a.Members, types.Validator{PublicKey: key})
		}
		var got []types.PublicKey
		for _, m := range a.Subset(c.Runner) {
			got = append(got, c.Validators[m])
		}
		if a.SubsetSize() != int(c.K) || !slices.Equal(got, c.Subset) {
			t.Errorf("case %d: k is %d and the subset %v", i, a.SubsetSize(), got)
		}
	}
}

func TestVectorsOfRotations(t *testing.T) {
	type set struct {
		constants
		Members []vectors.Number
	}
	for i, c := range vectors.Cases[struct {
		EpochBlocks   vectors.Number `json:"subset_epoch_blocks"`
		ChurnPermille vectors.Number `json:"churn_permille"`
		OverlapBlocks vectors.Number `json:"overlap_blocks"`
		Runner        types.PublicKey
		Validators    []types.PublicKey
		Start         set
		Blocks        []struct {
			set
			Height      vectors.Number
			BeginsEpoch bool `json:"begins_epoch"`
			Cause       Cause
			SubsetEpoch vectors.Number `json:"subset_epoch"`
			Attest      []vectors.Number
		}
	}](t, "cip11/5.3-rotation.json") {
		all := make([]types.Validator, len(c.Validators))
		for j, public := range c.Validators {
			digest := types.Keccak(public[:])
			all[j] = types.Validator{Address: types.Address(digest[12:]), PublicKey: public}
		}
		of := func(s set) (members []types.Validator) {
			for _, j := range s.Members {
				members = append(members, all[j])
			}
			return members
		}
		pace := Pace{EpochBlocks: uint64(c.EpochBlocks), ChurnPermille: uint64(c.ChurnPermille), OverlapBlocks: uint64(c.OverlapBlocks)}
		r := Rotation{Current: Assignment{Members: of(c.Start), Constants: c.Start.real()}}
		for _, b := range c.Blocks {
			m := Moment{Height: types.Height(b.Height), BeginsEpoch: b.BeginsEpoch, Members: of(b.set), Constants: b.real()}
			cause := r.Due(m, pace)
			if cause != NotDue {
				r = r.Advanced(m)
			}
			var attest []int
			for j := range all {
				if r.Attests(c.Runner, all[j].Address, m.Height, pace) {
					attest = append(attest, j)
				}
			}
			if cause != b.Cause || r.Epoch != uint64(b.SubsetEpoch) || !slices.Equal(attest, ints(b.Attest)) {
				t.Fatalf("case %d, height %d: %q, epoch %d, attest %v", i, b.Height, cause, r.Epoch, attest)
			}
		}
	}
}

func TestVectorsOfThresholds(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Validators, K, Carried vectors.Number
		Rule                   Rule
		Thresholds             []vectors.Number
	}](t, "cip11/8.2-thresholds.json") {
		k := Constants{MinSubset: 3, MaxSubset: 8, Rule: c.Rule}.SubsetSize(int(c.Validators))
		var got []int
		for votes := int(c.Carried); votes <= int(c.Validators); votes++ {
			got = append(got, c.Rule.Threshold(Electorate{Votes: votes, Validators: int(c.Validators), SubsetSize: k}))
		}
		if k != int(c.K) || !slices.Equal(got, ints(c.Thresholds)) {
			t.Errorf("%s of %d: k %d, thresholds %v", c.Rule, c.Validators, k, got)
		}
	}
}

func TestVectorsOfBitmaps(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Bytes  *types.Bytes
		Length *vectors.Number
		Set    []vectors.Number
		Hash   *types.Hash
	}](t, "cip11/12.3-bitmap.json") {
		var data []byte
		if c.Bytes != nil {
			data = append([]byte{}, *c.Bytes...)
		}
		b, err := ParseBitmap(data)
		if c.Length == nil {
			if err == nil {
				t.Errorf("%x was read", data)
			}
			continue
		}
		if err != nil || b.Len() != int(*c.Length) || b.Hash() != *c.Hash || b.Count() != len(c.Set) {
			t.Errorf("%x: %v", data, err)
			continue
		}
		for _, i := range ints(c.Set) {
			if !b.Has(i) {
				t.Errorf("%x lacks bit %d", data, i)
			}
		}
	}
}

func TestVectorsOfPresence(t *testing.T) {
	for i, c := range vectors.Cases[struct {
		Registry, Threshold vectors.Number
		Votes               []types.Bytes
		P                   types.Bytes
		Hash                types.Hash
	}](t, "cip11/8.1-presence.json") {
		var votes []*Bitmap
		for _, data := range c.Votes {
			b, err := ParseBitmap(data)
			if err != nil {
				t.Fatal(err)
			}
			votes = append(votes, b)
		}
		if p := Presence(votes, int(c.Registry), int(c.Threshold)); !bytes.Equal(p.Bytes(), c.P) || p.Hash() != c.Hash {
			t.Errorf("case %d: %x, want %s", i, p.Bytes(), c.P)
		}
	}
}

func TestVectorsOfFilters(t *testing.T) {
	seen := map[string]bool{}
	for i, c := range vectors.Cases[struct {
		Height               vectors.Number
		Phase                Phase
		Presence             types.Bytes
		Excluded             []types.Address
		Kind                 vectors.Number
		Subject              string
		TEERequired          bool `json:"tee_required"`
		Pool                 string
		MaxPrice             types.Wei      `json:"max_price"`
		MinReputation        vectors.Number `json:"min_reputation"`
		StaleHeartbeatBlocks vectors.Number `json:"stale_heartbeat_blocks"`
		StakeCoverPermille   vectors.Number `json:"stake_cover_permille"`
		Runner               struct {
			Address                  types.Address
			Index                    vectors.Number
			Health                   string
			LastHeartbeat            vectors.Number `json:"last_heartbeat"`
			Reputation               vectors.Number
			Stake                    types.Wei
			ComputeSecond            types.Wei      `json:"compute_second"`
			ActiveJobs               vectors.Number `json:"active_jobs"`
			MaxJobs                  vectors.Number `json:"max_concurrent_jobs"`
			Kinds                    []vectors.Number
			Models, Domains, Servers []string
			TEE                      bool
			Entitlements             []string
		}
		Reason string
	}](t, "cip11/9.1-filters.json") {
		presence, err := ParseBitmap(c.Presence)
		if err != nil {
			t.Fatal(err)
		}
		f := &Filter{Height: types.Height(c.Height), Phase: c.Phase, Presence: presence, Excluded: c.Excluded,
			Demand: Demand{Kind: push.JobKind(c.Kind), Subject: c.Subject, TEE: c.TEERequired, Pool: c.Pool, MaxPrice: c.MaxPrice},
			Limits: Limits{MinStake: types.WeiOf(1), MinReputation: uint64(c.MinReputation), StaleHeartbeatBlocks: uint64(c.StaleHeartbeatBlocks),
				StakeCoverPermille: uint64(c.StakeCoverPermille)}}
		r := Runner{Address: c.Runner.Address, Index: int(c.Runner.Index), LastHeartbeat: types.Height(c.Runner.LastHeartbeat),
			Health:     map[string]Health{"healthy": Healthy, "paused": Paused, "deregistered": Deregistered}[c.Runner.Health],
			Reputation: uint64(c.Runner.Reputation), Stake: c.Runner.Stake, ComputeSecond: c.Runner.ComputeSecond,
			ActiveJobs: uint64(c.Runner.ActiveJobs),
			MaxJobs:    uint64(c.Runner.MaxJobs), Models: c.Runner.Models, Domains: c.Runner.Domains, Servers: c.Runner.Servers, TEE: c.Runner.TEE,
			Entitlements: c.Runner.Entitlements}
		for _, kind := range c.Runner.Kinds {
			r.Kinds = append(r.Kinds, push.JobKind(kind))
		}
		if got := f.Judge(&r).String(); got != c.Reason {
			t.Errorf("case %d: %s, want %s", i, got, c.Reason)
		}
		seen[c.Reason] = true
	}
	if len(seen) != int(reasonsNumber) {
		t.Errorf("the vectors have %d of %d reasons", len(seen), reasonsNumber)
	}
}

func TestVectorsOfWeights(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Stake    types.Wei
		MinStake types.Wei `json:"min_stake"`
		Weight   vectors.Number
	}](t, "cip11/9.3-weight.json") {
		if got := Weight(c.Stake, c.MinStake); got != uint64(c.Weight) {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestVectorsOfDraws(t *testing.T) {
	for i, c := range vectors.Cases[struct {
		Parent      types.Hash
		JobID       types.Hash     `json:"job_id"`
		SubmittedAt vectors.Number `json:"submitted_at"`
		MinStake    types.Wei      `json:"min_stake"`
		Runners     []struct {
			Address types.Address
			Stake   types.Wei
		}
		Members, Height vectors.Number
		MRU             *struct {
			Runner types.Address
			SetAt  vectors.Number `json:"set_at"`
		}
		TTL        vectors.Number `json:"mru_ttl_blocks"`
		Multiplier vectors.Number `json:"mru_weight_multiplier"`
		Seed       types.Hash
		Committee  []types.Address
		Retries    []struct {
			N         vectors.Number
			Excluded  []types.Address
			Seed      types.Hash
			Committee []types.Address
		}
	}](t, "cip11/9.2-draw.json") {
		f := Filter{Limits: Limits{MinStake: c.MinStake}, Phase: Off}
		var runners []Runner
		for _, r := range c.Runners {
			runners = append(runners, Runner{Address: r.Address, Stake: r.Stake, MaxJobs: 1, Kinds: []push.JobKind{0}})
		}
		var mru *MRU
		if c.MRU != nil {
			mru = &MRU{Runner: c.MRU.Runner, SetAt: types.Height(c.MRU.SetAt)}
		}
		var favour Favour
		if mru.Favours(types.Height(c.Height), uint64(c.TTL)) {
			favour = Favour{Runner: mru.Runner, Multiplier: uint32(c.Multiplier)}
		}
		draw := func(seed types.Hash) []types.Address {
			committee, _ := Draw(seed, f.Pool(runners).Candidates, int(c.Members), favour)
			return committee
		}
		seed := Seed(c.Parent, c.JobID, types.Height(c.SubmittedAt))
		if got := draw(seed); seed != c.Seed || !slices.Equal(got, c.Committee) {
			t.Errorf("case %d: seed %s, committee %v", i, seed, got)
		}
		for _, retry := range c.Retries {
			for _, silent := range retry.Excluded {
				f.Excluded = Exclude(f.Excluded, silent)
			}
			again := RetrySeed(seed, uint32(retry.N))
			if got := draw(again); again != retry.Seed || !slices.Equal(f.Excluded, retry.Excluded) || !slices.Equal(got, retry.Committee) {
				t.Errorf("case %d, retry %d: seed %s, committee %v", i, retry.N, again, got)
			}
		}
	}
}
