package pyhost

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// C25: the callers of a schema are those that the decorators let in, whatever the file calls
// them. A decorator that is not ours, and a second function under a handler's name, are
// refused: the schema would tell the callers of another function.
func TestC25CallersAreReadFromWhatDecoratorsAre(t *testing.T) {
	p := openPool(t, Config{})
	const imports = "from cowboy_sdk import actor, public, callable_by, OWNER\n"
	class := func(head, body string) string { return head + "@actor\nclass A:\n" + body }
	const drain = "  def drain(self, x: int):\n    pass\n"
	for _, c := range []struct{ source, want string }{
		{class(imports, "  @public\n"+drain), `"callers":"anyone"`},
		{class(imports, drain), `"callers":"chain"`},
		{class("from cowboy_sdk import actor, public as p\n", "  @p\n"+drain), `"callers":"anyone"`},
		{class("import cowboy_sdk as c\nfrom cowboy_sdk import actor\n", "  @c.public\n"+drain), `"callers":"anyone"`},
		{class("from cowboy_sdk import actor, callable_by as only, OWNER as boss\n", "  @only(boss)\n"+drain), `"callers":["OWNER"]`},
		{"from cowboy_sdk import actor as a, public\n@a\nclass A:\n  @public\n" + drain, `"callers":"anyone"`},
		{"from cowboy_sdk import public as p\n@p\ndef drain(payload):\n  pass\n", `"callers":"anyone"`},

		{class("from cowboy_sdk import actor\ndef public(f): return f\n", "  @public\n"+drain), "!a decorator that is not of cowboy_sdk"},
		{class(imports+"def public(f): return f\n", "  @public\n"+drain), "!a decorator that is not of cowboy_sdk"},
		{class(imports+"public = callable_by(OWNER)\n", "  @public\n"+drain), "!a decorator that is not of cowboy_sdk"},
		{class(imports+"def quiet(f): return f\n", "  @public\n  @quiet\n"+drain), "!a decorator that is not of cowboy_sdk"},
		{class("from cowboy_sdk import actor\nif True:\n  from cowboy_sdk import public as p\n", "  @p\n"+drain), `"callers":"anyone"`},
		{class(imports+"def property(f): return f\n", "  @public\n"+drain+"  @property\n  def open(self, payload):\n    pass\n"),
			"!a decorator that is not of cowboy_sdk"},
		{class(imports, "  @public\n"+drain+"  @callable_by(OWNER)\n  def shown(self, x: int):\n    pass\n") + "A.shown = A.drain\n",
			"!A.shown is a handler"},
		{class(imports, "  @public\n"+drain) + "del A.drain\n", "!A.drain is a handler"},
		{"from cowboy_sdk import actor, public\nclass B:\n  @public\n" + drain + "@actor\nclass A(B):\n  pass\nB.drain = None\n",
			"!B.drain is a handler"},
	} {
		session, err := p.Open(program.ForRead)
		if err != nil {
			t.Fatal(err)
		}
		found, refused := session.Inspect(codeOf(c.source))
		session.Close()
		if want, refusal := strings.CutPrefix(c.want, "!"); refusal {
			if refused == nil || !strings.Contains(refused.Error(), want) {
				t.Errorf("%s\nrefused by %v, want %q", c.source, refused, want)
			}
		} else if refused != nil || !strings.Contains(string(found.Schema), want) {
			t.Errorf("%s\nthe schema is %s, %v; want %s", c.source, found.Schema, refused, want)
		}
	}
}
