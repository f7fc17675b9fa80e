package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

func TestEveryCommandHasUsageAndAnExample(t *testing.T) {
	var visit func(path string, commands []*cli.Command)
	visit = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			name := path + " " + c.Name
			if c.Usage == "" || !strings.Contains(c.Description, "Example: "+name) {
				t.Errorf("%s has no usage, or no example in its help", name)
			}
			if len(c.Subcommands) == 0 && c.Action == nil {
				t.Errorf("%s does nothing", name)
			}
			for _, f := range c.Flags {
				if documented, ok := f.(cli.DocGenerationFlag); !ok || documented.GetUsage() == "" {
					t.Errorf("%s has the flag %s without usage", name, f.Names()[0])
				}
			}
			visit(name, c.Subcommands)
		}
	}
	visit("devnet", newApp(io.Discard, io.Discard).Commands)
}

// A line of a description that ends no sentence is joined with the next one, which begins none.
func TestASentenceOfHelpBeginsALineOrFollowsOne(t *testing.T) {
	names := regexp.MustCompile(`^(CIP|CPU|CSS|HTTP|JSON|API|QUIC|MCP|Python|Docker|Kubernetes|Ethereum|Prometheus|Go|Starlark|CSV|SVG|XML|Linux)\b`)
	var visit func(path string, commands []*cli.Command)
	visit = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			lines := strings.Split(c.Description, "\n")
			for i, line := range lines[1:] {
				open := lines[i] != "" && !strings.HasPrefix(lines[i], "Example: ") && !strings.ContainsAny(lines[i][len(lines[i])-1:], ".:")
				if first, _ := utf8.DecodeRuneInString(line); open && unicode.IsUpper(first) && !names.MatchString(line) {
					t.Errorf("%s %s: %q is joined with %q", path, c.Name, lines[i], line)
				}
			}
			visit(path+" "+c.Name, c.Subcommands)
		}
	}
	visit("devnet", newApp(io.Discard, io.Discard).Commands)
}

// A flag of one letter has one dash, in help and in what an unknown flag is answered.
func TestAFlagOfOneLetterHasOneDash(t *testing.T) {
	var visit func(commands []*cli.Command)
	visit = func(commands []*cli.Command) {
		for _, c := range commands {
			for _, f := range append(flagTopics(c.VisibleFlags()), flagCandidates(c.Flags)...) {
				if name := strings.TrimLeft(f.name, "-"); strings.HasPrefix(f.name, "--") && (len(name) == 1 || name[1] == ' ') {
					t.Errorf("%s shows the flag %s", c.HelpName, f.name)
				}
			}
			visit(c.Subcommands)
		}
	}
	visit(newApp(io.Discard, io.Discard).Commands)
}

// What messages advise is typed as it stands, so that each command is called as this
// binary was.
func TestAdviceNamesEachCommandAsThisBinaryWasCalled(t *testing.T) {
	before := self
	defer func() { self = before }()
	self = func() string { return "bin/devnet" }
	for _, c := range newApp(io.Discard, io.Discard).Commands {
		if got := replaceProgramName("try devnet " + c.Name + "."); got != "try bin/devnet "+c.Name+"." && !c.Hidden {
			t.Errorf("advice of %s is %q", c.Name, got)
		}
	}
	self = func() string { return "bin/my-devnet" } // advice may pass by twice
	if got := replaceProgramName(replaceProgramName("try devnet job show.")); got != "try bin/my-devnet job show." {
		t.Errorf("advice is %q", got)
	}
}

// TestEveryListTakesJSON: whoever writes a script needs it everywhere.
func TestEveryCommandThatPrintsDataTakesJSON(t *testing.T) {
	for _, c := range newApp(io.Discard, io.Discard).Commands {
		for _, leaf := range append([]*cli.Command{c}, c.Subcommands...) {
			if len(leaf.Subcommands) > 0 || leaf.Name == "logs" && len(c.Subcommands) == 0 || leaf.Hidden ||
				// pytest, pdb and Python print for themselves; a shell or a compiler reads the rest
				leaf.Name == "test" || leaf.Name == "debug" || leaf.Name == "completion" ||
				leaf.Name == "client" || leaf.Name == "console" {
				continue
			}
			if c.Name != "node" && !slices.ContainsFunc(leaf.Flags, func(f cli.Flag) bool { return f.Names()[0] == "json" }) {
				t.Errorf("%s has no --json", leaf.Name)
			}
		}
	}
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	for in, want := range map[string]string{
		"devnet actor call hb start --dry-run":               "devnet actor call --dry-run -- hb start",
		"devnet actor call --from bob hb start 0x00":         "devnet actor call --from bob -- hb start 0x00",
		"devnet actor call hb start --value=1 --from bob":    "devnet actor call --value=1 --from bob -- hb start",
		"devnet actor call hb start --from bob -- --payload": "devnet actor call --from bob -- hb start --payload",
		"devnet actor logs hb -f":                            "devnet actor logs -f -- hb",
		"devnet timer list":                                  "devnet timer list",
		"devnet timer":                                       "devnet timer --help",
		"devnet params":                                      "devnet params get",
		"devnet params --json":                               "devnet params get --json",
		"devnet params --help":                               "devnet params --help",
		"devnet params get cip1.policy --json":               "devnet params get --json -- cip1.policy",
		"devnet help":                                        "devnet --help",
		"devnet help actor call":                             "devnet actor call --help",
		"devnet block 5 --help":                              "devnet block --help",
		"devnet actor call hb start --value 1 -h":            "devnet actor call --help",
		"devnet actor call hb start -- --help":               "devnet actor call -- hb start --help",
		"devnet params set cip5.max_timers_per_actor -1":     "devnet params set -- cip5.max_timers_per_actor -1",
		"devnet status --help":                               "devnet status --help",
		"devnet actor read hb count -":                       "devnet actor read -- hb count -",
	} {
		got, err := arrangeFlags(app, strings.Fields(in))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s\n gives %s (%v)\n want  %s", in, strings.Join(got, " "), err, want)
		}
	}
}

func TestLawAmountsReadWhatTheyWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := types.WeiOf(rapid.Uint64().Draw(t, "wei")).Mul(rapid.Uint64Range(1, 1<<40).Draw(t, "times"))
		got, err := parseCBY("value", cby(w))
		if err != nil || got != w {
			t.Fatalf("%s wei is written %s and read %s (%v)", w, cby(w), got, err)
		}
	})
}

func TestAmountsThatAreNoneAreRefused(t *testing.T) {
	for text, want := range map[string]string{"1": "1000000000", "0.5": "500000000", ".5": "500000000", "2.": "2000000000", "0.000000001": "1",
		"1 CBY": "1000000000", "007": "7000000000", "12wei": "12", "12 wei": "12", "0wei": "0"} {
		if got, err := parseCBY("fund", text); err != nil || got.String() != want {
			t.Errorf("%q is %s (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "-1", "+1", "1e9", "0x10", "1.0000000001", "1,5", "1.2.3", "CBY", strings.Repeat("9", 80),
		"wei", "1.0wei", "1 CBY wei", "1 wei CBY", "12weis", "-1wei"} {
		if got, err := parseCBY("fund", text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func TestReportSaysWhatAndWhatToDo(t *testing.T) {
	var out bytes.Buffer
	code := reportError(&out, newUsageError("Do that.", "this is wrong"), false)
	if code != exitUsage || out.String() != "devnet: this is wrong\n  Do that.\n" {
		t.Fatalf("%d %q", code, out.String())
	}
	if code := reportError(&out, nil, true); code != exitDone {
		t.Fatal(code)
	}
}

// RUNNING: under --json an error is a line of JSON.
func TestErrorsAreJSONUnderJSON(t *testing.T) {
	refused := &client.Error{}
	refused.Code, refused.Message, refused.Hint = "unknown_job", "no such job", "Look."
	for _, test := range []struct {
		err  error
		want string
		code int
	}{
		{newUsageError("Do <that>.", "this is %s", "wrong"), `{"error":{"code":"usage","message":"this is wrong","remedy":"Do <that>."}}`, exitUsage},
		{newFailure("", "two\nlines"), `{"error":{"code":"failed","message":"two\nlines","remedy":""}}`, exitFailed},
		{noStart("", "no"), `{"error":{"code":"no_start","message":"no","remedy":""}}`, exitNoStart},
		{context.Canceled, `{"error":{"code":"interrupted","message":"interrupted","remedy":""}}`, exitFailed},
		{fmt.Errorf("lost: %w", refused), `{"error":{"code":"unknown_job","message":"no such job (unknown_job)",` +
			`"remedy":"` + replaceProgramName(hints["unknown_job"]) + `"}}`, exitFailed},
		{&failure{code: exitUsage}, "", exitUsage},
	} {
		var out bytes.Buffer
		if code := reportError(&out, test.err, true); code != test.code || strings.TrimSuffix(out.String(), "\n") != test.want {
			t.Errorf("%v: %d %s\nwant %d %s", test.err, code, &out, test.code, test.want)
		}
	}
}

func TestALineWithJSONIsRefusedInJSON(t *testing.T) {
	for line, want := range map[string]bool{"devnet job list --json": true, "devnet --json=true": true, "devnet --json=false": false,
		"devnet job submit -- --json": false, "devnet job list --jsn": false, "devnet job list": false} {
		if got := wantsJSON(strings.Fields(line)); got != want {
			t.Errorf("%s asks for JSON: %v, want %v", line, got, want)
		}
	}
	var out, told bytes.Buffer
	if code := run([]string{"devnet", "job", "list", "--nothing", "--json"}, &out, &told); code != exitUsage || out.Len() > 0 ||
		!strings.HasPrefix(told.String(), `{"error":{"code":"usage","message":"`) || strings.Count(told.String(), "\n") != 1 {
		t.Errorf("%d %s%s", code, &out, &told)
	}
}

func TestLogsGoToTheFileOfTheirNode(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	var terminal bytes.Buffer
	logs := newNodeLogs(settings{Home: dir}, &terminal)
	log := logs.networkLogger()
	defer slog.SetDefault(slog.Default())
	log.With("node", "v1").Info("one")
	log.With("role", "x").With("node", "v2").Error("two")
	log.Warn("three")
	logs.closeFiles()
	for node, want := range map[string]string{"v1": "msg=one node=v1", "v2": "msg=two", commonLog: "msg=three"} {
		data, err := os.ReadFile(home.NodeLog(dir, node))
		if err != nil || !strings.Contains(string(data), want) || strings.Count(string(data), "\n") != 1 {
			t.Errorf("the log of %s is %q (%v)", node, data, err)
		}
	}
	if got := terminal.String(); !strings.Contains(got, "two") || strings.Contains(got, "one") || strings.Contains(got, "three") {
		t.Errorf("the terminal shows %q, and errors only should be there", got)
	}
}
