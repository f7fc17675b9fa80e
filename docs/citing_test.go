package docs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rules is what may be cited: the sections of DECISIONS.md, the findings of
// SPEC.md, the sections of each draft by DRAFTS.md, and the pages there are.
type rules struct {
	files     fs.FS
	decisions map[string]string // C4 → its heading
	findings  map[string]string // F16 → its heading
	sections  map[string]map[string]int
}

var (
	ruleHeading = regexp.MustCompile(`(?m)^### (([CTJG]\d+)\. .+)$`)
	findHeading = regexp.MustCompile(`(?m)^### ((F\d+) · .+)$`)
	draftRow    = regexp.MustCompile(`(?m)^\| ((?:CIP-\d+)(?: first revision)?) \| (\d[^|]*) \|$`)
	aSection    = regexp.MustCompile(`^(\d+(?:\.\d+)*)(?: \(steps 1-(\d+)\))?$`)
)

func newRules(files fs.FS) (*rules, error) {
	r := &rules{files: files, decisions: map[string]string{}, findings: map[string]string{}, sections: map[string]map[string]int{}}
	for page, fill := range map[string]func(string){
		"docs/DECISIONS.md": func(text string) {
			for _, m := range ruleHeading.FindAllStringSubmatch(text, -1) {
				r.decisions[m[2]] = m[1]
			}
		},
		"docs/SPEC.md": func(text string) {
			for _, m := range findHeading.FindAllStringSubmatch(text, -1) {
				r.findings[m[2]] = m[1]
			}
		},
		"docs/DRAFTS.md": func(text string) {
			for _, m := range draftRow.FindAllStringSubmatch(text, -1) {
				r.sections[m[1]] = sectionsOf(m[2])
			}
		},
	} {
		text, err := fs.ReadFile(files, page)
		if err != nil {
			return nil, err
		}
		fill(string(text))
	}
	return r, nil
}

// sectionsOf reads "1, 2.1, 3 (steps 1-11)": the steps of each section.
func sectionsOf(list string) map[string]int {
	out := map[string]int{}
	for _, item := range strings.Split(list, ", ") {
		if m := aSection.FindStringSubmatch(item); m != nil {
			steps, _ := strconv.Atoi(m[2])
			out[m[1]] = steps
		}
	}
	return out
}

var (
	citedRule  = regexp.MustCompile(`\b[CTJGF][1-9]\d?\b`)
	citedPage  = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	citedDraft = regexp.MustCompile(`\b(CIP-\d+)(,? first revision)?,? §`)
	aLink      = regexp.MustCompile(`\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$`)
)

// check returns a file's citations of missing things, each with its line. It does
// not see a citation that a line break parts ("CIP-1" at an end, "§3" on the next
// line).
func (r *rules) check(file, text string) (wrong []string) {
	for i, line := range strings.Split(text, "\n") {
		for _, what := range r.line(file, line) {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s", file, i+1, what))
		}
	}
	return wrong
}

func (r *rules) line(file, line string) (wrong []string) {
	for _, name := range citedRule.FindAllString(line, -1) {
		switch {
		case name[0] == 'F' && r.findings[name] == "":
			wrong = append(wrong, "SPEC.md has no finding "+name)
		case name[0] != 'F' && r.decisions[name] == "":
			wrong = append(wrong, "DECISIONS.md has no section "+name)
		}
	}
	if strings.Contains(line, ".md") {
		for _, page := range citedPage.FindAllString(line, -1) {
			if !r.page(file, page) {
				wrong = append(wrong, "there is no page "+page)
			}
		}
	}
	if !strings.Contains(line, "§") {
		return append(wrong, r.linksOf(file, line)...)
	}
	for _, at := range citedDraft.FindAllStringSubmatchIndex(line, -1) {
		draft := line[at[2]:at[3]]
		if at[4] >= 0 {
			draft += " first revision"
		}
		wrong = append(wrong, r.draft(draft, line[at[1]-len("§"):])...)
	}
	return append(wrong, r.linksOf(file, line)...)
}

// linksOf checks the links of a line of a page.
func (r *rules) linksOf(file, line string) (wrong []string) {
	if !strings.HasSuffix(file, ".md") {
		return nil
	}
	for _, m := range aLink.FindAllStringSubmatch(line, -1) {
		wrong = append(wrong, r.link(file, m[1]+m[2])...)
	}
	return wrong
}

// page reports whether a page exists as it is cited: from the file's own
// directory, from the top, or by the name of one in docs.
func (r *rules) page(file, name string) bool {
	for _, base := range []string{path.Dir(file), ".", "docs"} {
		if full := path.Join(base, name); fs.ValidPath(full) {
			if _, err := fs.Stat(r.files, full); err == nil {
				return true
			}
		}
	}
	return false
}

var (
	nextSection = regexp.MustCompile(`^(?:(?:,|;| and| to)? ?§{1,2})(\d+(?:\.\d+)*)`)
	nextNumber  = regexp.MustCompile(`^(?:,| and| to|-|–) ?(\d+(?:\.\d+)*)`)
	itsSteps    = regexp.MustCompile(`^,? steps? (\d+)((?:(?:,| and| to|,? and) \d+)*)`)
	aNumber     = regexp.MustCompile(`\d+`)
)

// draft reads "§3 steps 4, 6 and 8, §7.1" or "§§9.2, 9.4" from the beginning of
// rest and says which of them the draft does not have.
func (r *rules) draft(draft, rest string) (wrong []string) {
	known := r.sections[draft]
	if known == nil {
		return []string{"DRAFTS.md lists no sections of " + draft}
	}
	several := strings.HasPrefix(rest, "§§")
	for {
		m := nextSection.FindStringSubmatch(rest)
		if m == nil && several {
			m = nextNumber.FindStringSubmatch(rest)
		}
		if m == nil {
			return wrong
		}
		rest = rest[len(m[0]):]
		steps, there := known[m[1]]
		if !there {
			wrong = append(wrong, draft+" has no §"+m[1])
		}
		if s := itsSteps.FindStringSubmatch(rest); s != nil {
			rest = rest[len(s[0]):]
			for _, n := range aNumber.FindAllString(s[0], -1) {
				if step, _ := strconv.Atoi(n); there && (step < 1 || step > steps) {
					wrong = append(wrong, fmt.Sprintf("%s §%s has no step %d", draft, m[1], step))
				}
			}
		}
	}
}

var (
	aHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	inLink   = regexp.MustCompile(`\[([^\]]*)\](?:\([^)]*\))?`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// slug is the anchor that a heading gets where pages are shown.
func slug(heading string) string {
	heading = inLink.ReplaceAllString(heading, "$1")
	return strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// link checks a link within the repository, with its anchor.
func (r *rules) link(file, target string) []string {
	if strings.Contains(target, "://") {
		return nil
	}
	name, anchor, _ := strings.Cut(target, "#")
	full := file
	if name != "" {
		full = path.Join(path.Dir(file), name)
	}
	info, err := fs.Stat(r.files, full)
	if err != nil {
		return []string{"the link " + target + " leads nowhere"}
	}
	if anchor == "" || info.IsDir() {
		return nil
	}
	text, err := fs.ReadFile(r.files, full)
	if err != nil {
		return []string{err.Error()}
	}
	for _, m := range aHeading.FindAllStringSubmatch(string(text), -1) {
		if slug(m[1]) == anchor {
			return nil
		}
	}
	return []string{"the link " + target + " names no heading of " + full}
}

// links are the definitions that DECISIONS.md ends with, one for each decision
// and finding, in their order.
func (r *rules) links() string {
	var out strings.Builder
	for _, group := range []struct {
		page string
		of   map[string]string
	}{{"", r.decisions}, {"SPEC.md", r.findings}} {
		names := make([]string, 0, len(group.of))
		for name := range group.of {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return compareRules(a, b) })
		for _, name := range names {
			fmt.Fprintf(&out, "[%s]: %s#%s\n", name, group.page, slug(group.of[name]))
		}
	}
	return out.String()
}

// compareRules orders C before T before J before G, and F last, each by number.
func compareRules(a, b string) int {
	const letters = "CTJGF"
	if d := strings.IndexByte(letters, a[0]) - strings.IndexByte(letters, b[0]); d != 0 {
		return d
	}
	x, _ := strconv.Atoi(a[1:])
	y, _ := strconv.Atoi(b[1:])
	return x - y
}
