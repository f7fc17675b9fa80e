package clientgen

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/typed"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

var rewrite = flag.Bool("rewrite", false, "write the clients in testdata again")

// schemas are the schemas of testdata: the club of the docs, and one with every type
// and with names that collide.
var schemas = []string{"club", "every"}

// files are what a client's file is called by language.
var files = map[string]string{"py": "%.py", "ts": "%.ts", "go": "%.go", "actor": "%_interface.py"}

func schemaOf(t *testing.T, name string) *typed.Schema {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := typed.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestClientsAreTheCommittedFilesByteForByte also keeps the Go ones compiling: the tests
// of package client import them.
func TestClientsAreTheCommittedFilesByteForByte(t *testing.T) {
	for _, name := range schemas {
		for _, language := range Languages {
			path := filepath.Join("testdata", name, strings.Replace(files[language], "%", name, 1))
			got, err := File(schemaOf(t, name), name, language)
			if err != nil {
				t.Fatal(err)
			}
			if *rewrite {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
				t.Errorf("%s differs: go test ./internal/faces/clientgen -rewrite, and read the diff (%v)", path, err)
			}
		}
	}
}

// The kinds of events in TypeScript are those that the API takes.
func TestTheKindsOfEventsAreTheAPIs(t *testing.T) {
	source, err := os.ReadFile("runtime/cowboy.ts")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []string{model.EventBlock, model.EventTx, model.EventTimer, model.EventLog, model.EventJob, model.EventPresence,
		model.EventRunner, model.EventFault, model.EventView}
	if want := "export type Kind = '" + strings.Join(kinds, "' | '") + "'\n"; !strings.Contains(string(source), want) {
		t.Errorf("cowboy.ts has another type: want %s", want)
	}
}

func TestClientsOfAnUnknownLanguageAreRefusedByItsName(t *testing.T) {
	if _, err := File(schemaOf(t, "club"), "club", "cobol"); err == nil || !strings.Contains(err.Error(), `"cobol"`) {
		t.Errorf("%v", err)
	}
}

// A name that the reader typed is part of a comment: it ends none.
func TestClientsHaveNoCodeOfTheActorsName(t *testing.T) {
	for _, language := range Languages {
		got, err := File(schemaOf(t, "club"), "x`\nimport os\n*/", language)
		if err != nil || strings.Contains(string(got), "import os") {
			t.Errorf("%s: %v\n%s", language, err, got)
		}
	}
}

// tool is a program of Debian's, without which a test is skipped, or fails where
// DEVNET_NODE is "required", as in CI.
func tool(t *testing.T, name, from string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("DEVNET_NODE") == "required":
		t.Fatalf("%s is missing: apt-get install %s", name, from)
	default:
		t.Skipf("%s is missing, so no client in TypeScript is tried: apt-get install %s", name, from)
	}
	return path
}

// compiled is a folder with the clients of testdata in TypeScript, as JavaScript.
func compiled(t *testing.T, more ...string) string {
	t.Helper()
	sources := []string{"runtime/cowboy.ts"}
	for _, name := range schemas {
		sources = append(sources, filepath.Join("testdata", name, name+".ts"))
	}
	files := map[string][]byte{}
	for _, source := range append(sources, more...) {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(source)] = text
	}
	return compiledOf(t, files)
}

// compiledOf is a folder with the files of TypeScript, as JavaScript. The options are the
// strictest that Debian's compiler has.
func compiledOf(t *testing.T, files map[string][]byte) string {
	t.Helper()
	tsc, dir := tool(t, "tsc", "node-typescript"), t.TempDir()
	words := []string{"--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "false", "--noImplicitOverride",
		"--noUnusedLocals", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node", "--lib", "es2022,dom,dom.iterable",
		"--outDir", "out"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
		words = append(words, name)
	}
	run(t, dir, tsc, words...)
	if err := os.WriteFile(filepath.Join(dir, "out", "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "out")
}

func run(t *testing.T, dir, program string, words ...string) string {
	t.Helper()
	command := exec.Command(program, words...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, out)
	}
	return string(out)
}

func TestClientsInTypeScriptAreStrict(t *testing.T) { compiled(t) }

// The runtime in TypeScript reads and writes the corpus, and signs as docs/WIRE.md shows.
func TestClientsInTypeScriptSpeakTheWire(t *testing.T) {
	node := tool(t, "node", "nodejs")
	out := compiled(t, "testdata/wire_test.ts")
	corpus, err := filepath.Abs("../../base/typed/testdata/payloads.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Log(run(t, out, node, "wire_test.js", corpus))
}

// The clients in Python can be imported, and read and write the corpus.
func TestClientsInPythonSpeakTheWire(t *testing.T) {
	python, err := exec.LookPath("python3")
	needed.Python(t, err)
	t.Log(run(t, ".", python, "-B", "testdata/wire_test.py"))
}
