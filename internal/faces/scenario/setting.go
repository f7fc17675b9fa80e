package scenario

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits of the settings of a run.
const (
	MaxSettings     = 64
	maxSetting      = 64    // characters of a name
	MaxSettingBytes = 1_000 // of a value's text
)

// Columns are the words of a row of results beside settings and measures. No setting has
// one of these names.
var Columns = []string{"seed", "digest", "verdict"}

// Setting is a value that a script reads by setting(…). From outside it comes as text;
// a report has the text of the value that the script got.
type Setting struct {
	Name  string `json:"name"`
	Text  string `json:"value"`
	Given bool   `json:"given,omitempty"` // the value came from outside
	// Unread is that the script did not read what it was given.
	Unread bool `json:"unread,omitempty"`
}

// doSetting is setting(name, default).
func doSetting(c *call) (starlark.Value, error) {
	name, preset := argOf[string](c, "name"), argOf[starlark.Value](c, "default")
	if err := checkSettingName(name); err != nil {
		return nil, newMistake("setting: %v", err)
	}
	if _, known := settingTypes[preset.Type()]; !known {
		return nil, newMistake("setting: the default of %q is a whole number, a number, a string, True or False; got %s %.40s", name,
			preset.Type(), preset.String())
	}
	value := preset
	for _, given := range c.r.options.Settings {
		if given.Name != name {
			continue
		}
		var err error
		if value, err = readSetting(given, preset); err != nil {
			return nil, newMistake("%v", err)
		}
	}
	return value, c.r.noteSetting(name, preset, value)
}

// asked is a setting that a run read, with its default.
type asked struct {
	name   string
	preset starlark.Value
}

// noteSetting files a setting that the script reads. One name has one default.
func (r *runtime) noteSetting(name string, preset, value starlark.Value) error {
	for _, before := range r.asked {
		if before.name != name {
			continue
		}
		if same, err := starlark.Equal(before.preset, preset); err != nil || !same || before.preset.Type() != preset.Type() {
			return newMistake("setting: the default of %q was %s before; got %s", name, before.preset, preset)
		}
		return nil
	}
	if len(r.asked) == MaxSettings {
		return newMistake("setting: a run reads at most %d names; %q is one more", MaxSettings, name)
	}
	r.asked = append(r.asked, asked{name, preset})
	r.report.Settings = append(r.report.Settings, Setting{Name: name, Text: settingText(value)})
	return nil
}

// checkSettingName refuses a name that no command line or row of results can have.
func checkSettingName(name string) error {
	letters := strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_.-") == ""
	switch {
	case name == "" || len(name) > maxSetting || !letters || strings.HasPrefix(name, "-"):
		return fmt.Errorf("a name has 1 to %d letters, digits, _, . and -; got %q", maxSetting, name)
	case slices.Contains(Columns, name):
		return fmt.Errorf("%q is a column of the results; take another name", name)
	}
	return nil
}

// settingTypes says for each type of a default what a value of it is.
var settingTypes = map[string]string{"int": "a whole number", "float": "a number", "bool": "true or false", "string": "a string"}

// readSetting reads the text of a setting as a value of the type that its default has.
func readSetting(s Setting, preset starlark.Value) (starlark.Value, error) {
	wrong := fmt.Errorf("--set %s=%.40s: %s takes %s, as its default %s is", s.Name, s.Text, s.Name, settingTypes[preset.Type()],
		preset.String())
	switch preset.(type) {
	case starlark.Int:
		if n, ok := new(big.Int).SetString(s.Text, 10); ok {
			return starlark.MakeBigInt(n), nil
		}
		return nil, wrong
	case starlark.Float:
		f, err := strconv.ParseFloat(s.Text, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, wrong
		}
		return starlark.Float(f), nil
	case starlark.Bool:
		switch strings.ToLower(s.Text) {
		case "true":
			return starlark.True, nil
		case "false":
			return starlark.False, nil
		}
		return nil, wrong
	}
	return starlark.String(s.Text), nil
}

// settingText is a value as --set takes it.
func settingText(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return string(v)
	case starlark.Bool:
		return strings.ToLower(v.String())
	case starlark.Float:
		return strconv.FormatFloat(float64(v), 'g', -1, 64)
	}
	return v.String()
}

// CheckSettings says which setting none of the scripts can read, and which has a value of
// another type, as far as the scripts have names and defaults written out. The rest shows
// when they run. Its error is a *Mistake, or that a file cannot be read.
func CheckSettings(paths []string, settings []Setting) error {
	var known []string
	var written []asked
	computed := false
	for _, path := range paths {
		s, err := openSources(path, "")
		if err != nil {
			return err
		}
		err = s.checkScript()
		s.closeFolder()
		if err != nil {
			return err
		}
		computed = computed || s.computed
		written = append(written, s.asked...)
	}
	for _, a := range written {
		if !slices.Contains(known, a.name) {
			known = append(known, a.name)
		}
	}
	for _, given := range settings {
		if err := checkSettingName(given.Name); err != nil {
			return newMistake("--set: %v", err)
		}
		if !slices.Contains(known, given.Name) && !computed {
			return NoSetting(given.Name, known)
		}
		for _, a := range written {
			if a.name != given.Name || a.preset == nil {
				continue
			}
			if _, err := readSetting(given, a.preset); err != nil {
				return newMistake("%v", err)
			}
		}
	}
	return nil
}

// NoSetting says that no script reads a setting, and which name was meant.
func NoSetting(name string, known []string) *Mistake {
	near := suggestNames(name, known)
	switch {
	case near != "":
	case len(known) == 0:
		near = `; a script reads one by setting("` + name + `", default)`
	default:
		near = "; the settings are " + strings.Join(known, ", ")
	}
	return &Mistake{What: "--set: no script reads the setting " + name + near}
}

// noteSetting notes a call of setting(…): its name and default, as far as they are written out.
func (l *linter) noteSetting(call *syntax.CallExpr) {
	l.settings++
	var name, preset starlark.Value
	for i, arg := range call.Args {
		value, at := arg, [...]string{"name", "default"}[min(i, 1)]
		if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
			value, at = named.Y, named.X.(*syntax.Ident).Name
		}
		written, ok := constantOf(value)
		if !ok {
			continue
		}
		if at == "name" {
			name = written
		} else {
			preset = written
		}
	}
	text, isText := name.(starlark.String)
	if !isText {
		l.s.computed = true
		return
	}
	if preset != nil && settingTypes[preset.Type()] == "" {
		preset = nil // the run says so
	}
	l.s.asked = append(l.s.asked, asked{string(text), preset})
}
