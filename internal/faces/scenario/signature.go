package scenario

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// verb is one builtin of scripts: a function, or a verb of a value.
type verb struct {
	name   string
	params []param
	doc    string
	do     func(*call) (starlark.Value, error)
	fault  *fault.Verb // that it orders, or nil
}

// param is one parameter of a verb.
type param struct {
	name    string
	kind    string // of the table kinds
	must    bool
	preset  string // its default, for people; "" for none
	nowhere bool   // the parameter may be given by name only
}

// newVerb reads a signature: "run(blocks: count?, until: function?, within: count = 100)".
// A ? is an argument that may be missing, and so is one with a preset. After *
// arguments are given by name.
func newVerb(signature, doc string, do func(*call) (starlark.Value, error)) *verb {
	name, list, ok := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	if !ok {
		panic("scenario: not a signature: " + signature)
	}
	v := &verb{name: name, doc: doc, do: do}
	named := false
	for _, text := range strings.Split(list, ", ") {
		switch text {
		case "":
			continue
		case "*":
			named = true
			continue
		}
		p := param{must: true, nowhere: named}
		head, preset, has := strings.Cut(text, " = ")
		p.name, p.kind, ok = strings.Cut(head, ": ")
		if has {
			p.must, p.preset = false, preset
		}
		if kind, optional := strings.CutSuffix(p.kind, "?"); optional {
			p.must, p.kind = false, kind
		}
		if _, known := kinds[p.kind]; !ok || !known {
			panic("scenario: " + signature + " has the parameter " + text)
		}
		v.params = append(v.params, p)
	}
	return v
}

// String is the signature as the reference shows it.
func (v *verb) String() string {
	if v.isVariadic() {
		return v.name + "(*" + v.params[0].name + ")"
	}
	var list []string
	named := false
	for _, p := range v.params {
		if p.nowhere && !named {
			named = true
			list = append(list, "*")
		}
		text := p.name + ": " + p.kind
		switch {
		case p.preset != "":
			text += " = " + p.preset
		case !p.must:
			text += "?"
		}
		list = append(list, text)
	}
	return v.name + "(" + strings.Join(list, ", ") + ")"
}

// isVariadic says that a verb takes any number of names, as check does.
func (v *verb) isVariadic() bool { return len(v.params) == 1 && v.params[0].kind == "names" }

func (v *verb) paramNames() (names []string) {
	for _, p := range v.params {
		names = append(names, p.name)
	}
	return names
}

// bindVerb makes a verb callable: as itself, or of the value on.
func (r *runtime) bindVerb(v *verb, of string, on any) *starlark.Builtin {
	title := v.name
	if of != "" {
		title = of + "." + v.name
	}
	return starlark.NewBuiltin(title, func(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		c := &call{r: r, title: title, on: on, thread: t, values: map[string]any{}}
		if n := c.ofNetwork(); n != nil && n.closed {
			return nil, n.requireOpen()
		}
		if err := c.bindArguments(v, args, kwargs); err != nil {
			return nil, err
		}
		if v.mayWait(of) {
			if at := t.CallFrame(1).Pos; at.Line > 0 { // a call by a function of Starlark's own has no line
				r.options.Pulse.beginStep(at)
			}
			defer r.options.Pulse.setAlone(r.options.Pulse.setAlone(false))
		}
		if c.undoes(v) {
			return starlark.None, nil
		}
		value, err := v.do(c)
		if err != nil {
			return nil, c.explainError(err)
		}
		c.tellDeed(v)
		c.lookedAt(v.name)
		return value, nil
	})
}

// call is one call of a verb with its arguments.
type call struct {
	r      *runtime
	title  string
	on     any // the network, node or job whose verb it is
	thread *starlark.Thread
	values map[string]any // converted, by parameter; looked up only
}

// ofNetwork is the network whose verb a call is, or whose node's; nil for a
// function.
func (c *call) ofNetwork() *network {
	switch on := c.on.(type) {
	case *network:
		return on
	case *validatorValue:
		return on.n
	case *runnerValue:
		return on.n
	case *jobValue:
		return on.n
	}
	return nil
}

func (c *call) bindArguments(v *verb, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if v.isVariadic() {
		return c.bindNames(v, args, kwargs)
	}
	positional := 0
	for _, p := range v.params {
		if !p.nowhere {
			positional++
		}
	}
	if len(args) > positional {
		return newMistake("%s takes at most %d arguments without a name, and got %d: %s", c.title, positional, len(args), v)
	}
	given := map[string]starlark.Value{}
	for i, value := range args {
		given[v.params[i].name] = value
	}
	for _, pair := range kwargs {
		name := string(pair[0].(starlark.String))
		if err := v.refuseUnknownArgument(c.title, name); err != nil {
			return err
		}
		if _, twice := given[name]; twice {
			return newMistake("%s got %s twice: %s", c.title, name, v)
		}
		given[name] = pair[1]
	}
	for _, p := range v.params {
		value, ok := given[p.name]
		if !ok || value == starlark.None && !p.must && p.kind != "value" {
			if p.must {
				return newMistake("%s needs %s: %s", c.title, p.name, v)
			}
			continue
		}
		converted, err := kinds[p.kind].read(c, value)
		if err != nil {
			return newMistake("%s: %s %v", c.title, p.name, err)
		}
		c.values[p.name] = converted
	}
	return nil
}

// bindNames takes any number of strings.
func (c *call) bindNames(v *verb, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if len(kwargs) > 0 {
		return newMistake("%s takes only names, like %s(\"agreement\", \"supply\")", c.title, c.title)
	}
	var names []string
	for _, value := range args {
		name, err := readText(c, value)
		if err != nil {
			return newMistake("%s: a name %v", c.title, err)
		}
		names = append(names, name.(string))
	}
	c.values[v.params[0].name] = names
	return nil
}

// refuseUnknownArgument refuses the name of an argument that the verb does not have.
func (v *verb) refuseUnknownArgument(title, name string) error {
	for _, p := range v.params {
		if p.name == name {
			return nil
		}
	}
	if len(v.params) == 0 {
		return newMistake("%s takes no arguments, and got %s", title, name)
	}
	near := suggestNames(name, v.paramNames())
	if near == "" {
		near = "; it takes " + strings.Join(v.paramNames(), ", ")
	}
	return newMistake("%s has no argument %s%s", title, name, near)
}

func (c *call) hasArgument(name string) bool {
	_, ok := c.values[name]
	return ok
}

// argOf returns an argument, or the zero value if it was not given.
func argOf[T any](c *call, name string) (value T) {
	if given, ok := c.values[name]; ok {
		return given.(T)
	}
	return value
}

// explainError puts the verb's name before the world's error, and marks the devnet's own
// faults.
func (c *call) explainError(err error) error {
	switch err.(type) {
	case *Mistake, *Failure, Mistakes, *starlark.EvalError:
		return err
	}
	if refused := asRefusal(err); refused != nil {
		what := c.title + ": " + refused.Message
		if refused.Remedy != "" && !strings.HasPrefix(refused.Remedy, "GET ") {
			what += ". " + refused.Remedy
		}
		return newMistake("%s", what)
	}
	return &internal{fmt.Errorf("%s: %w", c.title, err)}
}
