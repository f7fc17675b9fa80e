package cluster

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/node"
	"github.com/cowboyinc/devnet/runners"
)

// runner is a runner that runs elsewhere.
type runner struct {
	*member
	key  *crypto.Key
	last control.RunnerStatus // latest answer; guarded by mu
	at   time.Time
}

var _ box.RemoteRunner = (*runner)(nil)

// Runner implements box.Elsewhere.
func (c *Backend) Runner(name string, key *crypto.Key) box.RemoteRunner {
	r := &runner{member: newMember(c, node.Identity{Name: name, Address: key.Address()}), key: key}
	r.last.Status = runners.Status{Name: name, Address: key.Address(), PublicKey: key.PublicKey()}
	c.enterMember(r.member)
	return r
}

// Start implements box.Serving. It writes the files of a runner that joined, and the key
// of one that has another than before.
func (r *runner) Start() error {
	c := r.backend
	c.noteLeft(r.identity.Name, false)
	if err := c.addToCarrier(Runner, r.identity.Name, func(port int) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, err := c.hosts.AddRunner(c.dir, r.identity.Name, port, r.key)
		return err
	}); err != nil {
		return err
	}
	if err := c.giveKey(r.identity.Name, r.key); err != nil {
		return err
	}
	if _, _, err := r.startProcess(); err != nil {
		return err
	}
	r.started.Store(true)
	c.introduceNodes(c.allMembers()...)
	if !c.script { // blocks are not observed here: no work waits for that
		return r.client.Show(c.ctx, math.MaxInt64)
	}
	return nil
}

// Kill implements box.Engine.
func (r *runner) Kill() {
	r.silenceNode()
	r.collectCounts()
	if err := r.endProcess(true); err != nil {
		r.backend.keepFirstError(err)
	}
}

// Stop implements box.Serving. It is at once: who wants Goodbyes said asks for them by
// Leave.
func (r *runner) Stop() error {
	r.collectCounts()
	err := r.endProcess(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.Connected = nil
	return err
}

// Wipe implements box.Engine.
func (r *runner) Wipe(*fault.Counts) error {
	return errors.New("a runner stores only its key")
}

// Leave implements box.Serving.
func (r *runner) Leave(finish bool, gone func()) {
	go func() {
		if r.canAnswer() {
			ctx, cancel := context.WithTimeout(r.backend.ctx, countPatience)
			defer cancel()
			_ = r.client.Leave(ctx, finish) // one that is gone has left
		}
		if !finish {
			gone()
		}
	}()
}

func (r *runner) refreshStatus() {
	r.mu.Lock()
	young := time.Since(r.at) < statusAge
	r.mu.Unlock()
	if young || !r.canAnswer() {
		return
	}
	ctx, cancel := context.WithTimeout(r.backend.ctx, countPatience)
	defer cancel()
	s, err := r.client.RunnerStatus(ctx)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.at = s, time.Now()
}

// Status implements box.Serving.
func (r *runner) Status() runners.Status {
	r.refreshStatus()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Status
}

// Waiting implements box.Manual: the jobs that wait to be answered by hand.
func (r *runner) Waiting() []types.Hash {
	r.refreshStatus()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Waiting
}

// Answer implements box.Manual.
func (r *runner) Answer(job types.Hash, given execution.Given) error {
	return r.client.Answer(r.backend.ctx, job, given)
}

// Reload implements box.Serving.
func (r *runner) Reload() error { return r.client.Reload(r.backend.ctx) }

// Manual implements box.Serving.
func (r *runner) Manual() box.Manual { return r }
