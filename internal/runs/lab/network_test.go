package lab

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/worlds/bare"
	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
)

// twinned is coin with points of a network.
var twinned = strings.NewReplacer(`"side": ["a", "b"]`, `"side": ["a", "b"], "world": ["bare", "network"]`,
	"    params =", `    skip = lambda p: p.world == "network" and p.side == "b",`+"\n    params =").Replace(coin)

// judgedTwins judges the rows of a file whose network is opened by a function.
func judgedTwins(t *testing.T, text string, open crowd.Opener) (*Results, error) {
	t.Helper()
	text = strings.Replace(text, `side = "a").paid`, `side = "a", world = "bare").paid`, 1)
	e := loaded(t, "coin", text)
	e.Network = open
	rows, err := e.Run(t.Context(), Plan{Seeds: 8, Fixed: true, Jobs: 2, Out: t.TempDir()})
	if err != nil {
		return nil, err
	}
	results, err := e.Judge(rows, false)
	if err != nil {
		t.Fatal(err)
	}
	return results, nil
}

// A network agrees with the bare world where it plays the same rule, and turns red where it plays another.
func TestANetworkMustAgreeWithTheBareWorld(t *testing.T) {
	lies := func(key, value string) crowd.Opener {
		return func(_ uint64, c bare.Config) (crowd.World, error) {
			given := maps.Clone(c.Params)
			given[key] = value
			c.Params = params.Overrides(given)
			return bare.New(c)
		}
	}
	for name, one := range map[string]struct {
		open crowd.Opener
		want int
	}{"the same": {lies("cip5.bias_reserve_price", "0"), 0}, "payments swapped": {lies("cip1.policy", "bias-vcg"), 2}} {
		results, err := judgedTwins(t, twinned, one.open)
		if err != nil {
			t.Fatal(err)
		}
		if len(results.Twins) != 2 || len(results.Apart()) != one.want {
			t.Errorf("%s: of %d twins %d are apart, want %d of 2", name, len(results.Twins), len(results.Apart()), one.want)
		}
		if state := (&Page{Results: results}).State(); !strings.Contains(state, "figures of a network that agree: ") {
			t.Errorf("%s: the page says %q", name, state)
		}
	}
	if _, err := judgedTwins(t, twinned, nil); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("without a network: %v", err)
	}
	elsewhere := strings.ReplaceAll(twinned, `"network"`, `"elsewhere"`)
	if _, err := judgedTwins(t, elsewhere, nil); err == nil || !strings.Contains(err.Error(), "bare and network") {
		t.Errorf("a world of another name: %v", err)
	}
}

// Lies about payments, and about who adapts, turn the experiment of bidders red.
func TestALieAboutBiddersTurnsRed(t *testing.T) {
	e := carried(t, "adaptive")
	for name, lie := range map[string][2]string{
		"payments swapped": {`if p.rule == "first" else`, `if p.rule == "second" else`},
		"nobody adapts":    {"if name in adapting else None", "if False else None"},
		"a tenth less":     {"one.worth - one.tips)", "one.worth - one.tips * 9 // 10)"},
	} {
		text := strings.Replace(string(e.Text), lie[0], lie[1], 1)
		if name == "nobody adapts" {
			text = strings.Replace(text, "for name in adapting:", "for name in []:", 1)
		}
		text = strings.Replace(text, "warm = 1000, blocks = 600", "warm = 200, blocks = 200", 1)
		if results := quickly(t, loaded(t, "adaptive", text)); len(results.Misses()) == 0 {
			t.Errorf("%s: all %d closed forms hold", name, len(results.Forms))
		}
	}
}

// Lies about shills, about whose tips come back, about sizes and about payments turn their experiments red.
func TestALieAboutOtherCrowdsTurnsRed(t *testing.T) {
	shorter := regexp.MustCompile(`warm = \d+, blocks = \d+`)
	for _, lie := range []struct{ experiment, name, said, instead string }{
		{"shill", "a reader that comes too late", `ahead = p.ahead, permille = 1000 if`, `ahead = 1, permille = 1000 if`},
		{"shill", "payments swapped", `"bias-first-price" if p.rule == "first" else "bias-vcg"`, `"bias-vcg"`},
		{"shill", "a tenth less", `(one.worth - one.tips)`, `(one.worth - one.tips * 9 // 10)`},
		{"self_tips", "another validator's blocks", `validators = p.own, timers`, `validators = p.own + 1, timers`},
		{"self_tips", "a median of others", `else 1000,`, `else 900,`},
		{"sizes", "seven tenths of a lane as all of it", `spread = 1, tip = 100, size = p.size)`, `spread = 1, tip = 100, size = p.size - 3)`},
		{"lies", "payments swapped", `"per_cycle" if p.rule == "per_cycle"`, `"per_cycle" if p.rule == "written"`},
		{"lies", "fires of one size", `permille = 1000, size = others)`, `permille = 1000)`},
	} {
		honest := string(carried(t, lie.experiment).Text)
		text := strings.Replace(honest, lie.said, lie.instead, 1)
		if text == honest {
			t.Errorf("%s: the file does not say %s", lie.experiment, lie.said)
		}
		text = shorter.ReplaceAllString(text, "warm = 50, blocks = 200")
		if results := quickly(t, loaded(t, lie.experiment, text)); len(results.Misses()) == 0 {
			t.Errorf("%s, %s: all %d closed forms hold", lie.experiment, lie.name, len(results.Forms))
		}
	}
}

// One adaptation may be given to several crowds, of which each learns by itself. A mistake in it is told.
func TestAnAdaptationIsReadFromTheFile(t *testing.T) {
	with := func(adapts string) string {
		return strings.Replace(coin, "permille = p.shade)", "permille = p.shade, adapts = "+adapts+")", 1)
	}
	e := loaded(t, "coin", with("best_response(memory = 4)"))
	row, err := e.Play(e.points[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	if row.Figures[0] > 0.2 {
		t.Errorf("a bidder without rivals that adapts pays %.3f of the top value by the first price", row.Figures[0])
	}
	for adapts, want := range map[string]string{
		"best_response(memory = 0)":              "a memory of 1 to 1000",
		"best_response(memory = 1, step = 0)":    "a step of 1 to 1000",
		"3":                                      "best_response(memory = …), gas_agent",
		"gas_agent(raise_permille = 50)":         "these are bids of an auction",
		"gas_agent(raise_permille = 2000000)":    "0 to 1000000 thousandths",
		"best_response(memory = 4), tips = True": "and these are tips",
	} {
		e := loaded(t, "coin", with(adapts))
		if _, err := e.Play(e.points[0], 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", adapts, err, want)
		}
	}
	asked := strings.Replace(coin, "net.tips / (net.blocks * 1000000)", "b.share", 1)
	still := loaded(t, "coin", asked)
	if _, err := still.Play(still.points[0], 1); err == nil || !strings.Contains(err.Error(), "adapts = best_response") {
		t.Errorf("the share of a crowd that does not adapt: %v", err)
	}
}

// What a point has more than another is paired by seed, in the answer too.
func TestAnAnswerPairsDifferencesBySeed(t *testing.T) {
	text := coin[:strings.Index(coin, "def answer(t):")] + `def answer(t):
    d = t.difference("paid", of = dict(shade = 1000, side = "a"), less = dict(shade = 500, side = "a"))
    return "%s of %d seeds, %s" % (d.text, d.seeds, d.low > 0)
`
	e := loaded(t, "coin", text)
	rows, err := e.Run(t.Context(), Plan{Seeds: 8, Fixed: true, Jobs: 2, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	results, err := e.Judge(rows, false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(results.Answer.Text, "of 8 seeds, True") {
		t.Errorf("the answer is %q", results.Answer.Text)
	}
	wrong := loaded(t, "coin", strings.Replace(text, `less = dict(shade = 500, side = "a")`, `less = dict(shade = 500)`, 1))
	if _, err := wrong.Judge(rows, false); err == nil || !strings.Contains(err.Error(), "is 2 points") {
		t.Errorf("got %v, want an error about the point", err)
	}
}
