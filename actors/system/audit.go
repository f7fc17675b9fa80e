package system

import (
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Audit reads all state of the system actors and returns the first inconsistency.
// Examples: stakes or escrows that their balances do not hold, a registry with a
// gap, a job missing from its index, a committee unknown to its runners.
func Audit(s actors.Reader, height types.Height) error {
	active, err := checkJobs(s, height)
	if err != nil {
		return err
	}
	var stakes types.Wei
	leaving := uint64(0)
	Runners(s, func(r *Runner) bool {
		waits := r.Health == selection.Deregistered && r.ActiveJobs == 0
		if waits {
			leaving++
		}
		switch at, _ := lastHolder(s, r.Index); {
		case at != r.Address:
			err = fmt.Errorf("runner %s has place %d, which %s holds", r.Address, r.Index, at)
		case r.ActiveJobs != active[r.Address]:
			err = fmt.Errorf("runner %s counts %d jobs, and is in %d committees", r.Address, r.ActiveJobs, active[r.Address])
		case r.Reputation > maxReputation || r.LastHeartbeat > height:
			err = fmt.Errorf("runner %s has a reputation of %d and a heartbeat of height %d", r.Address, r.Reputation, r.LastHeartbeat)
		case waits && r.ReturnsAt+lateReturns < height:
			err = fmt.Errorf("runner %s left without a job, and its stake of %s wei was to return in block %d", r.Address, r.Stake, r.ReturnsAt)
		}
		stakes = stakes.Add(r.Stake)
		return err == nil
	})
	if held := actors.AccountOf(s, types.RegistryAddress).Balance; err == nil && held.Less(stakes) {
		return fmt.Errorf("the registry holds %s wei, and the stakes are %s", held, stakes)
	}
	if err == nil {
		err = checkPlaces(s, leaving)
	}
	return err
}

// lateReturns is how many blocks a return may be late: each block gives back maxReturns
// stakes, and a registry has 65,504 places.
const lateReturns = selection.MaxRunners / maxReturns

// checkPlaces holds the indexes of the registry against its places, and against the
// number of runners that leave and have no job.
func checkPlaces(s actors.Reader, leaving uint64) (err error) {
	size := Registered(s).Count
	for place := range size {
		at, known := lastHolder(s, place)
		if free := s.Get(keyFree(place)) != nil; !known || free == RunnerOf(s, at).holdsPlace() {
			return fmt.Errorf("place %d of the registry is free: %t, and %s registered there last", place, free, at)
		}
	}
	s.Scan([]byte(prefixFree), keyAfterPrefix(prefixFree), func(key, _ []byte) bool {
		if placeIn(key) >= size {
			err = fmt.Errorf("place %d is free, and the registry has %d places", placeIn(key), size)
		}
		return err == nil
	})
	s.Scan([]byte(prefixLeaving), keyAfterPrefix(prefixLeaving), func(key, runner []byte) bool {
		leaving--
		r := RunnerOf(s, types.Address(runner))
		if err == nil && (r == nil || !r.holdsPlace() || r.Health != selection.Deregistered || r.ActiveJobs > 0 || r.Index != placeIn(key)) {
			err = fmt.Errorf("the index of returns names %x at place %d, which is not so", runner, placeIn(key))
		}
		return err == nil
	})
	if err == nil && leaving != 0 {
		err = fmt.Errorf("the index of returns lacks %d runners that left without a job", leaving)
	}
	return err
}

// checkJobs counts for each runner the committees it is in.
func checkJobs(s actors.Reader, height types.Height) (active map[types.Address]uint64, err error) {
	active = map[types.Address]uint64{}
	var escrows types.Wei
	open, waiting := uint64(0), 0
	s.Scan([]byte(prefixDeadline), keyAfterPrefix(prefixDeadline), func(key, id []byte) bool {
		j := JobOf(s, types.Hash(id))
		if j == nil || string(key) != string(keyDeadline(j.Deadline(), j.Seq)) {
			err = fmt.Errorf("the index of deadlines names job %x, which is not so", id)
			return false
		}
		if err = j.checkJob(s, height); err != nil {
			return false
		}
		for i := range j.Committee {
			if j.Committee[i].Refused == 0 {
				active[j.Committee[i].Runner]++
			}
		}
		if j.Status == Pending {
			waiting++
		}
		open++
		escrows = escrows.Add(j.Terms.escrowAmount())
		return true
	})
	if err != nil {
		return nil, err
	}
	s.Scan([]byte(prefixWaiting), keyAfterPrefix(prefixWaiting), func(_, _ []byte) bool { waiting--; return true })
	stored := uint64(0)
	actors.ScanStorage(s, types.DispatcherAddress, func(e actors.Entry) bool {
		if len(e.Key) == len(keyJob(types.Hash{})) && string(e.Key[:4]) == "job/" {
			stored++
		}
		return true
	})
	switch held := actors.AccountOf(s, types.DispatcherAddress).Balance; {
	case waiting != 0 || open != JobsOf(s).Open || open != stored:
		return nil, fmt.Errorf("%d jobs are open by the counter, %d by the index and %d by their records; %d of those that wait are miscounted",
			JobsOf(s).Open, open, stored, waiting)
	case held.Less(escrows):
		return nil, fmt.Errorf("the dispatcher holds %s wei, and the escrows are %s", held, escrows)
	}
	return active, nil
}

// checkJob looks at one job.
func (j *Job) checkJob(s actors.Reader, height types.Height) error {
	pending := j.Status == Pending
	if listed := s.Get(keyVacant(j.Seq)) != nil; listed != j.Vacant {
		return fmt.Errorf("job %s: vacant place to draw again: %t, but listed: %t", j.ID, j.Vacant, listed)
	}
	if listed := s.Get(keyWaiting(j.Since, j.Seq)) != nil; listed != pending || pending != (len(j.Committee) == 0) {
		return fmt.Errorf("job %s is %s with a committee of %d; that it waits is said to be %t", j.ID, j.Status, len(j.Committee), listed)
	}
	switch {
	case j.Since > height || !pending && j.Terms.Runners != uint64(len(j.Committee)):
		return fmt.Errorf("job %s has a committee of %d since height %d; it wants %d", j.ID, len(j.Committee), j.Since, j.Terms.Runners)
	case RawSpecOf(s, j.ID) == nil:
		return fmt.Errorf("job %s has no spec", j.ID)
	}
	for i := range j.Committee {
		if m := &j.Committee[i]; (ResultOf(s, j.ID, m.Runner) != nil) != (m.RevealedAt > 0) {
			return fmt.Errorf("job %s: what %s revealed is not what is kept", j.ID, m.Runner)
		}
	}
	return nil
}
