package moment

import (
	"math"
	"strings"
	"testing"
)

func TestAMomentHasOneName(t *testing.T) {
	for name, want := range map[string]Moment{
		"h18204":               {Kind: AtHeight, Height: 18204},
		"lane.star@6:h57":      {Script: "lane.star", Seed: 6, Kind: AtHeight, Height: 57},
		"a/b c@2.star@0:18231": {Script: "a/b c@2.star", Kind: AtStep, Step: 18231},
		"lane.star@6:end":      {Script: "lane.star", Seed: 6},
		"x:y.star@18446744073709551615:18446744073709551615": {Script: "x:y.star", Seed: math.MaxUint64, Kind: AtStep, Step: math.MaxUint64},
	} {
		got, err := Parse(name)
		if err != nil || got != want {
			t.Errorf("%s is read as %+v, %v; want %+v", name, got, err, want)
		}
		if printed := want.String(); printed != name {
			t.Errorf("%+v is printed as %s, want %s", want, printed, name)
		}
	}
	if got := Step("lane.star", 6, 9).String(); got != "lane.star@6:9" {
		t.Errorf("a step is called %s", got)
	}
	if got := End("lane.star", 6).String(); got != "lane.star@6:end" {
		t.Errorf("the end is called %s", got)
	}
}

// What is no moment is refused with the part that is wrong, and with what to type.
func TestWhatIsNoMomentIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `"" is no height`,
		"57":                          `"57" is no height`,
		"h":                           `"h" is no height`,
		"h0":                          `"h0" is no height`,
		"h-1":                         `"h-1" is no height`,
		"h18446744073709551616":       "is no height",
		"end":                         `"end" is no height`,
		"@6:h57":                      "the script's name is missing",
		"lane.star@6":                 "a place is missing",
		"lane.star@:9":                `"" is no seed`,
		"lane.star@-1:9":              `"-1" is no seed`,
		"lane.star@0x6:9":             `"0x6" is no seed`,
		"lane.star@6:":                `"" is no step`,
		"lane.star@6:0":               `"0" is no step`,
		"lane.star@6:1.5":             `"1.5" is no step`,
		"lane.star@6:End":             `"End" is no step`,
		"lane.star@6:h":               `"h" is no height`,
		"lane.star@6:9:9":             `"9:9" is no step`,
		strings.Repeat("x", 1000):     "xxx…",
		strings.Repeat("x", 99) + "@": "a place is missing",
	} {
		got, err := Parse(text)
		switch {
		case err == nil:
			t.Errorf("%q is read as %v", text, got)
		case !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Type h57 for a height"):
			t.Errorf("%q: %v; want %s", text, err, want)
		case len(err.Error()) > 400:
			t.Errorf("a text of %d bytes has a message of %d", len(text), len(err.Error()))
		}
	}
}

// What Parse takes it prints again as a name of the same moment.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"h1", "a@1:h2", "a@b@1:3", "a@1:end", "a@01:+3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(m.String()); err != nil || again != m {
			t.Errorf("%q is %+v, and its name %s is %+v, %v", text, m, m, again, err)
		}
	})
}
