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
	"github.com/cowboyinc/devnet/internal/worlds/cluster/control"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/remote"
	"github.com/cowboyinc/devnet/runners"
)

// runner is a runner that runs elsewhere.
type runner struct {
	*member
	key  *crypto.Key
	last control.RunnerStatus // latest answer; guarded by mu
	at   time.Time
}

var _ remote.RunnerNode = (*runner)(nil)

// Runner implements remote.Nodes.
func (c *Backend) Runner(name string, key *crypto.Key, socket remote.EnterSocket) remote.RunnerNode {
	r := &runner{member: newMember(c, network.Identity{Name: name, Address: key.Address(), Kind: fault.Runners}, socket), key: key}
	r.last.Status = runners.Status{Name: name, Address: key.Address(), PublicKey: key.PublicKey()}
	c.enterMember(r.member)
	return r
}

// Start implements network.Node. It writes the files of a runner that joined, and the key
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
	l, _, err := r.startProcess()
	if err != nil {
		return err
	}
	r.started.Store(true)
	c.introduceNodes(c.allMembers()...)
	if !c.script { // blocks are not observed here: no work waits for that
		if err := r.client.Show(c.ctx, math.MaxInt64); err != nil {
			return err
		}
	}
	r.enterSocket(l)
	return nil
}

// Kill implements network.Node.
func (r *runner) Kill(*fault.Counts) error {
	r.silenceNode()
	r.collectCounts()
	if err := r.endProcess(true); err != nil {
		r.backend.keepFirstError(err)
	}
	r.forgetConnections()
	return nil
}

// Stop implements network.Node. It is at once: who wants Goodbyes said asks for them by
// Leave.
func (r *runner) Stop() error {
	if r.frozen.Load() {
		_ = r.Thaw() // it is frozen
	}
	r.collectCounts()
	err := r.endProcess(true)
	r.forgetConnections()
	return err
}

// forgetConnections notes that its connections ended with its process.
func (r *runner) forgetConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.Connected = nil
}

// Peers implements network.Node.
func (r *runner) Peers() []types.Address { return r.Status().Connected }

// Wipe implements network.Node.
func (r *runner) Wipe(*fault.Counts) error {
	return errors.New("a runner stores only its key")
}

// Leave implements network.Node.
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

// Status implements remote.RunnerNode.
func (r *runner) Status() runners.Status {
	r.refreshStatus()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Status
}

// Waiting implements remote.RunnerNode.
func (r *runner) Waiting() []types.Hash {
	r.refreshStatus()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Waiting
}

// Answer implements remote.RunnerNode.
func (r *runner) Answer(job types.Hash, given execution.Given) error {
	return r.client.Answer(r.backend.ctx, job, given)
}

// Reload implements remote.RunnerNode.
func (r *runner) Reload() error { return r.client.Reload(r.backend.ctx) }
