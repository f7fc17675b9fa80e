package page

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance is the relative luminance of WCAG 2 for a colour in six hexadecimal digits.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 24)
	if err != nil {
		t.Fatalf("%q is not a colour: %v", colour, err)
	}
	sum := 0.0
	for shift, weight := range map[int]float64{16: 0.2126, 8: 0.7152, 0: 0.0722} {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestColoursContrastAsWCAGDemandsInBothThemes(t *testing.T) {
	css, err := files.ReadFile("assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	themes := regexp.MustCompile(`(?s)color-scheme: (light|dark);(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(themes) != 3 {
		t.Fatalf("page.css has %d themes, want 3: light, dark by the system, dark by the button", len(themes))
	}
	plain := func(i int) string { return strings.Join(strings.Fields(themes[i][2]), " ") }
	if plain(1) != plain(2) {
		t.Error("the dark theme of the system and that of the button differ")
	}
	for _, theme := range themes {
		of := map[string]string{}
		for _, one := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(theme[2], -1) {
			of[one[1]] = one[2]
		}
		want := map[string]float64{"text": 4.5, "dim": 4.5, "accent": 4.5, "good": 4.5, "warn": 4.5, "bad": 4.5, "edge": 3}
		for i := range 8 { // lines and bars of charts
			want[fmt.Sprintf("hue%d", i+1)] = 3
		}
		check := func(on, ink string, least float64) {
			a, b := luminance(t, of[on]), luminance(t, of[ink])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < least {
				t.Errorf("%s theme: %s on %s has a contrast of %.2f, want %.1f", theme[1], ink, on, ratio, least)
			}
		}
		for ink, least := range want {
			check("card", ink, least)
			if least > 3 {
				check("ground", ink, least)
				check("raised", ink, least)
			}
		}
		check("accent", "on-accent", 4.5)
	}
}
