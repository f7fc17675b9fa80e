package page

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestAModuleIsLinkedAfterWhatItImports(t *testing.T) {
	got := string(linkModules(map[string][]byte{
		"main.js":   []byte("import * as b from './b.js';\nimport { x as y, z } from './of/a.js';\nb.go(y, z);\n"),
		"b.js":      []byte("import { z } from './of/a.js';\nexport let now = 0;\nexport async function go() { now = z; }\n"),
		"of/a.js":   []byte("import * as c from '../c.js';\nexport const x = c;\nexport class z {}\n"),
		"c.js":      []byte("const own = 1;\n"),
		"unused.js": []byte("unused();\n"),
	}, "main.js"))
	want := `const $c = (() => {
const own = 1;

return {  };
})();
const $of_a = (() => {
const c = $c;
const x = c;
class z {}

return { x, z };
})();
const $b = (() => {
const { z } = $of_a;
let now = 0;
async function go() { now = z; }

return { get now() { return now; }, go };
})();
const $main = (() => {
const b = $b;
const { x: y, z } = $of_a;
b.go(y, z);

return {  };
})();
`
	if got != want {
		t.Errorf("linked is\n%s\nwant\n%s", got, want)
	}
}

func TestWhatCannotBeLinkedIsABug(t *testing.T) {
	for name, modules := range map[string]map[string][]byte{
		"a circle":          {"main.js": []byte("import { a } from './a.js';"), "a.js": []byte("import { main } from './main.js';")},
		"a module too many": {"main.js": []byte("import { a } from './a.js';")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is linked", name)
				}
			}()
			linkModules(modules, "main.js")
		}()
	}
}

// The script has no import and no export left, and no module has a copy of a variable of another.
func TestThePageIsLinkedWhole(t *testing.T) {
	all := loadAssets()
	rest := regexp.MustCompile(`(?m)^(import|export)\b.*`)
	for _, name := range entries {
		if left := rest.FindString(string(all[name].plain)); left != "" {
			t.Errorf("%s has %s", name, left)
		}
	}
	changing := map[string]bool{}
	variables := regexp.MustCompile(`(?m)^export let (\w+)`)
	each(t, func(name, text string) {
		for _, found := range variables.FindAllStringSubmatch(text, -1) {
			changing[name+" "+found[1]] = true
		}
	})
	if len(changing) == 0 {
		t.Error("no module has a variable: this test looks for none")
	}
	each(t, func(name, text string) {
		for _, found := range imports().FindAllStringSubmatch(text, -1) {
			for one := range strings.SplitSeq(strings.Trim(found[2], "{ }"), ",") {
				one, _, _ = strings.Cut(strings.TrimSpace(one), " ")
				if from := path.Join(path.Dir(name), found[3]); changing[from+" "+one] {
					t.Errorf("%s imports the variable %s of %s by its name: import * as, so that each use reads it", name, one, from)
				}
			}
		}
	})
}
