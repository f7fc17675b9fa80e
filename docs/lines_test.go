package docs

import (
	"fmt"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the longest line of Go, Python, Starlark and Markdown, a tab
// counting as one.
const maxColumns = 140

// long returns the lines of a file that are longer. Text in backquotes does not
// count, in Go a raw string: it is data, which cannot be
// broken. Nor do build constraints.
func long(file, text string) (wrong []string) {
	lines := strings.Split(text, "\n")
	switch path.Ext(file) {
	case ".go":
		lines = strings.Split(withoutRaw(text), "\n")
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > maxColumns && !strings.HasPrefix(line, "//go:") {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %d columns, at most %d", file, i+1, n, maxColumns))
		}
	}
	return wrong
}

// withoutRaw is a Go source without the text of its raw strings, line by line.
func withoutRaw(text string) string {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	out := []byte(text)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return strings.ReplaceAll(string(out), "\x00", "")
		}
		if kind != token.STRING || literal[0] != '`' {
			continue
		}
		at := file.Offset(pos)
		for end := at + 1; out[end] != '`'; end++ {
			if out[end] != '\n' {
				out[end] = 0
			}
		}
	}
}

func TestLinesFitTheScreen(t *testing.T) {
	files := 0
	err := read(checkout(), func(file, text string) {
		if slices.Contains([]string{".go", ".py", ".star"}, path.Ext(file)) {
			files++
			if strings.HasPrefix(file, "internal/faces/clientgen/testdata/") {
				return // made of a schema, whose names are as long as they are
			}
			for _, wrong := range long(file, text) {
				t.Error(wrong)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 800 {
		t.Errorf("%d files were read: the search misses some", files)
	}
}

// TestLongLinesAreFound plants lines of each kind, and near misses.
func TestLongLinesAreFound(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		name, file, text string
		line             int // that is found; 0 for none
	}{
		{"as long as may be", "a.go", "//" + a(138), 0},
		{"one longer", "a.go", "\n//" + a(139), 2},
		{"signs are columns, not bytes", "a.py", "#" + strings.Repeat("é", 139), 0},
		{"a string", "a.go", "package a\nvar x = \"" + a(140) + "\"", 2},
		{"a raw string", "a.go", "package a\nvar x = `" + a(140) + "`", 0},
		{"a raw string of two lines", "a.go", "package a\nvar x = `" + a(141) + "\n" + a(141) + "`\n", 0},
		{"after a raw string", "a.go", "package a\nvar x = `\n" + a(141) + "`\n// " + a(141), 4},
		{"a backquote in a comment", "a.go", "package a\n// ` " + a(141) + " `\n", 2},
		{"a build constraint", "a.go", "//go:build " + a(140), 0},
		{"a scenario", "a.star", "# " + a(141), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := long(c.file, c.text)
			if c.line == 0 && len(wrong) > 0 {
				t.Errorf("accused: %q", wrong)
			}
			if c.line > 0 && (len(wrong) != 1 || !strings.HasPrefix(wrong[0], fmt.Sprintf("%s:%d: ", c.file, c.line))) {
				t.Errorf("found %q, want line %d", wrong, c.line)
			}
		})
	}
}
