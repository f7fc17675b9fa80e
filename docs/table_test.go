package docs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// row is a line of a table of SPEC.md.
type row struct {
	line    int
	section string // the heading above it
	cells   []string
}

// document is SPEC.md taken apart.
type document struct {
	rows     []row
	findings map[string]string // F1 → heading and text
	order    []string          // of findings
}

var (
	heading  = regexp.MustCompile(`^(#{2,3}) (.+)$`)
	finding  = regexp.MustCompile(`^(F\d+) · .+`)
	quoted   = regexp.MustCompile("`([^`]+)`")
	decision = regexp.MustCompile(`^[CTJG]\d+$`)
)

func parse(text string) *document {
	d := &document{findings: make(map[string]string)}
	section, current := "", ""
	for i, line := range strings.Split(text, "\n") {
		if m := heading.FindStringSubmatch(line); m != nil {
			current = ""
			if f := finding.FindStringSubmatch(m[2]); f != nil && m[1] == "###" {
				current = f[1]
				d.order = append(d.order, current)
				d.findings[current] += m[2] + "\n"
			} else if m[1] == "##" {
				section = m[2]
			}
			continue
		}
		if current != "" {
			d.findings[current] += line + "\n"
		}
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| section ") && !strings.HasPrefix(line, "| choice ") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			for j := range cells {
				cells[j] = strings.TrimSpace(cells[j])
			}
			d.rows = append(d.rows, row{line: i + 1, section: section, cells: cells})
		}
	}
	return d
}

const choices = "Builder's choices"

// none is the text of a cell that has nothing to name.
const none = "—"

// check holds a SPEC.md against the sources and against what it has to cover,
// and returns what is wrong.
func check(text string, s *sources, required []string, words map[string][]string) (wrong []string) {
	d := parse(text)
	report := func(r row, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("line %d, %s: ", r.line, r.cells[0])+fmt.Sprintf(format, args...))
	}
	said := make(map[string]string) // section → its rows' words
	used := make(map[string]bool)   // findings
	for _, r := range d.rows {
		if r.section == choices {
			checkChoice(r, s, report)
			continue
		}
		if len(r.cells) != 5 {
			report(r, "a row has 5 cells: section, what, code, test, status; this has %d", len(r.cells))
			continue
		}
		said[r.cells[0]] += r.cells[1] + "\n"
		checkRow(r, d, s, used, report)
	}
	for _, id := range required {
		if said[id] == "" {
			wrong = append(wrong, id+" is missing from the table")
		}
	}
	for id, all := range words {
		for _, w := range all {
			if !strings.Contains(said[id], w) {
				wrong = append(wrong, fmt.Sprintf("%s: no row quotes %q", id, w))
			}
		}
	}
	return append(wrong, d.checkFindings(s, used)...)
}

func checkRow(r row, d *document, s *sources, used map[string]bool, report func(row, string, ...any)) {
	built := true
	for _, status := range strings.Split(r.cells[4], "; ") {
		kind, detail, _ := strings.Cut(strings.TrimSuffix(status, ")"), " (")
		switch {
		case status == "as written", status == "builder's choice":
		case kind == "deviation":
			for _, id := range strings.Split(strings.TrimPrefix(detail, "decision "), ", ") {
				if !strings.HasPrefix(detail, "decision ") || !decision.MatchString(id) {
					report(r, "status %q names no decision", status)
				}
			}
		case kind == "finding":
			if d.findings[detail] == "" {
				report(r, "there is no finding %q", detail)
			}
			used[detail] = true
		case kind == "not built" && strings.HasPrefix(detail, "issue "):
			built = false
		default:
			report(r, "unknown status %q", status)
		}
	}
	checkNames(r, "code", r.cells[2], built, s.code, report)
	checkNames(r, "test", r.cells[3], built, s.test, report)
}

// checkNames checks the quoted names of a cell: at least one if the thing is built,
// none if it is not.
func checkNames(r row, what, cell string, built bool, judge func(string) string, report func(row, string, ...any)) {
	names := quoted.FindAllStringSubmatch(cell, -1)
	if built == (len(names) == 0) {
		report(r, "the %s cell is %q", what, cell)
	}
	if !built && cell != none {
		report(r, "not built, and its %s cell is %q", what, cell)
	}
	for _, name := range names {
		if problem := judge(name[1]); problem != "" {
			report(r, "%s", problem)
		}
	}
}

func checkChoice(r row, s *sources, report func(row, string, ...any)) {
	if len(r.cells) != 4 {
		report(r, "a choice has 4 cells: choice, what was chosen and why, code, test; this has %d", len(r.cells))
		return
	}
	checkNames(r, "code", r.cells[2], true, s.code, report)
	if r.cells[3] != none {
		checkNames(r, "test", r.cells[3], true, s.test, report)
	}
}

// checkFindings: each has a greater number than the one before it, is named by a row, and
// shown by a test. A number is never given again, so that some may be missing.
func (d *document) checkFindings(s *sources, used map[string]bool) (wrong []string) {
	last := 0
	for _, id := range d.order {
		number, _ := strconv.Atoi(id[1:])
		if number <= last {
			wrong = append(wrong, fmt.Sprintf("finding %s is where one above F%d belongs", id, last))
		}
		last = number
		if !used[id] {
			wrong = append(wrong, id+": no row of the table has it")
		}
		_, shown, ok := strings.Cut(d.findings[id], "Shown by ")
		if !ok || !quoted.MatchString(shown) {
			wrong = append(wrong, id+": it says by no test what shows it")
			continue
		}
		for _, name := range quoted.FindAllStringSubmatch(shown, -1) {
			if problem := s.test(name[1]); problem != "" {
				wrong = append(wrong, id+": "+problem)
			}
		}
	}
	return wrong
}
