// Package custom does jobs of the kind custom (CIP-2): each names an executor by
// the keccak256 of its name, and gives it parameters.
//
//	echo     the parameters, as they are
//	sha256   their SHA-256, 32 bytes
//	manual   what a person or script answers (Manual)
//
// and what a runner's configuration names: a Python function (Python), a program
// of the machine that is started for each job (Command) or stays (Worker). A job chooses among these and can name nothing else.
package custom

import (
	"context"
	"crypto/sha256"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
)

// Executor executes the custom jobs of one name.
type Executor interface {
	acceptsJob(*push.JobSpec) *execution.Refusal
	doJob(context.Context, *executor.Job) ([]byte, error)
}

// Hash is how a job names an executor.
func Hash(name string) types.Hash { return types.Keccak([]byte(name)) }

// Kind is the executors of a runner.
type Kind struct {
	byHash map[types.Hash]Executor
	named  []string // the executors that it registers; none: the runner may be drawn for any
}

var _ executor.Kind = (*Kind)(nil)

// New offers executors by their names.
func New(byName map[string]Executor) *Kind {
	k := &Kind{byHash: make(map[types.Hash]Executor)}
	for name, does := range byName {
		k.byHash[Hash(name)] = does
	}
	return k
}

// Named makes the runner register its executors by name, so that it is drawn only for
// jobs of these.
func (k *Kind) Named(names []string) *Kind {
	k.named = names
	return k
}

// Capabilities implements executor.Kind: the executors of Named, without those that a
// worker program does not offer now.
func (k *Kind) Capabilities() (all []string) {
	for _, name := range k.named {
		if of, is := k.byHash[Hash(name)].(*workerExecutor); is && !of.worker.isOffering(name) {
			continue
		}
		all = append(all, "executor:"+name)
	}
	return all
}

// Accepts implements executor.Kind.
func (k *Kind) Accepts(spec *push.JobSpec) *execution.Refusal {
	hash := spec.JobType.Custom.ExecutorHash
	does, offered := k.byHash[hash]
	if !offered {
		return execution.Refuse(push.Unsupported, "this runner has no executor whose name has the keccak256 %s", hash)
	}
	return does.acceptsJob(spec)
}

// Do implements executor.Kind.
func (k *Kind) Do(ctx context.Context, job *executor.Job) ([]byte, error) {
	return k.byHash[job.Spec.JobType.Custom.ExecutorHash].doJob(ctx, job)
}

// pure is an executor that computes in an instant.
type pure func(params []byte) []byte

// Echo returns the parameters, Sha256 their digest.
var (
	Echo   Executor = pure(func(params []byte) []byte { return params })
	Sha256 Executor = pure(func(params []byte) []byte { digest := sha256.Sum256(params); return digest[:] })
)

func (p pure) acceptsJob(*push.JobSpec) *execution.Refusal { return nil }

func (p pure) doJob(_ context.Context, job *executor.Job) ([]byte, error) {
	return p(job.Spec.JobType.Custom.Params), nil
}
