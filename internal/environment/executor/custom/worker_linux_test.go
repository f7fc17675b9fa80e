package custom

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
)

// worker is a worker program that is a shell script, which may offer a and b; the files that
// it leaves are found.
func worker(t *testing.T, script string) *Worker {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	w, err := NewWorker(WorkerConfig{Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Executors: []string{"b", "a"},
		Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return w
}

// takes makes a script that accepts each job and answers its work by lines, in which N is
// the number of the work.
func takes(lines string) string {
	return `while read -r line; do n=${line#*\"id\":}; n=${n%%[,\}]*}
case $line in *judge*) echo "{\"say\":\"accept\",\"id\":$n}";; *work*) ` + lines + `;; esac; done`
}

func say(fields string) string {
	return `echo "{` + strings.ReplaceAll(strings.ReplaceAll(fields, `"`, `\"`), "N", "$n") + `}"`
}

// did does a job by a worker, and returns the words of its progress.
func did(t *testing.T, w *Worker, params string) (told []string, result string, err error) {
	t.Helper()
	k := New(w.Executors())
	spec := job("a", params)
	if r := k.Accepts(spec); r != nil {
		return nil, "", r
	}
	data, err := k.Do(t.Context(), executor.NewJob(idOf(7), spec, func(percent uint8, words string) {
		told = append(told, fmt.Sprint(percent, " ", words))
	}))
	return told, string(data), err
}

func TestAWorkerProgramDoesJobs(t *testing.T) {
	w := worker(t, takes(say(`"say":"progress","id":N,"percent":40,"detail":"half\\u001b[1m"`)+";"+say(`"say":"progress","id":N,"percent":30`)+";"+
		say(`"say":"progress","id":99,"percent":50`)+";"+say(`"say":"result","id":N,"result":"0x6f6b"`)))
	for range 2 { // the program stays
		told, result, err := did(t, w, "x")
		if err != nil || result != "ok" || !slices.Equal(told, []string{"40 half [1m"}) {
			t.Fatalf("%q, %q, %v", told, result, err)
		}
	}
	if len(w.restarts) != 1 {
		t.Errorf("started %d times", len(w.restarts))
	}
}

func TestAWorkerProgramRefusesOrFails(t *testing.T) {
	refuses := worker(t, `read -r line; echo '{"say":"refuse","id":1,"why":"not\u0007 today"}'; cat >/dev/null`)
	for range 2 { // a remembered verdict answers the second
		_, _, err := did(t, refuses, "x")
		if r, is := err.(*execution.Refusal); !is || r.Reason != push.Unsupported || r.Detail != "not  today" {
			t.Errorf("%v", err)
		}
	}
	if refuses.last != 1 {
		t.Errorf("%d questions", refuses.last)
	}
	_, _, err := did(t, worker(t, takes(say(`"say":"failure","id":N,"why":"no ink"`))), "x")
	if err == nil || err.Error() != "no ink" {
		t.Errorf("%v", err)
	}
}

// Whatever breaks the protocol ends the program, and its jobs fail by name.
func TestAHostileWorkerProgramIsEnded(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"echo last words >&2; exit 3", "the worker program ended: exit status 3: last words"},
		{"exit 0", "exit status 0"},
		{"echo nonsense", "line 2 of its output: no JSON"},
		{"echo '[]'", "no line of the protocol"},
		{say(`"say":"result","id":N,"result":"0x6f6b","more":1`), `unknown field "more"`},
		{say(`"say":"result","id":N`), "a result without a field result"},
		{say(`"say":"result","id":N,"result":"6f"`), "hexadecimal"},
		{say(`"say":"progress","id":N,"percent":256`), "no line of the protocol"},
		{say(`"say":"sing","id":N`), `say is "sing"`},
		{say(`"say":"offer"`), "an offer without a field executors"},
		{say(`"say":"offer","executors":["echo"]`), `offer of "echo"`},
		{"head -c 3000000 /dev/zero | tr '\\0' x", "a line of its output has more than"},
		{"yes '{\"say\":\"progress\",\"id\":99,\"percent\":1}'", "lines in a row that change nothing"},
		{"yes '{\"say\":\"offer\",\"executors\":[\"a\"]}\n{\"say\":\"offer\",\"executors\":[\"b\"]}'", "lines in a row that change nothing"},
		{"setsid sleep 1000 >/dev/null & exec 1>&-; sleep 1000", "signal: killed"},
	} {
		w := worker(t, takes(c.lines))
		_, result, err := did(t, w, "x")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", c.lines, result, err)
		}
		w.Close()
	}
}

// A program that dies is started again within the bound of restarts, and then not.
func TestAWorkerProgramIsStartedAgainWithinABound(t *testing.T) {
	w := worker(t, "echo gone >&2; exit 1")
	var last error
	for range 7 {
		_, _, last = did(t, w, "x")
		if last == nil {
			t.Fatal("it did the job")
		}
	}
	if !strings.Contains(last.Error(), "was started 5 times within 1m0s, and is not started for a while: exit status 1: gone") {
		t.Error(last)
	}
}

// A program that judges nothing holds a runner up once, and no more until it answers; one
// that reads nothing is ended.
func TestAWorkerProgramThatIsSilent(t *testing.T) {
	w := worker(t, "exec sleep 1000")
	for _, want := range []string{"did not judge the job within 500ms", "has not judged another job"} {
		r := New(w.Executors()).Accepts(job("a", want))
		if r == nil || r.Reason != push.Capacity || !strings.Contains(r.Detail, want) {
			t.Errorf("%v", r)
		}
	}
	failed := make(chan error, 20)
	for range cap(failed) {
		go func() {
			_, err := w.giveJob(t.Context(), "a", executor.NewJob(idOf(7), job("a", strings.Repeat("x", 1<<19)), nil))
			failed <- err
		}()
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "of its orders are unread") {
		t.Error(err)
	}
}

// A program's offer is its runner's offer, and a job for another executor is
// refused.
func TestAWorkerProgramChangesItsOffer(t *testing.T) {
	w := worker(t, `echo '{"say":"offer","executors":["b"]}'; cat >/dev/null`)
	k := New(w.Executors()).Named([]string{"a", "b"})
	if got := k.Capabilities(); !slices.Equal(got, []string{"executor:a", "executor:b"}) {
		t.Errorf("before it said anything: %q", got)
	}
	changed := make(chan bool, 9)
	w.Begin(slog.New(slog.DiscardHandler), func() { changed <- true })
	<-changed
	if got := k.Capabilities(); !slices.Equal(got, []string{"executor:b"}) {
		t.Errorf("%q", got)
	}
	if r := k.Accepts(job("a", "")); r == nil || !strings.Contains(r.Detail, `does not offer the executor "a" now`) {
		t.Errorf("%v", r)
	}
}

// The program is notified of cancelled work, and the runner does not wait for its end.
func TestWorkOfAWorkerProgramIsCancelled(t *testing.T) {
	w := worker(t, takes("read -r line; case $line in *cancel*) "+say(`"say":"offer","executors":[]`)+";; esac"))
	changed := make(chan bool, 9)
	w.Begin(slog.New(slog.DiscardHandler), func() { changed <- true })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.giveJob(ctx, "a", executor.NewJob(idOf(7), job("a", ""), nil)); err == nil {
		t.Error("it has a result")
	}
	<-changed
}

// A set ends its worker program with itself.
func TestASetEndsItsWorkerProgram(t *testing.T) {
	w := worker(t, "exec sleep 1000")
	set := executor.New(executor.Config{Kinds: map[push.JobKind]executor.Kind{push.JobCustom: New(w.Executors())}, Close: w.Close})
	w.Begin(slog.New(slog.DiscardHandler), func() {})
	set.Close()
	if w.life != nil {
		t.Error("it runs")
	}
	if r := set.Accepts(job("a", "")); r == nil || !strings.Contains(r.Detail, "was ended with its runner") {
		t.Errorf("%v", r)
	}
}

func FuzzWhatAWorkerProgramSays(f *testing.F) {
	f.Add([]byte(`{"say":"result","id":1,"result":"0x00"}`))
	f.Add([]byte(`{"say":"offer","executors":["a"]}`))
	f.Add([]byte(`{"say":"progress","id":1,"percent":40,"detail":"a"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if s, err := parseLine(line); err == nil && (s.Say == "result") != (s.Result != nil && s.Say == "result") {
			t.Errorf("%q: %+v", line, s)
		}
	})
}
