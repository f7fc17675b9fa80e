package settings

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/configfile"
)

// A runner that runs reads its tables again: what it offers may differ, the jobs that wait
// for an answer by hand stay, and what is read at the start only is refused by its name.
func TestReopening(t *testing.T) {
	path := write(t, head+"poll_ms = 250\n[custom]\n", nil)
	first, err := Open(path)
	if err != nil || first.PollEvery != 250*time.Millisecond {
		t.Fatal(first, err)
	}
	defer first.Executor.Close()
	again := func(text string) (*Runner, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Reopen(path, first)
	}
	next, err := again(head + "poll_ms = 250\nentitlements = ['eu']\n[custom]\n[llm]\ndefault = 'offline'\n")
	if err != nil {
		t.Fatal(err)
	}
	defer next.Executor.Close()
	if next.Manual != first.Manual || !slices.Equal(next.Executor.Capabilities(), []string{"custom", "llm"}) ||
		!slices.Equal(next.Executor.Entitlements(), []string{"eu"}) {
		t.Errorf("%v, %v", next.Executor.Capabilities(), next.Executor.Entitlements())
	}
	for text, want := range map[string]string{
		head + "[custom]": "poll_ms",
		head + "poll_ms = 250\nmax_concurrent_jobs = 9\n[custom]":                                     "max_concurrent_jobs",
		head + "poll_ms = 250\nalso = ['http://a.test']\n[custom]":                                    "also",
		"name = 'r8'\nkey = '" + secret + "'\napi = 'http://127.0.0.1:4000'\npoll_ms = 250\n[custom]": "name",
		"name = 'r9'\nkey = '" + secret + "'\napi = 'http://127.0.0.1:4001'\npoll_ms = 250\n[custom]": "api",
		head + "poll_ms = 250\ndriver = '0123456789abcdef'\ncontrol = '127.0.0.1:1'\n[custom]":        "driver",
		head + "poll_ms = 250\n[http]": "http.domains",
	} {
		if _, err := again(text); err == nil {
			t.Errorf("%q is taken", text)
		} else if wrong := (*configfile.Error)(nil); !errors.As(err, &wrong) || wrong.Key != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
