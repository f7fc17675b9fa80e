package configfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with a setting is told by its line and name, in the words of people: no field that a file cannot set is
// named, and no type of the decoder.
func TestAWrongSettingIsToldInWordsOfPeople(t *testing.T) {
	type settings struct {
		HTTP   string            `toml:"http"`
		Home   string            `toml:"home"`
		Params map[string]string `toml:"params"`
		Reset  bool              `toml:"-"`
		unset  int
	}
	_ = settings{}.unset
	for text, want := range map[string]string{
		"htp = \"x\"\n":                     "line 1, htp: there is no such setting; http may be meant, of http, home, params",
		"home = \"x\"\nhttp.x = 3\n":        "line 2, http: got a table, want a text in quotes",
		"[params]\ncip2.reputation = 3\n":   `line 2, params.cip2: got a table, want a text in quotes: a name with points is in quotes itself, as "a.b" = "3"`,
		"[params]\n\"cip2.least\" = 3\n":    `line 2, params."cip2.least": got a whole number, want a text in quotes`,
		"[http]\nx = 3\n":                   "line 1, http: got a table, want a text in quotes",
		"params = 3\n":                      "line 1, params: got a whole number, want a table",
		"home = \"x\"\n[params]\na = 'b'\n": "",
	} {
		file := filepath.Join(t.TempDir(), "a.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := Read(file, new(settings)); err != nil {
			got = strings.TrimPrefix(err.Error(), file+", ")
		}
		if got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}
