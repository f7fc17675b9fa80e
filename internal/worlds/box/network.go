package box

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/node"
)

// Network is a live network in this process, composed of what it is: which network, what its nodes share, the nodes of both kinds and their
// starts and stops, submissions and reads, and the operator's orders. It is safe for concurrent use: each part with state has a lock for
// it.
type Network struct {
	*origin
	*sharedParts
	*nodeList
	*runnerList
	*roster
	*readers
	*network.Network

	scheduler *scheduler
	keeper    *timekeeper
	finality  *finality
	presence  *presence
	files     *files
	links     *links
	reports   *reports
	others    *others
}

// Up brings a network up and returns when all its validators run; blocks come
// after that (Ready waits for them). ctx bounds only the start.
func Up(ctx context.Context, config Config) (*Network, error) {
	o, err := openOrigin(config)
	if err != nil {
		return nil, err
	}
	n := composeNetwork(o)
	if err := n.startAll(ctx); err != nil {
		if elsewhere := config.Elsewhere; elsewhere != nil {
			elsewhere.Abandon()
		}
		return nil, errors.Join(err, n.Close())
	}
	if o.owned != nil {
		o.owned.BeginProof()
	}
	return n, nil
}

// composeNetwork puts the parts of a network together, none of which does anything yet.
func composeNetwork(o *origin) *Network {
	s := prepareParts(o)
	n := &Network{origin: o, sharedParts: s, nodeList: &nodeList{}, runnerList: &runnerList{}, links: newLinks(),
		finality: newFinality(), presence: &presence{feed: node.NewStateFeed(s.book)}}
	views := readmodel.NewSource(o.genesis, s.programs, s.verifier)
	views.Sightings = &readmodel.Sightings{}
	n.scheduler = newScheduler(func(task string, err error) { s.log.Error("a task of the network fails", "task", task, "error", err) })
	n.roster = &roster{origin: o, nodes: n.nodeList, runners: n.runnerList, turn: network.NewTurn(n.scheduler)}
	operated := backend{n.scheduler, n}
	n.keeper = newTimekeeper(o, s.clock, s.log)
	begin := o.beginFromDecision()
	begin.Goal = n.keeper.travelRecord().Goal
	n.Network = network.New(operated, network.NewOrders(operated, n.roster.turn, fault.Live), begin)
	n.finality.final = n.Final
	n.files = &files{origin: o, nodes: n.nodeList}
	n.readers = &readers{nodes: n.nodeList, runners: n.runnerList, views: views}
	n.reports = &reports{config: &o.config, clock: s.clock, keeper: n.keeper, finality: n.finality, operator: n.Network, presence: n.presence,
		sightings: views.Sightings}
	n.others = newOthers(o, n)
	return n
}

// startAll starts the validators, those of genesis and those that joined, and then the
// runners.
func (n *Network) startAll(ctx context.Context) error {
	n.runtime.OnPanic = func(name string, value any, stack []byte) {
		n.log.Error("a bug of devnet: an actor panicked", "actor", name, "panic", value, "stack", string(stack))
	}
	for _, name := range n.validatorNames() {
		node, err := newNode(n, name)
		if err != nil {
			return err
		}
		n.addNode(node)
	}
	if err := n.resumeValidators(); err != nil {
		return err
	}
	first := n.awaitsRunners()
	n.Hold(first)
	if err := n.roster.doAlone(func() error { return n.startNodes(ctx) }); err != nil {
		return err
	}
	n.resumeTravel()
	if n.resumed || n.config.Elsewhere != nil {
		if err := n.sameParameters(n.bestState().NextParams()); err != nil {
			return err
		}
	}
	n.presence.feed.Show(n.bestState())
	if err := n.resumeRunners(); err != nil || !first {
		return err
	}
	n.awaitRunners(ctx)
	n.Hold(false)
	return nil
}

// startNodes starts all validators. Those whose files are beyond help, or that cannot follow the
// others, keep nobody else from starting, as long as they are few enough.
func (n *Network) startNodes(ctx context.Context) error {
	if err := n.files.mustHaveChain(); err != nil {
		return err
	}
	for _, node := range n.inOrder() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n.hasLeft(node.Name) {
			continue
		}
		if err := n.startNode(node); err != nil {
			return err
		}
	}
	for _, node := range n.List() { // those that began before others told what they keep
		if n.hasLeft(node.Name) || node.Failure() != nil {
			continue
		}
		if err := n.files.mustFollow(node); err != nil {
			if err := n.files.leaveDown(node, errors.Join(err, node.Stop())); err != nil {
				return err
			}
		}
	}
	if err := n.files.refuseBeyondHelp(); err != nil {
		return err
	}
	return n.awaitReplay(ctx)
}

// awaitReplay waits until readers see again what was final when the network ended, so that nothing that was
// acknowledged is missing after a crash.
func (n *Network) awaitReplay(ctx context.Context) error {
	for _, node := range n.List() {
		local, is := node.ValidatorNode.(*localValidator)
		if !is || !node.Running() {
			continue
		}
		select {
		case <-local.Validator.Shell().Replayed():
		case <-ctx.Done():
			return fmt.Errorf("%s has not executed yet what its log holds: %w", node.Name, context.Cause(ctx))
		}
	}
	return nil
}

// startNode starts a validator. One whose files are beyond help stays down.
func (n *Network) startNode(node *Node) error {
	if err := n.files.markLostLogs(node); err != nil {
		return err
	}
	if err := node.Start(); err != nil {
		return n.files.leaveDown(node, err)
	}
	return n.files.noteCut(node)
}

// resumeTravel has all nodes elsewhere, and this process, go by the time travel of an earlier
// run, and says where an advance goes that was under way.
func (n *Network) resumeTravel() {
	if other := n.config.Elsewhere; other != nil {
		have := other.Travelled()
		if err := n.keeper.keepRecord(have); err != nil { // the nodes have it on disk
			n.log.Warn("the record of time travel is not kept here; each node keeps its own", "error", err)
		}
		n.clock.SetOffset(have.Clock)
		n.GoOn(have.Goal)
		other.SetTravel(have)
	}
	if to := n.UnderWay(); to > 0 {
		n.log.Info("the network travels on: an advance was under way when it stopped", "to", to)
	}
}

// Close stops the nodes and lets the home go.
func (n *Network) Close() error {
	err := n.roster.turn.Close(func() error {
		n.scheduler.endAllWaits()
		errs := n.stopRunners()
		n.presence.feed.Close()
		errs = append(errs, n.stopNodes()...)
		n.sharedParts.closeParts()
		n.finality.closeSubscriptions()
		return errors.Join(append(errs, n.origin.closeHome())...)
	})
	if errors.Is(err, network.ErrClosed) {
		return nil
	}
	return err
}
