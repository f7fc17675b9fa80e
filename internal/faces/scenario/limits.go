package scenario

import (
	goruntime "runtime"
	"runtime/metrics"
	"time"

	"go.starlark.net/starlark"
)

// How many steps pass between looks at the memory. A step can double a string, so
// near the limit the memory is checked every few steps.
const (
	stepsFar  = 64
	stepsNear = 4
)

// MaxStepTime is how long one step of a script may take. Waits for the network do
// not count.
const MaxStepTime = 10 * time.Second

const heapMetric = "/memory/classes/heap/objects:bytes"

// Heap is how many bytes of objects the process holds, garbage not collected yet
// included.
func Heap() uint64 {
	sample := []metrics.Sample{{Name: heapMetric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// boundScript bounds the script: steps exactly, memory at looks between steps. Starlark
// (2^30 elements) and the limits of memory and time that the command sets for its
// process (Options.Pulse) bound a single step.
func (r *runtime) boundScript() {
	steps, memory, pulse := r.options.Steps, r.options.Memory, r.options.Pulse
	if steps == 0 {
		steps = MaxSteps
	}
	if memory == 0 {
		memory = MaxMemory
	}
	look := uint64(0) // when to look at the memory
	r.thread.OnMaxSteps = func(t *starlark.Thread) {
		done := t.ExecutionSteps()
		if done >= steps {
			t.Cancel(tooManySteps)
			return
		}
		pulse.beginStep(t.CallFrame(0).Pos)
		t.SetMaxExecutionSteps(done + 1)
		if done < look {
			return
		}
		next := uint64(stepsFar)
		heap := Heap()
		if heap > memory {
			goruntime.GC() // what is garbage is not the script's
			heap = Heap()
		}
		switch {
		case heap > memory:
			t.Cancel(tooMuchMemory)
			return
		case heap > memory/64:
			next = stepsNear
		}
		look = done + next
	}
	r.thread.SetMaxExecutionSteps(min(1, steps))
}

const (
	tooManySteps  = "the script takes too many steps; is there a loop without end?"
	tooMuchMemory = "the script needs too much memory; does a string or a list grow without end?"
)
