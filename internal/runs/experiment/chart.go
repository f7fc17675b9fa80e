package experiment

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of a picture.
const (
	panelWidth  = 6.2 * vg.Inch
	panelHeight = 3.2 * vg.Inch
	legendWidth = 2.2 * vg.Inch // beside the panels, if there are several lines
	margin      = 0.12 * vg.Inch
	headHeight  = 0.45 * vg.Inch
	// maxPanels and maxLines bound a picture: each measure is a panel.
	maxPanels = 12
	maxLines  = 12
	// maxLabel bounds the words of a line, in characters.
	maxLabel = 34
	// maxDrawn is the largest number that axes are drawn to.
	maxDrawn = 1e100
)

// lines tells the lines of a panel apart, for the colour-blind and on paper too: the colours
// of Okabe and Ito, then dashes and shapes.
var lines = struct {
	colours []color.Color
	dashes  [][]vg.Length
	shapes  []draw.GlyphDrawer
}{
	[]color.Color{color.NRGBA{0, 114, 178, 255}, color.NRGBA{213, 94, 0, 255}, color.NRGBA{0, 158, 115, 255}, color.NRGBA{204, 121, 167, 255},
		color.NRGBA{86, 180, 233, 255}, color.NRGBA{230, 159, 0, 255}, color.NRGBA{0, 0, 0, 255}},
	[][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}},
	[]draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}},
}

// Colours of all but the lines.
var (
	ink   = color.NRGBA{40, 40, 40, 255}
	faint = color.NRGBA{225, 225, 225, 255}
)

// CheckDraw says why a grid cannot be drawn, before anything runs for it.
func CheckDraw(grid Grid) error {
	x := grid.Numeric()
	if x < 0 {
		return fmt.Errorf("a picture needs a setting with several numbers")
	}
	if values, _ := grid[x].numericValues(); slices.ContainsFunc(values, func(v float64) bool { return math.Abs(v) > maxDrawn }) {
		return fmt.Errorf("a picture has numbers up to %v, and %s has a larger one", maxDrawn, grid[x].Name)
	}
	if others := grid.Size() / len(grid[x].Values); others > maxLines {
		return fmt.Errorf("the other settings of the grid are %d lines, and a picture has at most %d", others, maxLines)
	}
	return nil
}

// Draw writes the results as a picture in SVG: a panel for each measure, over the first
// setting with several numbers, and a line for each point of the other settings. It returns
// the names of measures that have no panel, beyond the first maxPanels.
func (s *Study) Draw(w io.Writer) (without []string, err error) {
	shown := s.measures
	if len(shown) > maxPanels {
		for _, m := range shown[maxPanels:] {
			without = append(without, m.name)
		}
		shown = shown[:maxPanels]
	}
	groups := s.grid.listLines()
	width := panelWidth
	if len(groups) > 1 {
		width += legendWidth
	}
	canvas := vgsvg.New(width, headHeight+panelHeight*vg.Length(len(shown)))
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	s.drawHeading(all)
	for i := range shown {
		top := headHeight + panelHeight*vg.Length(i)
		panel := draw.Crop(all, 0, panelWidth-width, all.Max.Y-top-panelHeight, -top)
		if err := s.drawPanel(i, groups, panel); err != nil {
			return nil, err
		}
	}
	if len(groups) > 1 {
		s.drawLegend(groups, draw.Crop(all, panelWidth, 0, 0, -headHeight))
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, err
	}
	_, err = w.Write(withFonts(out.Bytes()))
	return without, err
}

// line is the points of a grid that differ only in the setting of the x axis.
type line struct {
	label  string
	points []int
}

// listLines are those of a grid, in its order.
func (g Grid) listLines() (all []line) {
	x, at := g.Numeric(), map[string]int{}
	for point := range g.Size() {
		var words []string
		for i, setting := range g.Point(point) {
			if i != x && len(g[i].Values) > 1 {
				words = append(words, setting.Name+" = "+cmp.Or(setting.Text, `""`))
			}
		}
		label := strings.Join(words, ", ")
		if _, known := at[label]; !known {
			at[label] = len(all)
			all = append(all, line{label: label})
		}
		all[at[label]].points = append(all[at[label]].points, point)
	}
	return all
}

// textStyle is that of a text of a size, in points.
func textStyle(size vg.Length) text.Style {
	return text.Style{Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: plot.DefaultTextHandler}
}

// drawHeading writes what the picture shows, above the panels.
func (s *Study) drawHeading(all draw.Canvas) {
	least, most := math.MaxInt, 0
	for _, point := range s.points {
		for i := range point {
			if n := point[i].own.n; n > 0 {
				least, most = min(least, n), max(most, n)
			}
		}
	}
	seeds := strconv.Itoa(most)
	if least < most {
		seeds = fmt.Sprintf("%d to %d", least, most)
	}
	title := fmt.Sprintf("%s: mean and 95 %% interval over %s seeds", replaceIllegal(filepath.Base(s.File)), seeds)
	all.FillText(textStyle(12), vg.Point{X: margin, Y: all.Max.Y - headHeight + margin}, title)
}

// drawPanel draws one measure.
func (s *Study) drawPanel(measure int, groups []line, to draw.Canvas) error {
	p := plot.New()
	x := s.grid.Numeric()
	p.X.Label.Text = replaceIllegal(s.grid[x].Name)
	p.Y.Label.Text = clipText(replaceIllegal(s.measures[measure].name), maxLabel)
	if unit := s.measures[measure].unit; unit != "" {
		p.Y.Label.Text += " (" + clipText(replaceIllegal(unit), maxLabel) + ")"
	}
	styleAxes(p)
	values, _ := s.grid[x].numericValues()
	p.X.Min, p.X.Max = slices.Min(values), slices.Max(values)
	for i, group := range groups {
		means := s.readMeans(measure, group, values, x)
		if slices.ContainsFunc(means, func(m mean) bool { return math.Abs(m.y)+m.half > maxDrawn }) {
			return fmt.Errorf("a picture has numbers up to %v, and %q a larger one", maxDrawn, s.measures[measure].name)
		}
		for _, part := range means.splitAtGaps() {
			if err := addLine(p, i, part); err != nil {
				return err
			}
		}
	}
	padAxis(&p.Y)
	p.Draw(draw.Crop(to, margin, -2*margin, margin, -margin))
	return nil
}

// mean is a point of a line, at a value of the x axis.
type mean struct {
	x, y, half float64
	missing    bool // no run of the point has a figure
}

// means are the points of a line, by rising x.
type means []mean

// readMeans reads those of a line.
func (s *Study) readMeans(measure int, group line, values []float64, x int) (all means) {
	for _, at := range group.points {
		one := mean{x: values[s.grid.valueAt(at, x)], missing: true}
		if measure < len(s.points[at]) && s.points[at][measure].own.n > 0 {
			e := s.points[at][measure].own.estimateMean(&s.t)
			one.y, one.missing = e.Mean, false
			if e.HalfWidth != nil {
				one.half = *e.HalfWidth
			}
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b mean) int { return cmp.Compare(a.x, b.x) })
	return all
}

// splitAtGaps are the stretches of a line without a gap.
func (m means) splitAtGaps() (parts []means) {
	for from := 0; from < len(m); {
		to := from
		for to < len(m) && !m[to].missing {
			to++
		}
		if to > from {
			parts = append(parts, m[from:to])
		}
		from = to + 1
	}
	return parts
}

// Len implements plotter.XYer.
func (m means) Len() int { return len(m) }

// XY implements plotter.XYer.
func (m means) XY(i int) (x, y float64) { return m[i].x, m[i].y }

// YError implements plotter.YErrorer.
func (m means) YError(i int) (low, high float64) { return m[i].half, m[i].half }

// addLine draws a stretch of a line with its points and intervals.
func addLine(p *plot.Plot, i int, m means) error {
	stroke, points, err := drawLine(i, m)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(m)
	if err != nil {
		return err
	}
	bars.LineStyle = draw.LineStyle{Color: stroke.Color, Width: 1}
	p.Add(bars, stroke, points)
	return nil
}

// drawLine is a line with its points, in the looks of its place.
func drawLine(i int, m means) (*plotter.Line, *plotter.Scatter, error) {
	stroke, points, err := plotter.NewLinePoints(m)
	if err != nil {
		return nil, nil, err
	}
	colour := lines.colours[i%len(lines.colours)]
	stroke.LineStyle = draw.LineStyle{Color: colour, Width: 1.4, Dashes: lines.dashes[i%len(lines.dashes)]}
	points.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: 2.8, Shape: lines.shapes[i%len(lines.shapes)]}
	return stroke, points, nil
}

// drawLegend names the lines, beside the panels.
func (s *Study) drawLegend(groups []line, to draw.Canvas) {
	legend := plot.NewLegend()
	legend.TextStyle = textStyle(10)
	legend.Top, legend.Left, legend.Padding, legend.ThumbnailWidth = true, true, 5, 26
	for i, group := range groups {
		stroke, points, err := drawLine(i, means{{}})
		if err == nil {
			legend.Add(clipText(replaceIllegal(group.label), maxLabel), stroke, points)
		}
	}
	legend.Draw(draw.Crop(to, margin, 0, 0, -2*margin))
}

// padAxis begins an axis at zero where that is near, and leaves some room around its figures.
func padAxis(axis *plot.Axis) {
	if room := (axis.Max - axis.Min) / 20; room > 0 {
		axis.Min, axis.Max = axis.Min-room, axis.Max+room
	}
	if axis.Max > 0 && axis.Min < axis.Max/2 && axis.Min > -axis.Max/20 {
		axis.Min = 0
	}
	if axis.Max-axis.Min <= 1e-9*math.Abs(axis.Max) {
		room := max(1, math.Abs(axis.Min)/10)
		axis.Min, axis.Max = axis.Min-room, axis.Max+room
	}
}

// someTicks is about how many marks an axis has.
const someTicks = 5

// axisTicks are marks at multiples of 1, 2 or 5 of a power of ten.
func axisTicks(low, high float64) (marks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/someTicks)))
	for _, times := range []float64{5, 2} {
		if (high-low)/(times*step) >= someTicks-1 {
			step *= times
			break
		}
	}
	first := math.Ceil(low/step - 1e-9)
	for i := range 4 * someTicks {
		value := (first + float64(i)) * step
		if !(value <= high+step*1e-9) { // also where the range is too small for floats
			break
		}
		marks = append(marks, plot.Tick{Value: value, Label: tickLabel(value)})
	}
	return marks
}

// tickLabel is a number without noise of its last digits.
func tickLabel(f float64) string {
	if size := math.Abs(f); size >= 1e7 || size != 0 && size < 1e-4 {
		return strconv.FormatFloat(f, 'g', 4, 64)
	}
	text := strconv.FormatFloat(f, 'f', 6, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// replaceIllegal replaces what XML cannot hold.
func replaceIllegal(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

// clipText is a text of at most a number of characters.
func clipText(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return text
}
