package experiment

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Picture is panels side by side, one below the other, with one legend.
type Picture struct {
	Title  string
	Panels []Panel
}

// Panel is one pair of axes.
type Panel struct {
	Title, X, Y string
	// Ticks are the words of the x axis, at 0, 1, 2 …; nil: numbers.
	Ticks      []string
	LogX, LogY bool
	Curves     []Curve
}

// Curve is a line with its points, which the legend names.
type Curve struct {
	Label string
	Spots []Spot
}

// Spot is a point of a curve with half the width of its interval.
type Spot struct {
	X, Y, Half float64
	Form       *float64 // what a closed form says; nil: there is none
	Open       bool     // the interval is wider than was asked for: the point is hollow
}

// formLabel is the legend's name of the crosses.
const formLabel = "closed form"

// Draw writes the picture in SVG. Its error names what has no place in it.
func (p *Picture) Draw(w io.Writer) error {
	labels, hasForms := p.labels()
	if len(p.Panels) == 0 || len(p.Panels) > maxPanels || len(labels) > maxLines {
		return fmt.Errorf("a picture has 1 to %d panels and at most %d lines; %q has %d and %d", maxPanels, maxLines, p.Title, len(p.Panels),
			len(labels))
	}
	width := panelWidth
	hasLegend := len(labels) > 1 || hasForms
	if hasLegend {
		width += legendWidth
	}
	canvas := vgsvg.New(width, headHeight+panelHeight*vg.Length(len(p.Panels)))
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	all.FillText(textStyle(12), vg.Point{X: margin, Y: all.Max.Y - headHeight + margin}, replaceIllegal(p.Title))
	for i := range p.Panels {
		top := headHeight + panelHeight*vg.Length(i)
		if err := p.Panels[i].draw(labels, draw.Crop(all, 0, panelWidth-width, all.Max.Y-top-panelHeight, -top)); err != nil {
			return err
		}
	}
	if hasLegend {
		drawLegend(labels, hasForms, draw.Crop(all, panelWidth, 0, 0, -headHeight))
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return err
	}
	_, err := w.Write(withFonts(out.Bytes()))
	return err
}

// withFonts names fonts of the same widths where the picture's is missing.
func withFonts(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
}

// labels are those of all panels, each once.
func (p *Picture) labels() (labels []string, hasForms bool) {
	for i := range p.Panels {
		for _, c := range p.Panels[i].Curves {
			if !slices.Contains(labels, c.Label) {
				labels = append(labels, c.Label)
			}
			hasForms = hasForms || slices.ContainsFunc(c.Spots, func(s Spot) bool { return s.Form != nil })
		}
	}
	return labels, hasForms
}

// draw draws the panel. Curves have the looks of their labels' places.
func (p *Panel) draw(labels []string, to draw.Canvas) error {
	axes := plot.New()
	axes.Title.Text, axes.Title.TextStyle.Font, axes.Title.Padding = clipText(replaceIllegal(p.Title), 3*maxLabel), textStyle(11).Font, 6
	axes.X.Label.Text, axes.Y.Label.Text = replaceIllegal(p.X), clipText(replaceIllegal(p.Y), maxLabel)
	styleAxes(axes)
	values := p.values()
	switch {
	case p.Ticks != nil:
		var marks []plot.Tick
		for i, word := range p.Ticks {
			marks = append(marks, plot.Tick{Value: float64(i), Label: replaceIllegal(word)})
		}
		axes.X.Tick.Marker = plot.ConstantTicks(marks)
		axes.X.Min, axes.X.Max = -0.3, float64(len(p.Ticks))-0.7
	case p.LogX:
		axes.X.Scale, axes.X.Tick.Marker = plot.LogScale{}, valueTicks(values)
	default:
		axes.X.Tick.Marker = valueTicks(values)
	}
	if p.Ticks == nil && len(values) > 0 {
		axes.X.Min, axes.X.Max = slices.Min(values), slices.Max(values)
	}
	if p.LogY {
		axes.Y.Scale, axes.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	for _, c := range p.Curves {
		if err := addCurve(axes, slices.Index(labels, c.Label), c); err != nil {
			return err
		}
	}
	if !p.LogY {
		padAxis(&axes.Y)
	}
	axes.Draw(draw.Crop(to, margin, -2*margin, margin, -margin))
	return nil
}

// styleAxes gives axes the looks of the house.
func styleAxes(p *plot.Plot) {
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = textStyle(11).Font, ink
		axis.Tick.Label.Font, axis.Tick.Label.Color = textStyle(10).Font, ink
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = ink, ink
		axis.Padding = 8
		axis.Tick.Marker = plot.TickerFunc(axisTicks)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = faint, faint
	p.Add(grid)
}

// values are the x of all spots, each once, rising.
func (p *Panel) values() (all []float64) {
	for _, c := range p.Curves {
		for _, s := range c.Spots {
			all = append(all, s.X)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// valueTicks marks each value of an axis.
func valueTicks(values []float64) plot.Ticker {
	var marks []plot.Tick
	for _, v := range values {
		marks = append(marks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return plot.ConstantTicks(marks)
}

func addCurve(p *plot.Plot, place int, c Curve) error {
	slices.SortFunc(c.Spots, func(a, b Spot) int { return cmp.Compare(a.X, b.X) })
	var line means
	var forms plotter.XYs
	var open []bool
	for _, s := range c.Spots {
		half := s.Half
		if math.IsInf(half, 0) || math.IsNaN(half) {
			half = 0
		}
		if math.Abs(s.Y)+half > maxDrawn {
			return fmt.Errorf("a picture has numbers up to %v, and %q a larger one", maxDrawn, c.Label)
		}
		line, open = append(line, mean{x: s.X, y: s.Y, half: half}), append(open, s.Open)
		if s.Form != nil {
			forms = append(forms, plotter.XY{X: s.X, Y: *s.Form})
		}
	}
	if len(line) == 0 {
		return nil
	}
	stroke, points, err := drawLine(place, line)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(line)
	if err != nil {
		return err
	}
	filled := points.GlyphStyle
	points.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		looks := filled
		if open[i] {
			looks.Shape = draw.RingGlyph{}
		}
		return looks
	}
	bars.LineStyle = draw.LineStyle{Color: stroke.Color, Width: 1}
	p.Add(bars, stroke, points)
	if len(forms) == 0 {
		return nil
	}
	crosses, err := plotter.NewScatter(forms)
	if err != nil {
		return err
	}
	crosses.GlyphStyle = formGlyph
	p.Add(crosses)
	return nil
}

var formGlyph = draw.GlyphStyle{Color: ink, Radius: 4, Shape: draw.CrossGlyph{}}

func drawLegend(labels []string, hasForms bool, to draw.Canvas) {
	legend := plot.NewLegend()
	legend.TextStyle = textStyle(10)
	legend.Top, legend.Left, legend.Padding, legend.ThumbnailWidth = true, true, 5, 26
	for i, label := range labels {
		if stroke, points, err := drawLine(i, means{{}}); err == nil && label != "" {
			legend.Add(clipText(replaceIllegal(label), maxLabel), stroke, points)
		}
	}
	if hasForms {
		if crosses, err := plotter.NewScatter(plotter.XYs{{}}); err == nil {
			crosses.GlyphStyle = formGlyph
			legend.Add(formLabel, crosses)
		}
	}
	legend.Draw(draw.Crop(to, margin, 0, 0, -2*margin))
}
