package pythonhost_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// comparing says where the stubs of editors and the modules that they are of differ: in
// names, and in the arguments of functions and methods with what those are unless given.
const comparing = `
import ast, sys

def args(f):
    a, stub = f.args, any(isinstance(d, ast.Constant) and d.value is ... for d in f.args.defaults)
    told = lambda d: None if d is None else "..." if stub else ast.unparse(d)
    first = [None] * (len(a.posonlyargs + a.args) - len(a.defaults)) + a.defaults
    positional = [(x.arg, told(d)) for x, d in zip(a.posonlyargs + a.args, first)]
    named = [(x.arg, told(d)) for x, d in zip(a.kwonlyargs, a.kw_defaults)]
    return positional, named, a.vararg and a.vararg.arg, a.kwarg and a.kwarg.arg

def public(tree):
    found = {}
    for n in tree.body:
        if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and not n.name.startswith("_"):
            found.setdefault(n.name, n)
    return found

def functions(body):
    return {n.name: n for n in body if isinstance(n, ast.FunctionDef) and (not n.name.startswith("_"))}

wrong = []
for module in ("pvm_host/__init__", "cowboy_sdk/__init__", "cowboy_sdk/runner", "cowboy_sdk/runtime"):
    source, stub = (ast.parse(open(module + end).read()) for end in (".py", ".pyi"))
    real, told = public(source), public(stub)
    exported = set()
    for n in source.body:
        if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__":
            exported = {w for c in ast.walk(n.value) if isinstance(c, ast.Constant) and isinstance(c.value, str) for w in c.value.split()}
    bound = set(told) | {n.target.id for n in stub.body if isinstance(n, ast.AnnAssign)}
    bound |= {a.asname or a.name for n in stub.body if isinstance(n, ast.ImportFrom) for a in n.names}
    wrong += ["%s: %s has no stub" % (module, n) for n in sorted(exported - bound)]
    for name, f in told.items():
        of = real.get(name)
        if isinstance(f, ast.FunctionDef) and not f.decorator_list:
            if not isinstance(of, ast.FunctionDef):
                wrong.append("%s: there is no function %s" % (module, name))
                continue
            a, b = args(of), args(f)
            strip = lambda x: ([n for n, _ in x[0]], [n for n, _ in x[1]], x[2], x[3])
            if (strip(a), ) != (strip(b), ) or "..." not in str(b) and a != b:
                wrong.append("%s: %s%s, and the stub has %s" % (module, name, a, b))
        elif isinstance(f, ast.ClassDef) and isinstance(of, ast.ClassDef):
            mine, its = functions(of.body), functions(f.body)
            if set(mine) != set(its):
                wrong.append("%s: %s has %s, and the stub %s" % (module, name, sorted(mine), sorted(its)))
            wrong += ["%s: %s.%s%s, and the stub has %s" % (module, name, m, args(mine[m]), args(its[m]))
                      for m in mine if m in its and args(mine[m]) != args(its[m])]
print("\n".join(wrong))
sys.exit(bool(wrong))
`

// jobs prints a stub of runner with the module's functions of jobs. Each takes the terms of
// every job, and gives a task.
const jobs = `
import ast

source, stub = (open("cowboy_sdk/runner" + end).read() for end in (".py", ".pyi"))
told = []
for f in ast.parse(source).body:
    if isinstance(f, ast.FunctionDef) and f.args.kwarg:
        f.args.kwarg.annotation, f.returns = ast.parse("Unpack[Terms]").body[0].value, ast.Name("Task")
        f.body = [ast.Expr(ast.Constant(...))]
        told.append(ast.unparse(f).replace("\n    ...", " ...") + "\n")
head, rest = stub.split("-rewrite\n", 1)
print(head + "-rewrite\n" + "".join(told) + rest[rest.index("# The end"):], end="")
`

var rewrite = flag.Bool("rewrite", false, "write the jobs into cowboy_sdk/runner.pyi")

// The stub of a job is written from the module, whose types are thus stated once.
func TestTheStubsOfJobsAreWritten(t *testing.T) {
	python, err := exec.LookPath("python3")
	needed.Python(t, err)
	want, err := exec.Command(python, "-c", jobs).Output()
	if err != nil {
		t.Fatal(err)
	}
	const stub = "cowboy_sdk/runner.pyi"
	have, err := os.ReadFile(stub)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(have, want) {
		return
	}
	if !*rewrite {
		t.Fatalf("%s has other jobs than runner.py; type: go test ./python-host -rewrite", stub)
	}
	if err := os.WriteFile(stub, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// What editors are told is what there is.
func TestStubsAreOfTheModules(t *testing.T) {
	python, err := exec.LookPath("python3")
	needed.Python(t, err)
	if out, err := exec.Command(python, "-c", comparing).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
