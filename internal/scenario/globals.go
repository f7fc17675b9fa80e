package scenario

import "go.starlark.net/starlark"

// globals are the functions a script finds.
func (r *runtime) globals() starlark.StringDict {
	all := starlark.StringDict{}
	for _, v := range globalVerbs {
		all[v.name] = r.builtin(v, "", nil)
	}
	return all
}
