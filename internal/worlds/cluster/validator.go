package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// validator is a validator that runs elsewhere. Its state follows from executing its
// final blocks here; the validator is asked for the rest.
type validator struct {
	*member
	follower
	key      *crypto.Key
	endpoint string // "": not settled yet
	tell     remote.Receivers
	last     validators.Status // latest answer; guarded by mu
	live     []gateway.Live
	at       time.Time
	lies     bool         // guarded by mu, as what follows
	hold     bool         // it is to make no blocks
	goal     types.Height // the height that it was last ordered to travel to
	every    bool         // with a block at every height
}

var _ remote.ValidatorNode = (*validator)(nil)

// Validator implements remote.Nodes.
func (c *Backend) Validator(name string, key *crypto.Key, tell remote.Receivers) (remote.ValidatorNode, error) {
	c.mu.Lock()
	if c.chain == nil {
		c.chain = newChain(tell.Executor)
	}
	c.mu.Unlock()
	v := &validator{member: newMember(c, network.Identity{Name: name, Address: key.Address(), Kind: fault.Validators}, tell.Socket),
		follower: follower{owner: c, name: name},
		key:      key, tell: tell}
	v.last = validators.Status{Name: name, Address: key.Address()}
	c.enterMember(v.member)
	c.mu.Lock()
	c.followers = append(c.followers, &v.follower)
	c.mu.Unlock()
	return v, v.resumeFromFile()
}

// Endpoint implements remote.ValidatorNode: where others reach it. The files of a validator
// that joins are written here.
func (v *validator) Endpoint() (string, error) {
	c := v.backend
	if v.endpoint != "" {
		return v.endpoint, nil
	}
	if one, known := c.findNode(v.name); known {
		v.endpoint = one.Endpoint
		return v.endpoint, nil
	}
	err := c.addToCarrier(Validator, v.name, func(port int) error {
		one, err := c.hosts.AddValidator(c.dir, v.name, port, v.key)
		if err != nil {
			return err
		}
		v.endpoint = one.Endpoint
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hosts.Validators = append(c.hosts.Validators, one)
		return nil
	})
	return v.endpoint, err
}

// Open implements remote.ValidatorNode.
func (v *validator) Open() error {
	_, err := v.Endpoint()
	return err
}

// Start implements network.Node.
func (v *validator) Start() error {
	v.backend.noteLeft(v.name, false)
	l, hello, err := v.startProcess()
	if err != nil {
		return err
	}
	header, err := v.reportBoot(hello)
	if err != nil {
		return err
	}
	l.work.Go(func() { v.handOnEvents(l) })
	l.work.Go(func() { v.executeFinal(l) })
	if err := v.waitForExecution(l, header.Height); err != nil {
		return errors.Join(err, v.endProcess(true))
	}
	v.started.Store(true)
	v.backend.introduceNodes(v.backend.allMembers()...)
	v.enterSocket(l)
	return nil
}

// reportBoot reports the state that the process begins with. If that is older than before,
// the validator begins at genesis here too.
func (v *validator) reportBoot(hello control.Hello) (header types.Header, err error) {
	if hello.Boot == nil {
		return header, fmt.Errorf("%s does not say what it begins with", v.name)
	}
	if err := codec.Unmarshal(hello.Boot.Header, types.MaxBlockBytes, &header); err != nil {
		return header, fmt.Errorf("%s reports an invalid header at boot: %w", v.name, err)
	}
	v.tell.Booted(v.identity.Address, remote.Boot{Header: &header, Hash: hello.Boot.Hash, Root: hello.Boot.Root})
	head := v.head.Load()
	if at := head.Block.Header.Height; header.Height < at || header.Height == at && hello.Boot.Hash != head.Hash {
		return header, v.resetToGenesis()
	}
	return header, nil
}

// reachPatience is how long a validator's next final block may take that it has stored.
const reachPatience = 30 * time.Second

// waitForExecution waits until the blocks that a process began with were executed here: before that
// the members of the network are unknown.
func (v *validator) waitForExecution(l *life, height types.Height) error {
	late := time.NewTimer(reachPatience)
	defer late.Stop()
	for v.head.Load().Block.Header.Height < height {
		select {
		case <-l.followed:
			late.Reset(reachPatience)
		case <-l.ctx.Done():
			if failure := v.Failure(); failure != nil {
				return failure
			}
			return context.Cause(l.ctx)
		case <-late.C:
			return fmt.Errorf("%s has block %d, and does not give the one above %d: where its history is bounded, begin again with --reset", v.name,
				height, v.head.Load().Block.Header.Height)
		}
	}
	return nil
}

// repeatStream repeats a stream until the process has ended.
func (v *validator) repeatStream(l *life, stream func(context.Context) error) {
	for l.ctx.Err() == nil {
		ctx, end := l.streamContext()
		_ = stream(ctx) // it breaks off where the process ends, which its carrier tells
		end()
		v.mu.Lock()
		over := v.life != l
		v.mu.Unlock()
		if over {
			return
		}
		select {
		case <-l.ctx.Done():
		case <-time.After(againEvery):
		}
	}
}

// handOnEvents hands on the events of the process.
func (v *validator) handOnEvents(l *life) {
	v.repeatStream(l, func(ctx context.Context) error {
		return v.client.Reports(ctx, l.seq.Load(), func(h *control.Report) error {
			v.handOnReport(h)
			l.seq.Store(h.Seq)
			select {
			case l.heard <- struct{}{}:
			default:
			}
			return nil
		})
	})
}

func (v *validator) handOnReport(h *control.Report) {
	if report := h.Consensus(); report != nil {
		v.tell.Consensus(v.name, report)
	}
	if report := h.Gateway(); report != nil {
		v.tell.Runners(v.name, report)
	}
	if frame := h.Vote(); frame != nil {
		v.tell.Sent(v.identity.Address, frame)
	}
	if hash, why, is := h.Dropped(); is {
		v.tell.Dropped(hash, why)
	}
}

// executeFinal executes what the process makes final.
func (v *validator) executeFinal(l *life) {
	v.repeatStream(l, func(ctx context.Context) error {
		v.pending = nil
		return v.client.Finals(ctx, v.head.Load().Block.Header.Height, func(final control.Final) error {
			made, err := v.addFinal(final)
			if err != nil {
				v.backend.keepFirstError(err)
				v.Fail(err)
				l.end()
				return err
			}
			if made != nil {
				v.handOnFinal(made)
				select {
				case l.followed <- struct{}{}:
				default:
				}
			}
			return nil
		})
	})
}

// handOnFinal hands on blocks that are final, once what their validators said before was heard.
func (v *validator) handOnFinal(f *validators.FinalBlocks) {
	last := f.Results[len(f.Results)-1]
	v.backend.hearUpTo(last.Block.Header.Height)
	blocks := simplex.Finalized{Finalization: f.Finalization}
	for _, r := range f.Results {
		blocks.Blocks, blocks.Hashes = append(blocks.Blocks, r.Block), append(blocks.Hashes, r.Hash)
	}
	v.tell.Consensus(v.name, blocks)
	v.tell.Final(*f)
}

// Kill implements network.Node. Its events until now are read first.
func (v *validator) Kill(*fault.Counts) error {
	v.silenceNode()
	v.collectCounts()
	ctx, cancel := context.WithTimeout(v.backend.ctx, hearPatience)
	defer cancel()
	v.mu.Lock()
	l := v.life
	v.mu.Unlock()
	if l != nil && v.canAnswer() && v.isFollowed() {
		v.catchUp(ctx, l)
	}
	if err := v.endValidator(true); err != nil {
		v.backend.keepFirstError(err)
	}
	return nil
}

// Stop implements network.Node.
func (v *validator) Stop() error {
	if v.frozen.Load() {
		_ = v.Thaw() // it is frozen
	}
	v.collectCounts()
	return v.endValidator(false)
}

// Leave implements network.Node: a validator leaves by an instruction of the system key.
func (v *validator) Leave(_ bool, gone func()) { gone() }

// Peers implements network.Node: only validators, since a connection belongs to its runner.
func (v *validator) Peers() []types.Address { return v.Status().Connected }

func (v *validator) endValidator(atOnce bool) error {
	err := v.endProcess(atOnce)
	v.mu.Lock()
	v.lies, v.last.Connected, v.live = false, nil, nil
	v.mu.Unlock()
	return err
}

// Wipe implements network.Node.
func (v *validator) Wipe(counts *fault.Counts) error {
	ctx, cancel := context.WithTimeout(v.backend.ctx, endPatience)
	defer cancel()
	if err := v.backend.carrier.Wipe(ctx, v.name); err != nil {
		return err
	}
	counts.Emptied.Add(1)
	return v.resetToGenesis()
}

// Shell implements remote.ValidatorNode.
func (v *validator) Shell() remote.Shell { return v }

// Store implements remote.ValidatorNode.
func (v *validator) Store() env.Store { return *v.store.Load() }

// Head implements remote.Shell.
func (v *validator) Head() *validators.Head { return v.head.Load() }

// Archive implements remote.Shell.
func (v *validator) Archive() *history.Archive { return history.Of(v.Store()) }

// statusAge is the maximum age of a validator's known status when it is read.
const statusAge = 10 * time.Millisecond

// Status implements remote.Shell.
func (v *validator) Status() validators.Status {
	v.refreshStatus()
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.last
	s.Height = v.head.Load().Block.Header.Height
	return s
}

// Connections implements remote.Shell.
func (v *validator) Connections() []gateway.Live {
	v.refreshStatus()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.live
}

// refreshStatus asks for the validator's status.
func (v *validator) refreshStatus() {
	v.mu.Lock()
	young := time.Since(v.at) < statusAge
	v.mu.Unlock()
	if young || !v.canAnswer() {
		return
	}
	ctx, cancel := context.WithTimeout(v.backend.ctx, countPatience)
	defer cancel()
	s, err := v.client.ValidatorStatus(ctx)
	if err != nil {
		return
	}
	if s.Failure != "" {
		v.Fail(fmt.Errorf("%s", s.Failure))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last, v.at, v.live = s.Status, time.Now(), nil
	for _, c := range s.Runners {
		v.live = append(v.live, gateway.Live{Runner: c.Runner, Accepting: c.Accepting, Changes: c.Changes})
	}
}

// Submit implements remote.Shell.
func (v *validator) Submit(raw []byte, answer func(types.Hash, error)) {
	go func() { answer(v.client.Submit(v.backend.ctx, raw)) }()
}

// NextNonce implements remote.Shell.
func (v *validator) NextNonce(a types.Address, final types.Nonce, answer func(types.Nonce)) {
	go func() {
		if next, err := v.client.NextNonce(v.backend.ctx, a, final); err == nil {
			answer(next)
		}
	}()
}

// Waiting implements remote.Shell.
func (v *validator) Waiting(hash types.Hash, answer func(*ledger.Checked)) {
	go func() {
		raw, sender, err := v.client.Waiting(v.backend.ctx, hash)
		if err != nil {
			return
		}
		var tx types.Transaction
		if raw == nil || codec.Unmarshal(raw, types.MaxTransactionBytes, &tx) != nil {
			answer(nil)
			return
		}
		answer(&ledger.Checked{Tx: &tx, Hash: hash, Sender: sender, Size: len(raw)})
	}()
}

// BringHeartbeat implements remote.Shell.
func (v *validator) BringHeartbeat(runner types.Address, ping *push.HeartbeatPing, answer func(types.Hash, error)) {
	go func() { answer(v.client.Bring(v.backend.ctx, control.Brought{Runner: runner, Ping: ping})) }()
}

// BringResult implements remote.Shell.
func (v *validator) BringResult(runner types.Address, result *push.JobResult, answer func(error)) {
	go func() {
		_, err := v.client.Bring(v.backend.ctx, control.Brought{Runner: runner, Result: result})
		answer(err)
	}()
}

// BringRefusal implements remote.Shell.
func (v *validator) BringRefusal(runner types.Address, ack *push.JobAck, answer func(error)) {
	go func() {
		_, err := v.client.Bring(v.backend.ctx, control.Brought{Runner: runner, Refusal: ack})
		answer(err)
	}()
}

// Pause implements remote.Shell.
func (v *validator) Pause(on bool) {
	v.mu.Lock()
	v.hold = on
	v.mu.Unlock()
	if !v.canAnswer() {
		return // it gets this when it resumes
	}
	if err := v.client.Pause(v.backend.ctx, on); err != nil && v.canAnswer() {
		v.backend.keepFirstError(fmt.Errorf("cannot pause or resume %s: %w", v.name, err))
	}
}

// SkipTo implements remote.Shell.
func (v *validator) SkipTo(to types.Height, done func()) { v.sendTravel(to, false, done) }

// MakeTo implements remote.Shell.
func (v *validator) MakeTo(to types.Height, done func()) { v.sendTravel(to, true, done) }

func (v *validator) sendTravel(to types.Height, every bool, done func()) {
	v.mu.Lock()
	v.goal, v.every = to, every
	v.mu.Unlock()
	go func() {
		if v.canAnswer() {
			if err := v.client.SkipTo(v.backend.ctx, to, every); err != nil && v.canAnswer() {
				v.backend.keepFirstError(fmt.Errorf("%s was not told where to travel: %w", v.name, err))
			}
		}
		if done != nil {
			done()
		}
	}()
}

// Thaw implements network.Node. It now gets the operator's decisions of that time.
func (v *validator) Thaw() error {
	if err := v.member.Thaw(); err != nil {
		return err
	}
	v.mu.Lock()
	hold, goal, every := v.hold, v.goal, v.every
	v.mu.Unlock()
	v.Pause(hold)
	if goal > 0 {
		v.sendTravel(goal, every, nil)
	}
	return nil
}

// Do implements network.Node.
func (v *validator) Do(o *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
	if err := v.member.Do(o, counts, over); err != nil {
		return err
	}
	if o.Verb == fault.Misbehave {
		v.mu.Lock()
		v.lies = counts != nil
		v.mu.Unlock()
	}
	return nil
}

// Honest implements remote.ValidatorNode.
func (v *validator) Honest() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.lies
}
