package lab

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/runs/experiment"
)

// Page is what people read about results.
type Page struct {
	*Results
	Commit string // that the results are of; "": unknown
}

// WritePage writes the page as Markdown and HTML, and its pictures, into a folder.
func (p *Page) WritePage(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var pictures []picture
	for i, plot := range p.Plots {
		svg, err := p.drawPlot(plot)
		if err != nil {
			return err
		}
		one := picture{File: p.Name + "-" + plot.Measure + ".svg", Alt: p.altText(plot), SVG: svg}
		if slices.ContainsFunc(p.Plots[:i], func(before Plot) bool { return before.Measure == plot.Measure }) {
			one.File = fmt.Sprintf("%s-%s-%d.svg", p.Name, plot.Measure, i)
		}
		pictures = append(pictures, one)
		if err := os.WriteFile(filepath.Join(folder, one.File), svg, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(folder, p.Name+markdown), p.writeMarkdown(pictures), 0o644); err != nil {
		return err
	}
	html, err := p.writeHTML(pictures)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, p.Name+".html"), html, 0o644)
}

// picture is a plot of the page.
type picture struct {
	File, Alt string
	SVG       []byte
}

func (p *Page) altText(plot Plot) string {
	m := p.Measures[p.measureAt(plot.Measure)]
	return fmt.Sprintf("%s, %s, over %s", m.Name, m.Unit, plot.X)
}

// drawPlot is a plot: a panel for each value of its panel's axis, and a line for each value of
// its line's. Other axes are those of where, or of all their values in the label.
func (p *Page) drawPlot(plot Plot) ([]byte, error) {
	measure := p.measureAt(plot.Measure)
	m := p.Measures[measure]
	picture := experiment.Picture{Title: p.Title}
	byPanel := map[string]*experiment.Panel{}
	var order []string
	for _, r := range p.Points {
		if !p.isWhere(r.Point, plot.Where) {
			continue
		}
		name := p.axisLabel(r.Point, plot.Panel)
		panel := byPanel[name]
		if panel == nil {
			panel = &experiment.Panel{Title: panelTitle(name, m), X: p.describeAxis(plot.X), Y: m.Name, LogX: plot.LogX, LogY: plot.LogY}
			byPanel[name] = panel
			order = append(order, name)
		}
		axis := p.Axes[p.axisAt(plot.X)]
		value := r.Values[p.axisAt(plot.X)]
		spot := experiment.Spot{Y: r.Estimates[measure].Mean, Half: r.Estimates[measure].Half(), Form: p.formValueAt(r.Point, measure),
			Open: m.Precision > 0 && !(r.Estimates[measure].Half() <= m.Precision)}
		if x, isNumber := starlark.AsFloat(value); isNumber {
			spot.X = x
		} else {
			panel.Ticks = nil
			for i, v := range axis.Values {
				panel.Ticks = append(panel.Ticks, plainText(v))
				if plainText(v) == plainText(value) {
					spot.X = float64(i)
				}
			}
		}
		label := p.lineLabel(r.Point, plot)
		at := slices.IndexFunc(panel.Curves, func(c experiment.Curve) bool { return c.Label == label })
		if at < 0 {
			at = len(panel.Curves)
			panel.Curves = append(panel.Curves, experiment.Curve{Label: label})
		}
		panel.Curves[at].Spots = append(panel.Curves[at].Spots, spot)
	}
	for _, name := range order {
		picture.Panels = append(picture.Panels, *byPanel[name])
	}
	var out bytes.Buffer
	if err := picture.Draw(&out); err != nil {
		return nil, fmt.Errorf("%s: plot(%q): %w", p.Name, plot.Measure, err)
	}
	return out.Bytes(), nil
}

// maxTitle is how many characters fit over the narrowest panel.
const maxTitle = 78

// panelTitle has the unit, which may be longer than the axis: as much of it as fits, and the page lists units as well.
func panelTitle(name string, m Measure) string {
	before := ""
	if name != "" {
		before = name + ": "
	}
	short, _, _ := strings.Cut(m.Unit, ":")
	for _, unit := range []string{m.Unit, short} {
		if title := before + m.Name + ", " + unit; utf8.RuneCountInString(title) <= maxTitle {
			return title
		}
	}
	return before + m.Name
}

func (p *Page) isWhere(point Point, where map[string]starlark.Value) bool {
	for i, axis := range p.Axes {
		if want, limited := where[axis.Name]; limited && plainText(want) != plainText(point.Values[i]) {
			return false
		}
	}
	return true
}

// axisLabel is an axis with the value of a point; "" for no axis.
func (p *Page) axisLabel(point Point, axis string) string {
	if axis == "" {
		return ""
	}
	return axis + " = " + plainText(point.Values[p.axisAt(axis)])
}

// maxAxisLabel is how many characters fit under the narrowest panel.
const maxAxisLabel = 50

// describeAxis is an axis with its unit, where that fits: the page lists units as well.
func (p *Page) describeAxis(name string) string {
	unit := p.Axes[p.axisAt(name)].Unit
	if label := name + ", " + unit; unit != "" && utf8.RuneCountInString(label) <= maxAxisLabel {
		return label
	}
	return name
}

// lineLabel names a line by all axes that are neither x nor the panel, nor settled.
func (p *Page) lineLabel(point Point, plot Plot) string {
	var words []string
	for i, axis := range p.Axes {
		_, settled := plot.Where[axis.Name]
		if axis.Name != plot.X && axis.Name != plot.Panel && !settled && len(axis.Values) > 1 {
			words = append(words, axis.Name+" = "+plainText(point.Values[i]))
		}
	}
	return strings.Join(words, ", ")
}

func (p *Page) formAt(point Point, measure int) *Form {
	for i := range p.Forms {
		if f := &p.Forms[i]; f.Point.Index == point.Index && f.Measure == measure {
			return f
		}
	}
	return nil
}

// formValueAt is what a form foretells; nil if there is none.
func (p *Page) formValueAt(point Point, measure int) *float64 {
	if f := p.formAt(point, measure); f != nil {
		return &f.Value
	}
	return nil
}

// First is the first sentence of the page.
func (p *Page) First() string {
	if p.Answer.Text != "" {
		return p.Answer.Text
	}
	return fmt.Sprintf("There is no answer yet: %d of %d points have rows.", len(p.Points), len(p.points))
}

// State is how far the answer can be believed.
func (p *Page) State() string {
	least, most := -1, 0
	for _, r := range p.Points {
		if n := r.Estimates[0].Seeds; least < 0 || n < least {
			least = n
		}
		most = max(most, r.Estimates[0].Seeds)
	}
	seeds := fmt.Sprintf("%d seeds a point", most)
	if least < most {
		seeds = fmt.Sprintf("%d to %d seeds a point", least, most)
	}
	settled := "settled"
	if n := p.countUnsettled(); n > 0 {
		settled = fmt.Sprintf("not settled at %d of %d points", n, len(p.Points))
	}
	judged := p.countJudgedForms()
	state := fmt.Sprintf("%s, %s; closed forms held: %d of %d", capitalize(settled), seeds, judged-len(p.Misses()), judged)
	if open := len(p.Forms) - judged; open > 0 {
		state += fmt.Sprintf("; %d want more seeds", open)
	}
	return state + p.describeTwins() + "."
}

func (p *Page) countUnsettled() (n int) {
	for _, r := range p.Points {
		if !r.Settled {
			n++
		}
	}
	return n
}

// capitalize has the first letter of a text that is not empty as a capital.
func capitalize(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// Header are the columns of the table of points.
func (p *Page) Header() (names []string) {
	for _, axis := range p.Axes {
		names = append(names, axis.Name)
	}
	for _, m := range p.Measures {
		names = append(names, m.Name)
	}
	return append(names, "seeds")
}

// Cells are the rows of the table of points.
func (p *Page) Cells() (rows [][]string) {
	for _, r := range p.Points {
		var row []string
		for _, v := range r.Values {
			row = append(row, plainText(v))
		}
		for i := range p.Measures {
			text := r.Estimates[i].String()
			if form := p.formAt(r.Point, i); form != nil {
				text += " (form " + fourDigits(form.Value)
				if form.Tolerance > 0.01*math.Abs(form.Value) {
					text += " ± " + fourDigits(form.Tolerance)
				}
				text += ")"
			}
			row = append(row, text)
		}
		seeds := fmt.Sprint(r.Estimates[0].Seeds)
		if !r.Settled {
			seeds += ", not settled"
		}
		rows = append(rows, append(row, seeds))
	}
	return rows
}

// Units say what the axes and the measures are.
func (p *Page) Units() (units []string) {
	for _, axis := range p.Axes {
		if axis.Unit != "" {
			units = append(units, axis.Name+": "+axis.Unit)
		}
	}
	for _, m := range p.Measures {
		by := "mean"
		if m.Median {
			by = "median"
		}
		units = append(units, fmt.Sprintf("%s: %s; the %s over seeds", m.Name, m.Unit, by))
	}
	return units
}

// Notes say how to read the page and make it again.
func (p *Page) Notes() []string {
	interval := "Intervals hold their mean with a chance of 95 %."
	if p.Sequential {
		interval = "Intervals hold their mean with a chance of 95 % over all looks at 8, 16, 32 … seeds (98.4 % each)."
	}
	notes := []string{interval + " A point is hollow where its interval is wider than was asked for.",
		"A form is what a formula foretells of a point, with the file's tolerance where that is more than a hundredth. It holds if the " +
			"figure is no further away than the tolerance and half of the interval of 99.9 %. Points without one have no formula.",
		p.describeWorld(),
		fmt.Sprintf("One run again: devnet lab point %s %q --seed 1", p.Name, p.Describe(p.Points[0].Point))}
	if p.Commit != "" {
		notes = append(notes, "Of commit "+p.Commit+".")
	}
	return notes
}

// describeWorld says what the rows are of: a row of the world of votes has no blocks of a ledger.
func (p *Page) describeWorld() string {
	if len(p.Twins) > 0 {
		return "Runs are of the bare world: the ledger of one validator, without votes. Those with world = network are of a simulated network " +
			"of four validators, whose figures must agree with those of the bare world. The workload is named by the file; no traffic of a " +
			"real chain stands behind it."
	}
	if slices.ContainsFunc(p.Rows, func(r Row) bool { return r.Blocks > 0 }) {
		return "All runs are of the bare world: the ledger of one validator, without votes. The workload is named by the file; no traffic of a " +
			"real chain stands behind it."
	}
	return "All runs are of subsets, votes and thresholds alone, without links and a ledger. Which votes are carried, lost or false is drawn."
}

// Part is a paragraph below the answer.
type Part struct{ Title, Text string }

// Parts are the paragraphs below the answer, in their order. Empty ones are left out.
func (p *Page) Parts() (parts []Part) {
	for _, one := range []Part{{"The price", p.Answer.Price}, {"What it would change", p.Answer.Design}, {"The question", p.Question},
		{"The runs", p.Setup}, {"What would change the answer", p.Answer.WouldChange}, {"How far to believe it", p.State()},
		{"Asked by", p.describeAsks()}} {
		if one.Text != "" {
			if first, _, _ := strings.Cut(one.Text, " "); !strings.ContainsAny(first, "._") { // a parameter is as it is typed
				one.Text = capitalize(one.Text)
			}
			one.Text = strings.TrimSuffix(one.Text, ".")
			if !strings.HasSuffix(one.Text, "?") {
				one.Text += "."
			}
			parts = append(parts, one)
		}
	}
	return parts
}

// describeAsks are the sections that ask, and the findings about it.
func (p *Page) describeAsks() string {
	var sections, findings []string
	for _, ask := range p.Asks {
		if isFinding(ask) {
			findings = append(findings, ask)
		} else {
			sections = append(sections, ask)
		}
	}
	text := strings.Join(sections, ", ")
	if len(findings) > 0 {
		text += "; findings of docs/SPEC.md: " + strings.Join(findings, ", ")
	}
	return text
}

// isFinding reports whether what asks is a finding, as F22.
func isFinding(ask string) bool {
	number, is := strings.CutPrefix(ask, "F")
	return is && number != "" && strings.Trim(number, "0123456789") == ""
}

func (p *Page) writeMarkdown(pictures []picture) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", p.Title, wrapParagraph("**"+p.First()+"**"))
	for _, part := range p.Parts() {
		fmt.Fprintf(&b, "%s\n\n", wrapParagraph("**"+part.Title+".** "+part.Text))
	}
	for _, one := range pictures {
		fmt.Fprintf(&b, "![%s](%s)\n\n", one.Alt, one.File)
	}
	fmt.Fprintf(&b, "## Every point\n\n")
	for _, unit := range p.Units() {
		fmt.Fprintf(&b, "%s\n", wrapParagraph("- "+unit))
	}
	b.WriteString("\n| " + strings.Join(p.Header(), " | ") + " |\n|" + strings.Repeat("---|", len(p.Header())) + "\n")
	for _, row := range p.Cells() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	b.WriteString("\n## Notes\n\n")
	for _, note := range p.Notes() {
		fmt.Fprintf(&b, "%s\n", wrapParagraph("- "+note))
	}
	return b.Bytes()
}

// lineWidth is the longest line of a page in Markdown, in characters.
const lineWidth = 138

// wrapParagraph breaks a paragraph into lines.
func wrapParagraph(text string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width+1+n > lineWidth:
			b.WriteByte('\n')
			width = -1
		default:
			b.WriteByte(' ')
		}
		b.WriteString(word)
		width += n + 1
	}
	return b.String()
}

var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

const pageText = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{.P.Title}}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 58rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
h1 { font-size: 1.5rem } .answer { font-size: 1.15rem; border-left: 4px solid #0072b2; padding-left: 1rem }
table { border-collapse: collapse; font-size: .9rem } td, th { border-bottom: 1px solid #ddd; padding: .2rem .6rem; text-align: left }
svg { max-width: 100%; height: auto } .wide { overflow-x: auto }
</style>
<h1>{{.P.Title}}</h1>
<p class="answer">{{.P.First}}</p>
{{range .P.Parts}}<p><b>{{.Title}}.</b> {{.Text}}</p>
{{end}}{{range .Pictures}}<figure role="img" aria-label="{{.Alt}}">{{.SVG}}</figure>
{{end}}<h2>Every point</h2>
<ul>{{range .P.Units}}<li>{{.}}</li>{{end}}</ul>
<div class="wide"><table><tr>{{range .P.Header}}<th>{{.}}</th>{{end}}</tr>
{{range .P.Cells}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table></div>
<h2>Notes</h2>
<ul>{{range .P.Notes}}<li>{{.}}</li>{{end}}</ul>
</html>
`

func (p *Page) writeHTML(pictures []picture) ([]byte, error) {
	type inline struct {
		Alt string
		SVG template.HTML
	}
	var shownPictures []inline
	for _, one := range pictures {
		svg := one.SVG[max(0, bytes.Index(one.SVG, []byte("<svg"))):]
		shownPictures = append(shownPictures, inline{one.Alt, template.HTML(svg)})
	}
	var b bytes.Buffer
	err := pageTemplate().Execute(&b, map[string]any{"P": p, "Pictures": shownPictures})
	return b.Bytes(), err
}

// markdown ends the name of a page, and guide is the one that tells how to ask.
const (
	markdown = ".md"
	guide    = "LAB" + markdown
)

// WriteIndex writes the list of pages into a folder, in the order given.
func WriteIndex(folder string, pages []*Page) error {
	var b bytes.Buffer
	b.WriteString("# Answers of the lab\n\n" + wrapParagraph("Each page answers one question of the drafts with figures of the real rules. "+
		"[The guide](../"+guide+") says how to ask another.") + "\n\n")
	for _, p := range pages {
		fmt.Fprintf(&b, "## [%s](%s)\n\n%s\n\n", p.Title, p.Name+markdown, wrapParagraph(p.First()))
		if p.Answer.Price != "" {
			fmt.Fprintf(&b, "%s\n\n", wrapParagraph("**The price.** "+p.Answer.Price+"."))
		}
		fmt.Fprintf(&b, "%s\n\n", wrapParagraph(p.Question+" "+p.State()))
	}
	if len(pages) > 0 && pages[0].Commit != "" {
		fmt.Fprintf(&b, "%s\n", wrapParagraph("Of commit "+pages[0].Commit+". The pages are also there as HTML, each in one file."))
	}
	return os.WriteFile(filepath.Join(folder, "README.md"), b.Bytes(), 0o644)
}
