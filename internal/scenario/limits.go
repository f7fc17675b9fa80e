package scenario

import (
	goruntime "runtime"
	"runtime/metrics"

	"go.starlark.net/starlark"
)

// How many steps pass between looks at the memory. A step can double a string,
// so that near the limit each few are looked at.
const (
	stepsFar  = 64
	stepsNear = 4
)

const heapMetric = "/memory/classes/heap/objects:bytes"

// Heap is how many bytes of objects the process holds, garbage not collected yet
// included.
func Heap() uint64 {
	sample := []metrics.Sample{{Name: heapMetric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// limit bounds the script: steps exactly, memory at looks between steps. What
// one builtin takes at a time is bounded by Starlark (2^30 elements), and by the
// limits of the process that the command sets.
func (r *runtime) limit() {
	steps, memory := r.options.Steps, r.options.Memory
	if steps == 0 {
		steps = MaxSteps
	}
	if memory == 0 {
		memory = MaxMemory
	}
	r.thread.OnMaxSteps = func(t *starlark.Thread) {
		done := t.ExecutionSteps()
		if done >= steps {
			t.Cancel(tooManySteps)
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
		t.SetMaxExecutionSteps(min(done+next, steps))
	}
	r.thread.SetMaxExecutionSteps(min(stepsFar, steps))
}

const (
	tooManySteps  = "the script takes too many steps; is there a loop without end?"
	tooMuchMemory = "the script needs too much memory; does a string or a list grow without end?"
)
