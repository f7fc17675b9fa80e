package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/log"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// DamagedError says that a node's file cannot be used, and what to do.
type DamagedError struct {
	Node   string
	Cause  error // names the file and the place
	Remedy string
}

func (e *DamagedError) Error() string {
	cause := strings.TrimPrefix(e.Cause.Error(), e.Node+": ") // a node names itself
	return fmt.Sprintf("%s: %s: %s", e.Node, cause, e.Remedy)
}

// LostChainError says that the validators of a home together lost their chain.
type LostChainError struct{ What string }

func (e *LostChainError) Error() string { return e.What }

func (e *DamagedError) Unwrap() error { return e.Cause }

// withRemedy adds to an error of a node's files how to continue. State is what the
// other validators have as well; votes are not, so who lost them sits out for a
// while (finding F17), which not all can.
func (f *files) withRemedy(name string, err error) error {
	if f.origin.home == nil {
		return err
	}
	of := home.NodeFiles(f.origin.home.Dir(), name)
	switch {
	case errors.As(err, new(*store.DamagedError)), errors.As(err, new(*validators.StoreError)):
		if f.droppedBeside(name) {
			return &DamagedError{name, err, f.copyState(name)}
		}
		return &DamagedError{name, err, fmt.Sprintf("remove %s, and %s fetches its state from the others; or start over with --reset",
			of.State, name)}
	case errors.Is(err, log.ErrDamaged), errors.Is(err, log.ErrFormat):
		return &DamagedError{name, err, fmt.Sprintf("remove %s, and %s votes again once the others are past it; or start over with --reset",
			of.Votes, name)}
	}
	return err
}

// mustHaveChain refuses a home whose validators together lost their chain: no state is left, and
// their logs say that more blocks were final than they can execute again. Where a state is left,
// the others fetch it.
func (f *files) mustHaveChain() error {
	o := f.origin
	if !o.resumed || o.home == nil || o.config.Here != nil {
		return nil
	}
	var logged simplex.Logged
	emptied := 0
	for _, node := range f.nodes.List() {
		of := home.NodeFiles(o.home.Dir(), node.Name)
		if of.AreEmpty() { // to read a log writes its header
			emptied++
			continue
		}
		if info, err := os.Stat(of.State); err == nil && info.Size() > 0 {
			return nil
		}
		records, err := recordsOf(of.Votes)
		if err == nil {
			err = logged.Add(records)
		}
		if err != nil {
			return f.withRemedy(node.Name, err)
		}
	}
	if emptied == len(f.nodes.List()) {
		return &LostChainError{fmt.Sprintf("the chain is lost: the files in %s are empty for every validator; put the state.db of one back "+
			"from a copy, load a snapshot (devnet snapshot list), or start over with --reset", filepath.Join(o.home.Dir(), "nodes", "*"))}
	}
	_, first, err := o.genesis.State()
	if err != nil || !logged.Lost(simplex.Root{Block: first, Hash: first.Hash()}) {
		return err
	}
	return &LostChainError{fmt.Sprintf("the chain is lost: by the logs of votes height %d was final, and %s is missing or empty for every "+
		"validator; put one back from a copy, load a snapshot (devnet snapshot list), or start over with --reset",
		logged.Final, filepath.Join(o.home.Dir(), "nodes", "*", "state.db"))}
}

// recordsOf reads a log of votes; one that is missing has none.
func recordsOf(path string) (records [][]byte, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	votes, err := log.Open(path, store.Process)
	if err != nil {
		return nil, err
	}
	err = votes.Replay(func(record []byte) error {
		records = append(records, record)
		return nil
	})
	return records, errors.Join(err, votes.Close())
}

// leaveDown leaves a validator down that is beyond help; any other error stays one.
func (f *files) leaveDown(node *Node, err error) error {
	if !f.staysDown(err) {
		return err
	}
	node.Fail(err)
	f.broken = append(f.broken, err)
	return nil
}

// refuseBeyondHelp refuses a home in which more validators are beyond help than may be missing: all of
// them are named, each with its remedy.
func (f *files) refuseBeyondHelp() error {
	lost := 0
	for _, node := range f.nodes.List() {
		if node.Lost {
			lost++
		}
	}
	switch spare := f.origin.genesis.Validators.MaxFaulty(); {
	case len(f.broken) == 0:
		return nil
	case f.nodes.highestBlock() == 0 && f.origin.config.Elsewhere == nil:
		return fmt.Errorf("no validator's state can be read: %w; before these remedies, put one back from a copy, "+
			"load a snapshot (devnet snapshot list), or start over with --reset", errors.Join(f.broken...))
	case len(f.broken)+lost > spare:
		return errors.Join(f.broken...)
	}
	for _, err := range f.broken {
		if f.origin.config.Elsewhere != nil { // its process said it
			continue
		}
		f.origin.config.Log.Error("a validator stays down; the others go on without it", "error", err)
	}
	return nil
}

// Broken lists why validators did not start, each with its remedy. The others go on without them.
func (n *Network) Broken() []error { return n.files.broken }

// countLostLog returns 1 for a node whose log is missing, otherwise 0.
func (node *Node) countLostLog() int {
	if node.network.home == nil {
		return 0
	}
	if info, err := os.Stat(home.NodeFiles(node.network.home.Dir(), node.Name).Votes); err == nil && info.Size() > 0 {
		return 0
	}
	return 1
}

// markLostLogs marks a node of a network that has final blocks, and whose log is
// gone. At most f of them can abstain: with more, the network could not continue.
func (f *files) markLostLogs(node *Node) error {
	if f.origin.config.Here != nil {
		return f.noteLostHere(node)
	}
	if !f.origin.resumed || node.countLostLog() == 0 || f.nodes.highestBlock() == 0 {
		return nil
	}
	node.Lost = true
	return f.refuseLostLogs()
}

// noteCut marks a node whose log ends before its store's tip, which its start found:
// such a log is lost too (decision C5).
func (f *files) noteCut(node *Node) error {
	if f.origin.config.Here != nil || !f.origin.resumed || node.Lost || !node.Validator().Status().Lost {
		return nil
	}
	node.Lost = true
	return f.refuseLostLogs()
}

// refuseLostLogs refuses a home that has lost more logs than f: those that sit out would
// wait for each other.
func (f *files) refuseLostLogs() error {
	var lost []string
	for _, other := range f.nodes.List() {
		if other.Lost {
			lost = append(lost, other.Name)
		}
	}
	spare := f.origin.genesis.Validators.MaxFaulty()
	if len(lost) <= spare {
		return nil
	}
	return fmt.Errorf("the logs of votes of %s are lost or cut; of %d validators %d may lose theirs; "+
		"put %s back, or start over with --reset",
		strings.Join(lost, ", "), len(f.origin.genesis.Validators.Members), spare, filepath.Join(f.origin.home.Dir(), "nodes", "*", "votes.log"))
}

// noteLostHere marks a validator whose log is gone: one that has had a folder for it,
// or of which that was said. A validator with an empty home asks the others (decision C5).
func (f *files) noteLostHere(node *Node) error {
	votes := home.NodeFiles(f.origin.home.Dir(), node.Name).Votes
	_, err := os.Stat(filepath.Dir(votes))
	if node.countLostLog() > 0 {
		node.Lost = f.origin.config.Here.Lost || err == nil
	}
	return nil
}
