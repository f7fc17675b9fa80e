package page

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/pattern"
)

var (
	imports = pattern.CompileOnNeed(`(?m)^import (?:\* as (\w+)|(\{[^}]*\})) from '([^']+)';\n?`)
	exports = pattern.CompileOnNeed(`(?m)^export ((?:async )?(function|class|const|let) (\w+))`)
	unwordy = pattern.CompileOnNeed(`\W`)
)

// linkModules is a module and all that it imports as one script, so that a browser makes one
// request instead of fifty. Each module is a function that runs once, after those that it
// imports, and returns its exports. It panics for imports in a circle: a function cannot
// return before it has run. A variable that changes is imported with its whole module:
// each use then reads the present value.
func linkModules(modules map[string][]byte, entry string) []byte {
	var out bytes.Buffer
	begun, ended := map[string]bool{}, map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if ended[name] {
			return
		}
		if begun[name] || modules[name] == nil {
			panic(fmt.Sprintf("the module %s is imported in a circle, or does not exist", name))
		}
		begun[name] = true
		text := modules[name]
		for _, found := range imports().FindAllSubmatch(text, -1) {
			add(path.Join(path.Dir(name), string(found[3])))
		}
		fmt.Fprintf(&out, "const %s = (() => {\n", moduleVariable(name))
		out.Write(imports().ReplaceAllFunc(text, func(line []byte) []byte {
			found := imports().FindSubmatch(line)
			what := string(found[1]) + strings.ReplaceAll(string(found[2]), " as ", ": ")
			return fmt.Appendf(nil, "const %s = %s;\n", what, moduleVariable(path.Join(path.Dir(name), string(found[3]))))
		}))
		var names []string
		for _, found := range exports().FindAllSubmatch(text, -1) {
			one := string(found[3])
			if string(found[2]) == "let" { // it may change
				one = fmt.Sprintf("get %s() { return %[1]s; }", one)
			}
			names = append(names, one)
		}
		fmt.Fprintf(&out, "\nreturn { %s };\n})();\n", strings.Join(names, ", "))
		ended[name] = true
	}
	add(entry)
	return exports().ReplaceAll(out.Bytes(), []byte("$1"))
}

// moduleVariable is the name of a module in a script that holds it.
func moduleVariable(name string) string {
	return "$" + unwordy().ReplaceAllString(strings.TrimSuffix(name, ".js"), "_")
}
