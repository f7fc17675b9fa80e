package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
)

const (
	secret = "0x4646464646464646464646464646464646464646464646464646464646464646"
	head   = "name = \"r9\"\nkey = \"" + secret + "\"\napi = \"http://127.0.0.1:4000\"\n"
	page   = "../../../../docs/RUNNERS.md"
)

// write writes a configuration and files beside it.
func write(t *testing.T, text string, beside map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range beside {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(folder, "runner.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fenced is the n-th fenced part of a page in a language.
func fenced(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```"+language+"\n")
	part, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatalf("the page has no %s", language)
	}
	return strings.ReplaceAll("\n"+part, "\n  ", "\n") // indented in a list
}

func TestTheConfigurationOfThePageOpens(t *testing.T) {
	path := write(t, strings.TrimSpace(fenced(t, "toml")), map[string]string{"r9.key": secret + "\n",
		"median.py": fenced(t, "python"), "small.key": "k"})
	r, err := Open(path)
	if err != nil && strings.Contains(err.Error(), "CPython") && os.Getenv("DEVNET_PYTHON") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Executor.Close()
	want := []string{"custom", "domain:*.example.net", "domain:127.0.0.1", "domain:api.example.org", "ethsend",
		"executor:count", "executor:echo", "executor:letters", "executor:median", "executor:sha256", "executor:words",
		"http", "llm", "mcp", "server:files", "server:search"}
	if got := r.Executor.Capabilities(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if r.Name != "r9" || r.Jobs != 4 || r.API != "http://127.0.0.1:4000" || r.Manual != nil || r.Key == nil ||
		!slices.Equal(r.Executor.Entitlements(), []string{"eu"}) {
		t.Errorf("%+v", r)
	}
	told := make(chan execution.Report, 1)
	r.Executor.Execute(execution.ID{}, job("median", "[3, 1, 2]"), func(report execution.Report) { told <- report })
	if report := <-told; string(report.Result) != `{"median":2}` {
		t.Errorf("%+v", report)
	}
}

func job(name, params string) *push.JobSpec {
	return &push.JobSpec{
		JobType:       push.JobType{Custom: &push.Custom{ExecutorHash: custom.Hash(name), Params: []byte(params)}},
		Bounds:        push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 60, MaxMemoryMB: 256, MaxRetries: 1},
		Verification:  push.Verification{Mode: push.None, Runners: 1},
		MaxPrice:      types.WeiOf(1),
		TimeoutBlocks: 1,
		ResultSchema:  push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes},
	}
}

func TestWhatIsWrongIsSaidWithLineAndSetting(t *testing.T) {
	for _, c := range []struct {
		text string // after the head's three lines
		line int
		want string // the key, and after a colon part of the detail
	}{
		{"[custom = 5", 4, ""},
		{"max_concurrent_jobs = \"x\"\n[custom]", 4, "max_concurrent_jobs"},
		{"max_concurent_jobs = 5\n[custom]", 4, "max_concurent_jobs: max_concurrent_jobs may be meant"},
		{"\n[custom]\nexecutor = []", 6, "custom.executor: executors may be meant"},
		{"[htpp]\ndomains = []", 4, "htpp: http may be meant"},
		{"[custom.functions.f]\nfiel = 'x'", 5, "custom.functions.f.fiel: file may be meant"},
		{"[http]\ndomains = ['a.test']\nzzzzzzzzzzzzz = 1", 6, "http.zzzzzzzzzzzzz: there are domains, addresses"},
		{"", 0, ": it has no executor: add a table [custom], [http], [llm], [mcp] or [ethsend]"},
		{"max_concurrent_jobs = 1025\n[custom]", 4, "max_concurrent_jobs: between 1 and 1024"},
		{"max_concurrent_jobs = -1\n[custom]", 4, "max_concurrent_jobs: between"},
		{"poll_ms = 9\n[custom]", 4, "poll_ms: between 10 and 60000"},
		{"poll_ms = 60001\n[custom]", 4, "poll_ms: between"},
		{"poll_ms = -1\n[custom]", 4, "poll_ms: between"},
		{"max_wall_time = '2h'\n[custom]", 4, "max_wall_time: invalid time"},
		{"key_file = 'k'\n[custom]", 4, "key_file: not both"},
		{"also = ['http://a.test', 'b']\n[custom]", 4, "also: invalid URL"},
		{"driver = '0123456789abcdef'\n[custom]", 4, "driver: name host:port"},
		{"control = '127.0.0.1:1'\n[custom]", 4, "control: whose secret is missing"},
		{"driver = 'short'\ncontrol = '127.0.0.1:1'\n[custom]", 4, "driver: 16 to 128"},
		{"driver = '0123456789abcdef'\ncontrol = '1'\n[custom]", 5, "control: invalid address"},
		{"[custom]\nexecutors = ['sh']", 5, "custom.executors: none of echo"},
		{"[custom.functions.f]\nfile = 'none.py'", 4, "custom.functions.f: no such file"},
		{"[custom.functions.f]\nfile = 'f.py'\nhash = '0x00'", 4, "custom.functions.f: the keccak256 of f.py is 0x"},
		{"[custom.commands.c]\nargv = []", 4, "custom.commands.c: name a program"},
		{"[custom.commands.c]\nargv = ['wc']\nenv = ['LC_ALL']", 6, "custom.commands.c.env: want NAME=VALUE"},
		{"[custom.commands.echo]\nargv = ['wc']", 4, "custom.commands.echo: an executor of this name"},
		{"[custom.commands.c]\nargv = ['wc']\nmemory_mb = -1", 6, "custom.commands.c.memory_mb: -1 is not between 1"},
		{"[custom.worker]\nexecutors = ['a']", 4, "custom.worker: name a program"},
		{"[custom.worker]\nargv = ['no-such-program']\nexecutors = ['a']", 4, "custom.worker: no program"},
		{"[custom.worker]\nargv = ['wc']", 4, "custom.worker: has 0 names"},
		{"[custom.worker]\nargv = ['wc']\nexecutors = ['a']\nenv = ['=x']", 7, "custom.worker.env: want NAME=VALUE"},
		{"[custom.worker]\nargv = ['wc']\nexecutors = ['a', 'a']", 4, "custom.worker: a duplicate name"},
		{"[custom.worker]\nargv = ['wc']\nexecutors = ['echo']", 6, "custom.worker.executors: an executor of the name"},
		{"[custom.worker]\nargv = ['wc']\nexecutors = ['a']\nmemory_mb = 1", 7, "custom.worker.memory_mb: 1 is not between 16"},
		{"[custom.worker]\nargv = ['wc']\nexecutor = ['a']", 6, "custom.worker.executor: executors may be meant"},
		{"[http]", 4, "http.domains: name the domains"},
		{"[http]\ndomains = ['*.a.test', '*.b.test']", 5, "http.domains: also name hosts"},
		{"[http]\ndomains = ['http://a.test']", 5, "http.domains: no path: write \"a.test\""},
		{"[http]\ndomains = ['a.test']\nheaders = ['Host']", 6, "http.headers: no job sends the header"},
		{"[http]\ndomains = ['a.test']\naddresses = ['127.0.0.1']", 6, "http.addresses: invalid range"},
		{"[http]\ndomains = ['a.test']\nmode = 'replay'", 6, "http.mode: name it with cassette"},
		{"[http]\ndomains = ['a.test']\ncassette = 'none'\nmode = 'replay'", 6, "http.cassette: no such file"},
		{"[http]\ndomains = ['a.test']\ncassette = 'none'", 4, "http.mode: needs a mode"},
		{"[http]\ndomains = ['a.test']\ncassette = 'none'\nmode = 'recrd'", 7, "http.mode: want \"record\" or \"replay\""},
		{"[http]\ndomains = ['a.test']\ncassette = 'none/c'\nmode = 'record'", 6, "http.cassette: make it"},
		{"[llm]\ndefault = 'x'", 4, "llm: none of the models"},
		{"[llm.models.m]\nname = 'x'", 4, "llm.models.m: no endpoint"},
		{"[llm.models.\"m 1\"]\nendpoint = 'http://a'\nkey_env = 'NO_SUCH_VARIABLE'", 4, "llm.models.\"m 1\": NO_SUCH_VARIABLE"},
		{"[llm.models.m]\nendpoint = 'http://a'\nkey_env = 'A'\nkey_file = 'b'", 4, "llm.models.m: not both"},
		{"[mcp]", 4, "mcp: name a server"},
		{"[mcp.servers.s]\nargv = ['no-such-program']", 5, "mcp.servers.s.argv: no program"},
		{"[mcp.servers.a]\nargv = ['wc']\n[mcp.servers.s]\nurl = 'localhost:9000'", 7, "mcp.servers.s.url: want one like http"},
		{"[mcp.servers.s]\nargv = ['wc']\nurl = 'http://a'", 6, "mcp.servers.s.url: leave out argv or url"},
		{"[mcp.servers.s]\nargv = ['wc']\nmemory_mb = 65537", 6, "mcp.servers.s.memory_mb: 65537 is not between 1"},
		{"[mcp.servers.s]\nurl = 'http://a'\nmemory_mb = 1", 6, "mcp.servers.s.memory_mb: leave it out beside url"},
		{"[mcp.servers.s]\ntools = ['a']", 4, "mcp.servers.s.argv: neither a program nor a URL"},
		{"[mcp.servers.s]\nargv = ['wc']\nenv = ['ROOT /srv']", 6, "mcp.servers.s.env: want NAME=VALUE"},
		{"[mcp.servers.s]\nurl = 'http://a'\nheaders = ['Authorization: Bearer x']", 6,
			"mcp.servers.s.headers: got a list, like [\"a\", \"b\"], want a table"},
		{"[mcp]\nservers = 'a'", 5, "mcp.servers: got a text in quotes, want a table"},
		{"mcp = 'a'", 4, "mcp: got a text in quotes, want a table"},
		{"[mcp.servers.s]\nargv = 'wc'", 5, "mcp.servers.s.argv: got a text in quotes, want a list"},
		{"[ethsend]", 4, "ethsend: name a chain"},
		{"[ethsend.chains.main]\nendpoint = 'http://a'", 4, "ethsend.chains.main: by its id"},
		{"[ethsend.chains.0]\nendpoint = 'http://a'", 4, "ethsend.chains.0: by its id"},
		{"[ethsend.chains.1]\nendpoint = 'a'", 5, "ethsend.chains.1.endpoint: want one like http"},
		{"[ethsend.chains.1]\nreceipt = true", 4, "ethsend.chains.1.endpoint: want one like http"},
		{"[ethsend.chains.1]\nreceipt = 'yes'", 5, "ethsend.chains.1.receipt: got a text in quotes, want true or false"},
	} {
		path := write(t, head+c.text, map[string]string{"f.py": "def run(params): return params\n"})
		r, err := Open(path)
		key, detail, _ := strings.Cut(c.want, ": ")
		wrong := (*configfile.Error)(nil)
		if !errors.As(err, &wrong) || wrong.Line != c.line || key != "" && wrong.Key != strings.TrimPrefix(key, ":") ||
			!strings.Contains(err.Error(), strings.TrimPrefix(detail, ": ")) {
			t.Errorf("%q: line %d wanted: %v, %v", c.text, c.line, err, r)
		}
	}
}

// A job whose memory a program does not fit into is refused before it costs anything: by
// memory_mb, or without it by what programs of Go and Node need. A server with a URL needs none.
func TestAJobThatAProgramDoesNotFitIntoIsRefused(t *testing.T) {
	r, err := Open(write(t, head+"[custom.commands.c]\nargv = ['wc']\n[custom.commands.d]\nargv = ['wc']\nmemory_mb = 16\n"+
		"[mcp.servers.s]\nargv = ['wc']\n[mcp.servers.u]\nurl = 'http://a'\n", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Executor.Close()
	for _, c := range []struct {
		name string
		mib  uint64
		want string
	}{{"c", 127, "max_memory_mb of 128"}, {"c", 128, ""}, {"d", 15, "max_memory_mb of 16"}, {"d", 16, ""},
		{"s", 127, "max_memory_mb of 128"}, {"s", 128, ""}, {"u", 1, ""}} {
		spec := job(c.name, "")
		if c.name == "s" || c.name == "u" {
			spec.JobType = push.JobType{Mcp: &push.Mcp{Server: c.name, Tool: "t", Arguments: "{}"}}
		}
		spec.Bounds.MaxMemoryMB = c.mib
		refusal := r.Executor.Accepts(spec)
		if c.want == "" && refusal != nil || c.want != "" && (refusal == nil || refusal.Reason != push.Unsupported ||
			!strings.Contains(refusal.Detail, c.want)) {
			t.Errorf("%s with %d MiB: %v, want %q", c.name, c.mib, refusal, c.want)
		}
	}
}

func TestWhatEveryRunnerHas(t *testing.T) {
	for text, want := range map[string]string{
		"[custom]":                                  "name",
		"name = 'r'\napi = 'x'\n[custom]":           "api",
		"name = 'r'\napi = 'http://a'\n[custom]":    "key",
		strings.Replace(head, "46", "", 1):          "key",
		strings.Replace(head, "0x", "", 1):          "key",
		strings.ReplaceAll(head, "46", "ff"):        "key",
		strings.Replace(head, "key", "key_file", 1): "key_file",
	} {
		_, err := Open(write(t, text, nil))
		if wrong := (*configfile.Error)(nil); !errors.As(err, &wrong) || wrong.Key != want || !strings.Contains(err.Error(), "runner.toml") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := Open(write(t, strings.Repeat("#", configfile.MaxBytes+1), nil)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
}

func TestASecretIsInNoMessage(t *testing.T) {
	r, err := Open(write(t, head+"[custom]\nexecutors = ['echo']", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Executor.Close()
	if text := fmt.Sprintf("%v %+v", r, r.Key); strings.Contains(text, "4646") {
		t.Error(text)
	}
	if r.Manual != nil || r.Jobs != DefaultJobs {
		t.Errorf("%+v", r)
	}
}

// A secret without quotes is in no part of the runner's messages.
func TestASecretWithoutQuotesIsInNoMessage(t *testing.T) {
	digits := strings.Repeat("46", 32)
	for _, value := range []string{"0x" + digits, digits, "0x" + digits + "z", "feed" + digits, "[feed" + digits + "]", "0b" + digits,
		digits + ":00", "1979-" + digits, digits + ".5.5", "+0x" + digits, "1_" + digits, "0" + digits, "1e" + digits, "\"\\u" + digits + "\""} {
		for _, key := range []string{"key", "driver"} {
			path := write(t, "name = 'r'\napi = 'http://a'\n"+key+" = "+value+"\n[custom]", nil)
			_, err := Open(path)
			if wrong := (*configfile.Error)(nil); !errors.As(err, &wrong) || wrong.Line != 3 || strings.Contains(err.Error(), "4646") {
				t.Errorf("%s = %s: %v", key, value, err)
			}
			var peeked struct{ API string }
			if err := configfile.Peek(path, &peeked); err != nil && strings.Contains(err.Error(), "4646") {
				t.Errorf("%s = %s: peeked, %v", key, value, err)
			}
		}
	}
}

func TestWhatADevnetsOwnRunnerDoes(t *testing.T) {
	set, manual := Own()
	defer set.Close()
	if got := set.Capabilities(); !slices.Equal(got, []string{"custom", "llm"}) {
		t.Errorf("%q", got)
	}
	told := make(chan execution.Report, 1)
	set.Execute(execution.ID{Job: types.Hash{1}}, job("echo", "x"), func(r execution.Report) { told <- r })
	if r := <-told; string(r.Result) != "x" {
		t.Errorf("%+v", r)
	}
	if len(manual.Waiting()) != 0 {
		t.Error("nothing waits")
	}
	other := job("", "")
	other.JobType = push.JobType{Llm: &push.Llm{Model: "any", Prompt: "a", MaxTokens: 1}}
	if r := set.Accepts(other); r != nil {
		t.Error(r)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(head + "[custom]")
	f.Add(head + "[http]\ndomains = ['a.test']\n[llm]\ndefault = 'offline'\n[ethsend.chains.1]\nendpoint = 'http://a'")
	f.Add("[a.b]\nc = 1\n[[x]]")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "custom") { // whose programs would be started for a check
			return
		}
		r, err := Open(write(t, text, nil))
		if err == nil {
			r.Executor.Close()
		}
	})
}
