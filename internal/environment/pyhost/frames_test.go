package pyhost

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// numbered is n of a pattern with a separator, each with its number.
func numbered(pattern, separator string, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(pattern, i)
	}
	return strings.Join(parts, separator)
}

// A call pays for the frame that it takes, and a generator for the frame that it
// keeps, whatever makes it.
func TestCallsPayForTheirFrames(t *testing.T) {
	w := openWorld(t)
	const yields = "        yield 1\n"
	names := func(n int, indent string) string { return indent + numbered("x%d", " = ", n) + " = 1\n" }
	for _, c := range []struct {
		name   string
		setup  func(n int) string
		body   string
		atMost types.Cycles // names for one cycle
	}{
		{"a generator", func(n int) string { return "    def g():\n" + yields + names(n, "        ") }, "    g()\n", 8},
		{"a generator that map makes", func(n int) string {
			return "    def g(x):\n" + yields + names(n, "        ")
		}, "    list(map(g, [1]))\n", 8},
		{"a generator that a property makes", func(n int) string {
			return "    class A:\n        @property\n        def p(self):\n    " + yields + names(n, "            ") + "    a = A()\n"
		}, "    a.p\n", 8},
		{"a deep expression", func(n int) string {
			calls := strings.Repeat("f("+numbered("x%d", ",", 20)+",", n/20)
			return "    def g():\n        yield " + calls + "1" + strings.Repeat(")", n/20) + "\n"
		}, "    g()\n", 10},
		{"a function", func(n int) string { return "    def g():\n        return\n" + names(n, "        ") }, "    g()\n", 16},
		{"names that a function shares", func(n int) string {
			return "    def g():\n        return\n" + names(n, "        ") + "        def h(): " + numbered("x%d", "; ", n) + "\n"
		}, "    g()\n", 1},
		{"names that a comprehension shares", func(n int) string {
			return "    def g():\n        return\n" + names(n, "        ") + "        [(" + numbered("x%d", ", ", n) + ") for i in f]\n"
		}, "    g()\n", 1},
		{"names that a generator shares", func(n int) string {
			return "    def g():\n" + yields + names(n, "        ") + "        def h(): " + numbered("x%d", "; ", n) + "\n"
		}, "    g()\n", 1},
	} {
		few, many := spent(t, w, c.setup(200), c.body, 10), spent(t, w, c.setup(1000), c.body, 10)
		if least := 10 * 800 / c.atMost; many-few < least {
			t.Errorf("%s: 800 names more cost %d cycles in 10 calls, want %d at least", c.name, many-few, least)
		}
	}
}

// A generator of many names does what one of few does: it is made by a function
// within a function that pays for it.
func TestLargeGeneratorsAreTheAuthors(t *testing.T) {
	w := openWorld(t)
	source := func(names int) string {
		return "class A:\n    def m(self): yield 5\nclass B(A):\n    def m(self, a, /, b=2, *c, k=3, **d):\n        'Of B.'\n" +
			"        def add():\n            nonlocal a\n            a += 1\n            return a\n" +
			"        " + numbered("x%d", " = ", names) + " = 1\n" +
			"        for v in super().m(): yield v\n        yield add() + b\n        yield c, k, sorted(d.items())\n" +
			"        self.__hid = 4\n        yield self.__hid\n        def inner(n): raise ValueError(n)\n        inner(7)\n" +
			"def f(p):\n    out, b = [B.m.__name__, B.m.__doc__], B()\n    try:\n" +
			"        for v in b.m(1, 2, 3, 4, k=9, z=1): out.append(v)\n" +
			"    except ValueError as e: out.append(str(e))\n    try: b.m()\n    except TypeError as e: out.append(str(e))\n" +
			"    return repr(out).encode()\ndef g(p): return repr(list(B().m(1))).encode()\n"
	}
	small, large := w.deploy(78, source(1)), w.deploy(79, source(200))
	for handler, want := range map[string]string{
		"f": "'Of B.', 5, 4, ((3, 4), 9, [('z', 1)]), 4, '7'", "g": "in m; line 16, in inner: ValueError: 7",
	} {
		one, _ := w.call(t, small, handler, "")
		other, _ := w.call(t, large, handler, "")
		got := string(one.Output)
		if one.Fault != nil {
			got = one.Fault.Message
			if other.Fault == nil || other.Fault.Message != got {
				t.Errorf("%s: %+v of few names, %+v of many", handler, one.Fault, other.Fault)
			}
		} else if string(other.Output) != got {
			t.Errorf("%s: %s of few names, %s of many", handler, got, other.Output)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", handler, got, want)
		}
	}
}

// A call by keyword takes time that grows with the square of the parameters, so
// these are bounded.
func TestParametersAreBounded(t *testing.T) {
	w := openWorld(t)
	for _, pattern := range []string{"def g(%s): pass\n", "g = lambda %s: 0\n", "def g(*, %s): pass\n"} {
		if _, err := w.session.Inspect(codeOf(fmt.Sprintf(pattern, numbered("x%d=1", ", ", 32)))); err != nil {
			t.Errorf("32 parameters: %v", err)
		}
		_, err := w.session.Inspect(codeOf(fmt.Sprintf(pattern, numbered("x%d=1", ", ", 33))))
		var refusal *program.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "33 parameters of one function, at most 32") {
			t.Errorf("33 parameters: %v", err)
		}
	}
}
