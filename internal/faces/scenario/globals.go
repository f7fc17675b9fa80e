package scenario

import (
	"strings"

	goruntime "runtime"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
)

// globalFunctions are the functions a script finds.
func (r *runtime) globalFunctions() starlark.StringDict {
	all := starlark.StringDict{}
	for _, v := range tables().global {
		all[v.name] = r.bindVerb(v, "", nil)
	}
	all["json"] = json.Module
	all["range"] = starlark.NewBuiltin("range", shortRange)
	return all
}

// shortRange is Starlark's range within the size that a script can iterate over.
// list, sorted and others reserve memory for all of a range at once.
func shortRange(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	value, err := starlark.Call(t, starlark.Universe["range"], args, kwargs)
	if err == nil && starlark.Len(value) > MaxSteps {
		return nil, newMistake("range has %d numbers, and a script takes at most %d steps", starlark.Len(value), MaxSteps)
	}
	return value, err
}

// tooLarge makes a mistake of the panic with which Go refuses a string or list
// that is larger than any memory. It is deferred around the script; all other
// panics are bugs and propagate.
func (r *runtime) tooLarge(err *error) {
	switch p := recover().(type) {
	case nil:
	case goruntime.Error:
		_, alone, at := r.options.Pulse.Look()
		if !alone || !strings.Contains(p.Error(), "makeslice") {
			panic(p)
		}
		*err = &Mistake{at, tooMuchMemory}
	default:
		panic(p)
	}
}
