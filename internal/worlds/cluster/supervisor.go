package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/box/hosts"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/validators/history"
)

// Supervision is what a supervisor is made of.
type Supervision struct {
	Carrier Carrier
	Hosts   *hosts.Network // with its driver's secret, in Dir
	Dir     string
	Port    func() (int, error) // finds a port of this machine for a node that joins
	Log     *slog.Logger        // nil: none
	Ended   func(Ended)         // is told of nodes that ended though nobody asked; it may be nil
	Joined  func(Node)          // is told of each node that joins; it may be nil
	Left    func(name string)   // is told of each node that is ended since it has left; it may be nil
}

// Supervisor runs a network whose validators answer each for itself, and does what takes
// all of its nodes: faults of nodes and links, pauses, time travel, nodes that join. It is
// asked by the validators, and for faults by who has it. It is safe for concurrent use.
type Supervisor struct {
	crew   *Crew
	drive  *box.Drive
	dir    string
	joined func(Node)
	left   func(string)
	log    *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	later  sync.WaitGroup // of the reaper, and of runners that are to come back

	mu   sync.Mutex
	keys map[string]*crypto.Key // of runners that are being registered, by name
}

var _ fault.World = (*Supervisor)(nil)

// Supervise makes a supervisor; Start starts its nodes. Close has to be called at the end.
func Supervise(s Supervision) (*Supervisor, error) {
	v := &Supervisor{dir: s.Dir, joined: s.Joined, left: s.Left, log: s.Log, keys: map[string]*crypto.Key{}}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	v.crew = NewCrew(Config{Carrier: s.Carrier, Hosts: s.Hosts, Dir: s.Dir, Secret: s.Hosts.Driver(), Port: s.Port, Log: s.Log, Apart: true,
		Ended: s.Ended})
	v.crew.driven = v.attend
	chain := s.Hosts.Chain()
	chain.Elsewhere, chain.Genesis = v.crew, s.Hosts.Genesis
	var err error
	v.drive, err = box.NewDrive(chain, keyed(s.Hosts.Validators), keyed(s.Hosts.Runners))
	if err != nil {
		return nil, errors.Join(err, v.crew.Close())
	}
	v.drive.Later = v.comeLater
	return v, nil
}

func keyed(nodes []hosts.Node) (all []box.Keyed) {
	for _, one := range nodes {
		all = append(all, box.Keyed{Name: one.Name, Key: one.Key, Left: one.Left})
	}
	return all
}

// Start starts all nodes but those that have left, and returns when each can be driven.
func (s *Supervisor) Start(ctx context.Context) error {
	for _, one := range slices.Concat(s.crew.hosts.Validators, s.crew.hosts.Runners) {
		if one.Left && s.left != nil {
			s.left(one.Name)
		}
	}
	stop := context.AfterFunc(ctx, s.crew.cancel) // nobody waits for what is not up yet
	s.crew.Launch()
	err := s.drive.Start(ctx)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	s.drive.SetClock(s.crew.ahead())
	s.call()
	if err == nil {
		s.later.Go(s.reap)
	}
	return err
}

// Close ends all nodes.
func (s *Supervisor) Close() error {
	s.cancel()
	s.later.Wait()
	return errors.Join(s.crew.Close(), s.drive.Close())
}

// Do implements fault.World. The validators tell of what was done among their events.
func (s *Supervisor) Do(o fault.Order) (fault.Effect, error) {
	effect, err := s.drive.Do(o)
	if err != nil {
		return effect, err
	}
	s.each(func(ctx context.Context, c *control.Client) { _ = c.Note(ctx, api.ShowFault(effect)) })
	return effect, nil
}

// Faults implements fault.World.
func (s *Supervisor) Faults() []fault.Effect { return s.drive.Faults() }

// Letters are the dead letters of runners, by name: events for their roles after those had
// stopped.
func (s *Supervisor) Letters() map[string]uint64 { return s.drive.Letters() }

// each asks all validators that answer something, at once. One that ends meanwhile does
// not hear of it.
func (s *Supervisor) each(ask func(context.Context, *control.Client)) {
	ctx, cancel := context.WithTimeout(s.ctx, countPatience)
	defer cancel()
	var asked sync.WaitGroup
	for _, name := range s.drive.Validators() {
		asked.Go(func() { ask(ctx, s.crew.member(name).client) })
	}
	asked.Wait()
}

// call names all nodes to all validators.
func (s *Supervisor) call() {
	names := s.drive.Names()
	s.each(func(ctx context.Context, c *control.Client) { _ = c.Call(ctx, names) })
}

// attend does what a validator asks for, as long as its process lives.
func (s *Supervisor) attend(ctx context.Context, name string, c *control.Client) {
	_ = c.Call(ctx, s.drive.Names()) // one that cannot be told is told when it starts again
	known := uint64(0)
	for ctx.Err() == nil {
		_ = c.Asks(ctx, func(a control.Ask) { // it breaks off where the process ends
			if a.ID > known {
				known = a.ID
				go s.answer(ctx, name, c, a)
			}
		})
		select {
		case <-ctx.Done():
		case <-time.After(againEvery):
		}
	}
}

// answer does what one validator asks for.
func (s *Supervisor) answer(ctx context.Context, name string, c *control.Client, a control.Ask) {
	reply := control.Reply{ID: a.ID}
	var err error
	switch a.Verb {
	case control.AskPace:
		err = s.drive.Pause(a.On)
	case control.AskTravel:
		err = s.drive.Travel(ctx, a.To, a.Moved)
	case control.AskStartValidator:
		reply.Joining, err = s.startValidator(ctx, name, a.Name)
	case control.AskPrepareRunner:
		reply.Joining, err = s.prepareRunner(ctx, name, a.Name, a.Owner)
	case control.AskStartRunner:
		err = s.startRunner(a.Name)
	case control.AskReloadRunner:
		err = s.drive.ReloadRunner(a.Name)
	case control.AskAnswerJob:
		reply.Answered, err = s.drive.AnswerJob(a.Job, a.Given)
	default:
		err = api.Refuse(http.StatusNotImplemented, "unsupported", "who drives this network does not know the order %.40q", a.Verb)
	}
	if err != nil {
		reply.Refuse(err)
	}
	if err := c.Reply(ctx, reply); err != nil && ctx.Err() == nil {
		s.log.Error("a validator did not hear what came of its order", "node", name, "order", a.Verb, "error", err)
	}
}

// api is the HTTP API of a validator.
func (s *Supervisor) api(name string) *client.Client { return client.New(s.crew.carrier.Control(name)) }

// startValidator starts a validator that is to join, for the one that asks.
func (s *Supervisor) startValidator(ctx context.Context, asks, name string) (box.Joining, error) {
	all, err := s.api(asks).Validators(ctx)
	if err != nil {
		return box.Joining{}, err
	}
	before := name == "" || !s.drive.Has(name)
	if !before {
		s.noteLeft(name, false)
	}
	joining, err := s.drive.StartValidator(name, func(name string) string {
		for _, v := range all {
			if v.Name == name {
				return v.Status
			}
		}
		return history.StatusLeft // it is in no set
	}, hosts.NewKey)
	if err != nil {
		return joining, err
	}
	s.enter(before, Node{Name: joining.Name, Kind: Validator})
	return joining, nil
}

// noteLeft notes for the next start whether a node has left. It is noted that it is back
// before it starts: one that is started for nothing is ended again, and one that is not
// started would be missed. A validator may ask with any name.
func (s *Supervisor) noteLeft(name string, left bool) {
	if !s.drive.Has(name) {
		return
	}
	if err := hosts.SetLeft(s.dir, name, left); err != nil {
		s.log.Error("it is not noted whether a node has left", "node", name, "left", left, "error", err)
	}
}

// enter makes a node known that was started.
func (s *Supervisor) enter(isNew bool, node Node) {
	if isNew && s.joined != nil {
		s.joined(node)
	}
	s.call()
}

// prepareRunner draws the key of a runner that is to be registered by the validator that
// asks, and has it sign for the owner.
func (s *Supervisor) prepareRunner(ctx context.Context, asks, name string, owner types.Address) (j box.Joining, err error) {
	name, err = s.drive.NextRunner(name, func(a types.Address) bool {
		r, err := s.api(asks).Runner(ctx, a.String())
		return err == nil && r.Health == model.RunnerDeregistered
	})
	if err != nil {
		return j, err
	}
	key := hosts.NewKey()
	s.mu.Lock()
	s.keys[name] = key
	s.mu.Unlock()
	return box.Joining{Name: name, Address: key.Address(), PublicKey: key.PublicKey(),
		Signed: key.Sign(types.RegistrationDigest(s.crew.genesis.ChainID, owner, key.PublicKey()))}, nil
}

// startRunner starts a runner that is registered now.
func (s *Supervisor) startRunner(name string) error {
	s.mu.Lock()
	key := s.keys[name]
	delete(s.keys, name)
	s.mu.Unlock()
	if key == nil {
		return api.Refuse(http.StatusConflict, "not_prepared", "%.40q is no runner that is to be started", name).At("name")
	}
	isNew := !s.drive.Has(name)
	s.noteLeft(name, false)
	if err := s.drive.StartRunner(name, key); err != nil {
		return err
	}
	s.enter(isNew, Node{Name: name, Kind: Runner})
	return nil
}

// heightEvery is how often the height is looked at that a runner waits for.
const heightEvery = 100 * time.Millisecond

// comeLater has a runner that was dropped come back so many blocks later.
func (s *Supervisor) comeLater(name string, blocks types.Height, fresh bool) {
	s.later.Go(func() {
		at := types.Height(0) // 0: it is not known yet
		for {
			if best, now := s.highest(); best != "" {
				if at == 0 {
					at = now + blocks
				}
				if now >= at {
					break
				}
			}
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(heightEvery):
			}
		}
		if err := s.comeBack(name, fresh); err != nil && s.ctx.Err() == nil {
			s.log.Error("a runner does not come back", "node", name, "error", err)
		}
	})
}

// highest is the validator with the highest final block, "" where none answers.
func (s *Supervisor) highest() (best string, most types.Height) {
	ctx, cancel := context.WithTimeout(s.ctx, countPatience)
	defer cancel()
	for _, name := range s.drive.Validators() {
		if h, err := s.api(name).Height(ctx); err == nil && (best == "" || h > most) {
			best, most = name, h
		}
	}
	return best, most
}

// comeBack starts a runner that was dropped, unless somebody did already; a fresh one
// under another key, which it has registered.
func (s *Supervisor) comeBack(name string, fresh bool) error {
	if !fresh {
		return s.drive.RestartRunner(name)
	}
	key := hosts.NewKey()
	offer, stake := box.OwnOffer(), wallet.RunnerStake
	genesis := s.crew.genesis
	signed := key.Sign(types.RegistrationDigest(genesis.ChainID, genesis.SystemKey, key.PublicKey()))
	asked := model.RunnerRequest{From: wallet.System, PublicKey: key.PublicKey().String(), Signed: &signed, Stake: &stake,
		Capability:  offer.Capabilities,
		Entitlement: offer.Entitlements, MaxConcurrent: &offer.MaxConcurrentJobs}
	for _, validator := range s.drive.Validators() {
		_, err := s.api(validator).JoinRunner(s.ctx, asked)
		if unreachable := (*client.Unreachable)(nil); errors.As(err, &unreachable) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.drive.ReplaceRunner(name, key); err != nil {
			return err
		}
		s.call()
		return nil
	}
	return fmt.Errorf("no validator answers")
}
