package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// read calls visit with each text of the tree in which rules are cited. The
// tests of this package are left out: they plant broken citations.
func read(files fs.FS, visit func(file, text string)) error {
	return fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (file == ".git" || file == "bin" || d.Name() == "rapid" || d.Name() == "__pycache__" || d.Name() == ".devnet"):
			return fs.SkipDir
		case d.IsDir() || path.Dir(file) == "docs" && strings.HasSuffix(file, "_test.go"):
			return nil
		}
		switch path.Ext(file) {
		case ".go", ".py", ".md", ".star", ".json", ".yml", ".yaml", ".txtar", "":
		default:
			return nil
		}
		if path.Ext(file) == "" && path.Base(file) != "Makefile" && !strings.HasPrefix(file, "scripts/") &&
			!strings.Contains(file, "/transcripts/") {
			return nil
		}
		text, err := fs.ReadFile(files, file)
		if err == nil {
			visit(file, string(text))
		}
		return err
	})
}

// Whatever cites a decision, a finding, a page or a section of a draft cites one
// that there is.
func TestWhatIsCitedIsThere(t *testing.T) {
	r, err := newRules(checkout())
	if err != nil {
		t.Fatal(err)
	}
	files, cited := 0, 0
	err = read(checkout(), func(file, text string) {
		files++
		cited += len(citedRule.FindAllString(text, -1))
		for _, wrong := range r.check(file, text) {
			t.Error(wrong)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 || cited < 1000 {
		t.Errorf("%d files cite %d rules: the search misses some", files, cited)
	}
}

// Every decision says its rule, its reason and what it departs from; they are
// numbered without a gap; the links at the page's end are theirs.
func TestEveryDecisionIsWhole(t *testing.T) {
	r, err := newRules(checkout())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("DECISIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, wrong := range unwhole(text) {
		t.Error(wrong)
	}
	for letter, n := range map[string]int{"C": 18, "T": 31, "J": 20} {
		if r.decisions[letter+"1"] == "" || len(ofLetter(r.decisions, letter)) < n {
			t.Errorf("DECISIONS.md has %d decisions %s, fewer than %d: the parser misses some", len(ofLetter(r.decisions, letter)), letter, n)
		}
	}
	const begin, end = "<!-- links: go test ./docs -update -->\n", "<!-- end of links -->"
	before, rest, found := strings.Cut(text, begin)
	have, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("DECISIONS.md lacks the markers of its links")
	}
	if have != r.links() && !*update {
		t.Error("the links of DECISIONS.md are not those of its headings; go test ./docs -update writes them")
	}
	if *update {
		if err := os.WriteFile("DECISIONS.md", []byte(before+begin+r.links()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func ofLetter(decisions map[string]string, letter string) (out []string) {
	for name := range decisions {
		if name[:1] == letter {
			out = append(out, name)
		}
	}
	return out
}

// unwhole is what the sections of a page of decisions lack.
func unwhole(text string) (wrong []string) {
	last := ""
	for _, section := range regexp.MustCompile(`(?m)^### `).Split(text, -1)[1:] {
		title, body, _ := strings.Cut(section, "\n")
		name, _, ok := strings.Cut(title, ". ")
		if !ok || !decision.MatchString(name) {
			continue
		}
		body, _, _ = strings.Cut(body, "\n## ")
		for _, part := range []string{"**Rule.**", "**Why.**", "**Departs from.**"} {
			if strings.Count(body, part) != 1 {
				wrong = append(wrong, name+" says not once its "+part)
			}
		}
		if follows := last != "" && last[0] == name[0]; follows && compareRules(name, last) < 1 || !follows && name[1:] != "1" {
			wrong = append(wrong, name+" stands behind "+last)
		}
		last = name
	}
	return wrong
}

// rulesOf are planted pages with a decision, a finding and sections.
var rulesOf = fstest.MapFS{
	"docs/DECISIONS.md": {Data: []byte("## Chain\n\n### C1. Consensus\n\n### T1. Ids\n")},
	"docs/SPEC.md":      {Data: []byte("## Findings\n\n### F1 · It is wrong\n\n### F2 · `So` is this\n")},
	"docs/DRAFTS.md": {Data: []byte("| CIP-1 | 1, 3 (steps 1-11), 7, 7.1 |\n| CIP-1 first revision | 4, 4.1 |\n" +
		"| CIP-5 | 9.2, 9.4 |\n")},
	"README.md": {Data: []byte("# Top\n")},
}

// TestBrokenCitationsAreFound plants citations of missing things, and near misses.
func TestBrokenCitationsAreFound(t *testing.T) {
	r, err := newRules(rulesOf)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, line, want string }{
		{"a decision", "a.go", "// Spec: decision C1.", ""},
		{"no decision", "a.go", "// Spec: decision C2.", "no section C2"},
		{"the second of two", "a.go", "// decisions T1, T12", "no section T12"},
		{"one that is not built", "a.py", "# J1 says so", "no section J1"},
		{"a mutant's name", "a.go", `{name: "C01"}`, ""},
		{"a test's name", "a.go", "func TestT30Parameters()", ""},
		{"a finding", "a.star", "# F2 shows it", ""},
		{"no finding", "a.star", "# F3 shows it", "no finding F3"},
		{"a page by its name", "a.go", "// (SPEC.md)", ""},
		{"a page by its path", "a.go", "// docs/SPEC.md", ""},
		{"a page of the top", "docs/SPEC.md", "see README.md", ""},
		{"no page", "a.go", "// (interfaces.md).", "no page interfaces.md"},
		{"a page above the top", "a.go", "// ../specs/SPEC.md", "no page ../specs/SPEC.md"},
		{"a section", "a.go", "// CIP-1 §7.1 and §3 steps 4, 6 and 11, §7", ""},
		{"no section", "a.go", "// CIP-1 §7.2", "CIP-1 has no §7.2"},
		{"no second section", "a.go", "// CIP-1 §7 and §8", "CIP-1 has no §8"},
		{"of several", "a.go", "// CIP-5 §§9.2, 9.4 and 9.6", "CIP-5 has no §9.6"},
		{"a range of several", "a.go", "// CIP-5 §§9.2-9.4", ""},
		{"no step", "a.go", "// CIP-1 §3 step 12", "CIP-1 §3 has no step 12"},
		{"no last step", "a.go", "// CIP-1 §3, steps 4 and 12", "CIP-1 §3 has no step 12"},
		{"another revision", "a.go", "// CIP-1 first revision §4.1", ""},
		{"its missing section", "a.go", "// CIP-1, first revision, §7.1", "CIP-1 first revision has no §7.1"},
		{"an unknown draft", "a.go", "// CIP-9 §1", "no sections of CIP-9"},
		{"a link", "docs/SPEC.md", "[decision](DECISIONS.md#c1-consensus)", ""},
		{"a link to a heading with signs", "docs/SPEC.md", "[F2]: SPEC.md#f2--so-is-this", ""},
		{"a link upward", "docs/SPEC.md", "[readme](../README.md)", ""},
		{"a link to no file", "docs/SPEC.md", "[x](GONE.txt)", "leads nowhere"},
		{"a link to no heading", "docs/SPEC.md", "[x](DECISIONS.md#c2)", "names no heading"},
		{"a link within to no heading", "docs/SPEC.md", "[x](#c2)", "names no heading"},
		{"a link outside", "docs/SPEC.md", "[x](https://example.org/#c2)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := r.check(c.file, c.line)
			if c.want == "" && len(wrong) > 0 {
				t.Errorf("%q is accused: %q", c.line, wrong)
			}
			if c.want != "" && !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, c.want) }) {
				t.Errorf("%q: found %q, want %q", c.line, wrong, c.want)
			}
		})
	}
}

// TestUnwholeDecisionsAreFound breaks a right page of decisions.
func TestUnwholeDecisionsAreFound(t *testing.T) {
	const body = "\n\n**Rule.** It is.\n\n**Why.** So.\n\n**Departs from.** Nothing.\n\n"
	const right = "## Chain\n\n### C1. One" + body + "### C2. Two" + body + "## Timers\n\n### T1. Ids" + body + "### Parameters\n"
	if wrong := unwhole(right); len(wrong) > 0 {
		t.Fatalf("the right page is accused: %q", wrong)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"no reason", "**Why.** So.", "So.", "C1 says not once its **Why.**"},
		{"two rules", "**Why.** So.", "**Why.** So.\n\n**Rule.** Too.", "C1 says not once its **Rule.**"},
		{"another order", "### C2.", "### C0.", "C0 stands behind C1"},
		{"one twice", "### C2.", "### C1.", "C1 stands behind C1"},
		{"a part without its first", "### T1.", "### T2.", "T2 stands behind C2"},
	} {
		broken := strings.Replace(right, c.old, c.new, 1)
		if wrong := unwhole(broken); !slices.Contains(wrong, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, wrong, c.want)
		}
	}
}

// named matches text in backquotes that has a slash and no space: a path.
var named = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]*)+)`")

// The recipes name files that there are.
func TestTheRecipesNameWhatThereIs(t *testing.T) {
	data, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := 0
	for _, m := range named.FindAllStringSubmatch(string(data), -1) {
		if strings.Contains(m[1], "NAME") {
			continue
		}
		paths++
		if _, err := fs.Stat(checkout(), strings.TrimSuffix(m[1], "/")); err != nil && m[1] != "testdata/transcripts" {
			t.Errorf("CONTRIBUTING.md names %s, which does not exist", m[1])
		}
	}
	if paths < 40 {
		t.Errorf("%d paths were read: the search misses some", paths)
	}
}
