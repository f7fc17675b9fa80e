package app

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
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
	before := self.ProgramName
	defer func() { self.ProgramName = before }()
	self.ProgramName = func() string { return "bin/devnet" }
	for _, c := range newApp(io.Discard, io.Discard).Commands {
		if got := self.ReplaceName("try devnet " + c.Name + "."); got != "try bin/devnet "+c.Name+"." && !c.Hidden {
			t.Errorf("advice of %s is %q", c.Name, got)
		}
	}
	self.ProgramName = func() string { return "bin/my-devnet" } // advice may pass by twice
	if got := self.ReplaceName(self.ReplaceName("try devnet job show.")); got != "try bin/my-devnet job show." {
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

func TestALineWithJSONIsRefusedInJSON(t *testing.T) {
	for line, want := range map[string]bool{"devnet job list --json": true, "devnet --json=true": true, "devnet --json=false": false,
		"devnet job submit -- --json": false, "devnet job list --jsn": false, "devnet job list": false} {
		if got := wantsJSON(strings.Fields(line)); got != want {
			t.Errorf("%s asks for JSON: %v, want %v", line, got, want)
		}
	}
	var out, told bytes.Buffer
	if code := Run([]string{"devnet", "job", "list", "--nothing", "--json"}, &out, &told); code != failure.ExitUsage || out.Len() > 0 ||
		!strings.HasPrefix(told.String(), `{"error":{"code":"usage","message":"`) || strings.Count(told.String(), "\n") != 1 {
		t.Errorf("%d %s%s", code, &out, &told)
	}
}
