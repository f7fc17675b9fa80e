package lab

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/fixtures"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// carried loads an experiment of the program.
func carried(t testing.TB, name string) *Experiment {
	t.Helper()
	e, err := CarriedAs(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func loaded(t testing.TB, name, text string) *Experiment {
	t.Helper()
	e, err := Load(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// quickly runs few points of an experiment with few seeds.
func quickly(t testing.TB, e *Experiment) *Results {
	t.Helper()
	plan := Plan{Seeds: quickSeeds, Quick: true, Jobs: runtime.GOMAXPROCS(0), Out: t.TempDir()}
	rows, err := e.Run(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	results, err := e.Judge(rows, false)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func TestExperimentsHoldTheirClosedForms(t *testing.T) {
	folders, err := fixtures.Lab.ReadDir("lab")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Run(folder.Name(), func(t *testing.T) {
			e := carried(t, folder.Name())
			results := quickly(t, e)
			if len(results.Forms) == 0 {
				t.Error("no point of the quick grid has a closed form")
			}
			for _, f := range results.Forms {
				t.Logf("%s: %s is %s, the form says %s ± %s", e.Describe(f.Point), e.Measures[f.Measure].Name, f.Seen, fourDigits(f.Value),
					fourDigits(f.Tolerance))
				if !f.Holds() {
					t.Errorf("%s: %s is %s, the form says %s ± %s", e.Describe(f.Point), e.Measures[f.Measure].Name, f.Seen, fourDigits(f.Value),
						fourDigits(f.Tolerance))
				}
			}
		})
	}
}

// coin is an experiment that costs little: one bidder pays what it bids, half of the top
// value on average.
const coin = `
experiment(title = "A coin", question = "What does one bidder pay?", asks = ["F24"], grid = {"shade": [1000, 500], "side": ["a", "b"]},
    params = lambda p: {"cip1.policy": "bias-first-price", "cip5.bias_reserve_price": 0})

def play(p, net):
    net.lane(fires = 1)
    b = net.bidders("bidder " + p.side, members = 1, top = 1000000, permille = p.shade)
    net.run(warm = 2, blocks = 12)
    return dict(paid = net.tips / (net.blocks * 1000000))

measures(paid = dict(unit = "of the top value"))

def closed_form(p): return dict(paid = (p.shade / 2000, 0.0001))

plot("paid", x = "shade", line = "side")

def answer(t): return "It pays %s." % t.at(shade = 1000, side = "a").paid.text
`

// ran runs an experiment and returns its rows as a file has them.
func ran(t testing.TB, e *Experiment, p Plan) string {
	t.Helper()
	rows, err := e.Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, e, rows)
}

func written(t testing.TB, e *Experiment, rows []Row) string {
	t.Helper()
	var out bytes.Buffer
	if err := e.WriteRows(&out, rows); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFourShardsAreTheWhole(t *testing.T) {
	e := loaded(t, "coin", coin)
	whole := ran(t, e, Plan{Seeds: 6, Fixed: true, Jobs: 2, Out: t.TempDir()})
	out := t.TempDir()
	for shard := uint64(1); shard <= 4; shard++ {
		ran(t, e, Plan{Seeds: 6, Jobs: 2, Out: out, Shard: batch.Shard{Index: shard, Of: 4}})
	}
	rows, err := e.ReadRows(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, e, rows); got != whole {
		t.Errorf("four shards made\n%s\nand one run\n%s", got, whole)
	}
	if n := strings.Count(whole, "\n"); n != 1+4*6 {
		t.Errorf("the file has %d lines, want one and a row for each of 4 points and 6 seeds", n)
	}
}

// Seeds from another one on are others: none of their rows is one of the first seeds', and a part of them is as in the whole.
func TestSeedsFromAnotherOneOnAreOthers(t *testing.T) {
	e := loaded(t, "coin", coin)
	rowsFrom := func(first uint64, seeds int) []Row {
		rows, err := e.Run(t.Context(), Plan{First: first, Seeds: seeds, Fixed: true, Jobs: 2, Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	whole, other := rowsFrom(1, 5), rowsFrom(4, 2)
	for _, row := range other {
		same := slices.IndexFunc(whole, func(r Row) bool { return r.Key == row.Key })
		if row.Seed != 4 && row.Seed != 5 || same < 0 || !slices.Equal(whole[same].Figures, row.Figures) {
			t.Errorf("%+v", row)
		}
	}
	if len(other) != 2*len(whole)/5 {
		t.Errorf("%d rows of two seeds, and %d of five", len(other), len(whole))
	}
}

// A run that was killed left a torn last line: the next makes that row again, and no other.
func TestAKilledRunIsResumed(t *testing.T) {
	e := loaded(t, "coin", coin)
	plan := Plan{Seeds: 5, Fixed: true, Jobs: 1, Out: t.TempDir()}
	whole := ran(t, e, plan)
	path := filepath.Join(plan.Out, "coin", "points.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, torn := range []int{1, 20, len(data) / 2, len(data) - 30} {
		if err := os.WriteFile(path, data[:len(data)-torn], 0o644); err != nil {
			t.Fatal(err)
		}
		left := strings.Count(string(data[:len(data)-torn]), "\n")
		made := 0
		plan.Tell = func(p Progress) { made = p.Done }
		if got := ran(t, e, plan); got != whole {
			t.Errorf("%d bytes torn off: the file is\n%s\nwant\n%s", torn, got, whole)
		}
		if want := 21 - max(1, left); made != want {
			t.Errorf("%d bytes torn off: %d rows were made again, want %d", torn, made, want)
		}
	}
}

// A page says what the answer costs, who does what in a run, and what the values of an axis are. Parameters stay as they are typed.
func TestAPageSaysThePriceAndTheRuns(t *testing.T) {
	text := strings.Replace(coin, "grid =", `setup = "one bidder, one fire", units = {"shade": "thousandths"}, grid =`, 1)
	at := strings.Index(text, "def answer(t):")
	text = text[:at] + `def answer(t):
    return dict(text = "It pays %s." % t.at(shade = 1000, side = "a").paid.figure, price = "half of it", design = "cip5.x = 1")
`
	e := loaded(t, "coin", text)
	rows, err := e.Run(t.Context(), Plan{Seeds: 2, Fixed: true, Jobs: 2, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	results, err := e.Judge(rows, false)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := (&Page{Results: results}).WritePage(folder); err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"coin" + markdown: {"**The price.** Half of it.", "**What it would change.** cip5.x = 1.", "**The runs.** One bidder, one fire.",
			"- shade: thousandths"},
		"coin.html": {"<b>The price.</b> Half of it.", "<b>The runs.</b> One bidder, one fire.", "shade, thousandths"},
	} {
		page, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s has no %q:\n%s", file, want, page)
			}
		}
	}
	wrong := strings.Replace(text, `{"shade": "thou`, `{"shades": "thou`, 1)
	if _, err := Load("coin", []byte(wrong)); err == nil || !strings.Contains(err.Error(), "no axis") {
		t.Errorf("a unit of an axis that is not there: %v", err)
	}
}

// A picture names the unit of its axis where that fits under a panel. The page lists all units.
func TestAPictureNamesAUnitThatFits(t *testing.T) {
	for unit, want := range map[string]bool{"thousandths": true, "thousandths " + strings.Repeat("of a thousandth ", 4): false} {
		e := loaded(t, "coin", strings.Replace(coin, "grid =", `units = {"shade": "`+unit+`"}, grid =`, 1))
		rows, err := e.Run(t.Context(), Plan{Seeds: 2, Fixed: true, Jobs: 2, Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		results, err := e.Judge(rows, false)
		if err != nil {
			t.Fatal(err)
		}
		page := &Page{Results: results}
		svg, err := page.drawPlot(e.Plots[0])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(svg), "shade, thousandths") != want {
			t.Errorf("the picture names the unit %q: %v, want %v", unit, !want, want)
		}
	}
}

// A title over a panel has as much of the unit as fits.
func TestATitleHasTheUnitThatFits(t *testing.T) {
	long := strings.Repeat("of a ", 9)
	for unit, want := range map[string]string{
		"of the top value":        "side = a: paid, of the top value",
		long + "value: " + long:   "side = a: paid, " + long + "value",
		long + long + "value: it": "side = a: paid",
	} {
		if got := panelTitle("side = a", Measure{Name: "paid", Unit: unit}); got != want {
			t.Errorf("the title is %q, want %q", got, want)
		}
	}
}

func TestRowsOfAnotherTextAreMadeAgain(t *testing.T) {
	plan := Plan{Seeds: 2, Fixed: true, Jobs: 2, Out: t.TempDir()}
	before := ran(t, loaded(t, "coin", coin), plan)
	after := ran(t, loaded(t, "coin", strings.Replace(coin, "blocks = 12", "blocks = 13", 1)), plan)
	if before == after || strings.Count(after, "\n") != 1+4*2 {
		t.Errorf("with another length the rows are\n%s", after)
	}
	said := loaded(t, "coin", strings.Replace(coin, "It pays", "One pays", 1))
	for i := range 4 {
		if e := loaded(t, "coin", coin); e.Key(e.points[i], 1) != said.Key(said.points[i], 1) {
			t.Errorf("with another answer alone the row of %s is another", e.Describe(e.points[i]))
		}
	}
}

// presence is the call of another world than that of a file's crowds.
const presence = "net.presence(validators = 4, runners = 2, blocks = 1)"

func TestAMistakeOfTheFileNamesItsPlace(t *testing.T) {
	for wrong, want := range map[string]string{
		strings.Replace(coin, "net.lane(fires = 1)", "net.lane(fires = 0)", 1):                           "1 to 10000 fires",
		strings.Replace(coin, "warm = 2", "warm = -2", 1):                                                "coin/experiment.star:8",
		strings.Replace(coin, "dict(paid = net.tips", "dict(payed = net.tips", 1):                        "no figure of paid",
		strings.Replace(coin, `"cip5.bias_reserve_price": 0`, `"cip5.bias_no_such": 0`, 1):               "cip5.bias_no_such",
		strings.Replace(coin, "    net.run(", "    "+presence+"\n    net.run(", 1):                       "it stands alone, once, without crowds",
		strings.Replace(coin, "    net.lane(fires = 1)", "    "+presence+"\n    net.run(blocks = 1)", 1): "which stands alone",
	} {
		e := loaded(t, "coin", wrong)
		if _, err := e.Play(e.points[0], 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	for wrong, want := range map[string]string{
		strings.Replace(coin, `x = "shade"`, `x = "shape"`, 1):            "no axis",
		strings.Replace(coin, `plot("paid"`, `plot("pain"`, 1):            "no such measure",
		strings.Replace(coin, "[1000, 500]", "[1000, 0.5]", 1):            "a value of the grid",
		strings.Replace(coin, "def play(p, net)", "def plays(p, net)", 1): "no function play",
	} {
		if _, err := Load("coin", []byte(wrong)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// Arguments of crowds and of validators have their limits.
func TestAMistakeOfACrowdIsTold(t *testing.T) {
	for before, want := range map[string]string{
		"net.validators(number = 0)":                                                                         "takes 1 to 100",
		"net.run(blocks = 1)\n    net.validators(number = 2)":                                                "before the first net.run",
		`net.shill("shill", guess = "half")`:                                                                 "guess is a bid in wei",
		`net.self_tippers("owner", validators = 1, timers = -1)`:                                             "timers is 0 to 20000",
		`net.self_tippers("owner", validators = -1, timers = 1)`:                                             "validators is 0 to 100",
		`net.bidders("more", members = 1, top = 1, ahead = 0)`:                                               "ahead is at least 1",
		`net.bidders("more", members = 1, top = 1, size = 0)`:                                                "size is at least 1",
		`net.patient_bidders("more", members = 1, top = 1, size = 0)`:                                        "size is at least 1",
		`net.always_due("more", members = 1, size = 0)`:                                                      "size is at least 1",
		`net.always_due("more", members = 1, size = 2)`:                                                      "of a lane that holds 1",
		"net.shill(\"shill\")\n    net.always_due(\"more\", members = 1, size = 2)\n    net.lane(fires = 2)": "of one size",
	} {
		e := loaded(t, "coin", strings.Replace(coin, "    net.run(", "    "+before+"\n    net.run(", 1))
		if _, err := e.Play(e.points[0], 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", before, err, want)
		}
	}
}

// Traffic is within a transaction's cells, is named before the first block, and is of no world of votes.
func TestAMistakeOfTrafficIsTold(t *testing.T) {
	for before, want := range map[string]string{
		"net.traffic(cells = 100, most = 1)":                          "takes 200 to 1000000 cells",
		"net.run(blocks = 1)\n    net.traffic(cells = 500, most = 1)": "before the first net.run",
		"net.traffic(cells = 500, most = 1)\n    " + presence:         "without crowds and traffic",
	} {
		text := strings.Replace(coin, "    net.run(", "    "+before+"\n    net.run(", 1)
		if strings.Contains(before, presence) { // beside which no crowd stands
			text = strings.Replace(text, `net.bidders("bidder " + p.side, `, "dict(", 1)
		}
		e := loaded(t, "coin", text)
		if _, err := e.Play(e.points[0], 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", before, err, want)
		}
	}
}

// Lies that an experiment is there to find: each moves a figure, by as little as 1 %, and a
// closed form is missed. What is paid is held against what it is worth, so that no chance of
// the draws hides it.
func TestAPlantedLieTurnsRed(t *testing.T) {
	honest := strings.Replace(strings.Replace(coin, "net.tips / (net.blocks * 1000000)", "net.tips / b.worth", 1),
		"(p.shade / 2000, 0.0001)", "(p.shade / 1000, 0.001)", 1)
	for name, lie := range map[string][2]string{
		"nothing":          {"", ""},
		"payments swapped": {`"bias-first-price"`, `"bias-vcg"`},
		"a weight 1 % off": {"permille = p.shade", "permille = p.shade - p.shade // 100"},
		"a figure 1 % off": {"net.tips / b.worth", "net.tips * 101 / (b.worth * 100)"},
	} {
		results := quickly(t, loaded(t, "coin", strings.Replace(honest, lie[0], lie[1], 1)))
		misses := results.Misses()
		if wants := name != "nothing"; (len(misses) > 0) != wants {
			t.Errorf("%s: %d closed forms are missed: %v", name, len(misses), results.Forms)
		}
	}
}

// A median of few seeds has no interval of 99.9 %: its form is judged by all that was seen. A single seed judges none.
func TestAFormOfAMedianIsJudged(t *testing.T) {
	text := strings.Replace(coin, `paid = dict(unit`, `paid = dict(by = "median", unit`, 1)
	text = strings.Replace(text, "(p.shade / 2000, 0.0001)", "(p.shade / 1000, 0.0001)", 1)
	for seeds, want := range map[int]string{1: "held: 0 of 0; 4 want more seeds", 4: "held: 0 of 4", 8: "held: 0 of 4"} {
		e := loaded(t, "coin", text)
		var rows []Row
		for _, p := range e.points {
			for seed := range seeds {
				row, err := e.Play(p, uint64(seed+1))
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, row)
			}
		}
		results, err := e.Judge(rows, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Page{Results: results}).State(); !strings.Contains(got, want) {
			t.Errorf("%d seeds: %q, want %q", seeds, got, want)
		}
	}
}

// The interval of 95 % holds what it is about in 180 to 198 of 200 repeats, each of other
// seeds.
func TestIntervalsHoldTheFormAsOftenAsTheySay(t *testing.T) {
	e := loaded(t, "coin", coin)
	const repeats, seeds = 200, 8
	held := 0
	for repeat := range uint64(repeats) {
		var figures []float64
		for seed := range uint64(seeds) {
			row, err := e.Play(e.points[0], 1+repeat*seeds+seed)
			if err != nil {
				t.Fatal(err)
			}
			figures = append(figures, row.Figures[0])
		}
		if one := e.Measures[0].estimateFrom(figures, shown); one.Low <= 0.5 && 0.5 <= one.High {
			held++
		}
	}
	if held < 180 || held > 198 {
		t.Errorf("the interval held the form %d times of %d, want 180 to 198", held, repeats)
	}
}

func TestMediansHaveTheIntervalOfOrderStatistics(t *testing.T) {
	var figures []float64
	for i := range 16 {
		figures = append(figures, float64(16-i))
	}
	if e := estimateMedian(figures, shown); e.Low != 4 || e.High != 13 || e.Mean != 8.5 {
		t.Errorf("the median of 1..16 is %v from %v to %v, want 8.5 from 4 to 13", e.Mean, e.Low, e.High)
	}
	if e := estimateMedian(figures[:5], shown); !math.IsInf(e.Half(), 1) {
		t.Errorf("the interval of five seeds is %v wide, want none", e.Half())
	}
}

func TestEqualFiguresHaveNoInterval(t *testing.T) {
	if e := estimateMean([]float64{0.4, 0.4, 0.4}, shown); e.String() != "0.4 ± 0" {
		t.Errorf("the mean of three equal figures is %s, want 0.4 ± 0", e)
	}
}

func TestDifferencesArePairedBySeed(t *testing.T) {
	e := loaded(t, "coin", coin)
	rows, err := e.Run(context.Background(), Plan{Seeds: 16, Fixed: true, Jobs: 2, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	differences, err := e.Compare(rows, "shade", "1000", "500")
	if err != nil {
		t.Fatal(err)
	}
	// A bidder draws the same values whatever share of them it bids.
	for _, d := range differences {
		if d.Of.Seeds != 16 || d.Of.Mean >= 0 || d.Of.Half() > 0.5*-d.Of.Mean {
			t.Errorf("at %s half of the bid pays %s more, want about a quarter less, of 16 seeds", d.At, d.Of)
		}
	}
	if len(differences) != 2 || differences[0].At != "side=a" {
		t.Errorf("the differences are %v, want those of both sides", differences)
	}
	if _, err := e.Compare(rows, "shade", "1000", "7"); err == nil || !strings.Contains(err.Error(), "no value") {
		t.Errorf("got %v, want an error about the value", err)
	}
}
