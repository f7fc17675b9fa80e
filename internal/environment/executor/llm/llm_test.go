package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/cassette"
)

func job(model, prompt string, change ...func(*push.JobSpec)) *push.JobSpec {
	s := &push.JobSpec{
		JobType:      push.JobType{Llm: &push.Llm{Model: model, Prompt: prompt, Temperature: 700, MaxTokens: 100}},
		Bounds:       push.Bounds{MaxInputTokens: 100, MaxOutputTokens: 1000, MaxMemoryMB: 1},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 1 << 20, DataFormat: push.FormatText},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func do(t *testing.T, k *Kind, spec *push.JobSpec) (string, error) {
	t.Helper()
	if r := k.Accepts(spec); r != nil {
		t.Fatal(r)
	}
	result, err := k.Do(t.Context(), executor.NewJob(execution.ID{}, spec, nil))
	return string(result), err
}

func kind(t *testing.T, config Config) *Kind {
	t.Helper()
	k, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTheOfflineModelSaysWhatItIsAndAlwaysTheSame(t *testing.T) {
	k := kind(t, Config{Models: map[string]Model{Offline: {}}, Default: Offline})
	system := "a system prompt"
	seen := map[string]bool{}
	for _, spec := range []*push.JobSpec{
		job(Offline, "a"), job(Offline, "b"), job("any-other-model", "a"),
		job(Offline, "a", func(s *push.JobSpec) { s.JobType.Llm.Temperature = 0 }),
		job(Offline, "a", func(s *push.JobSpec) { s.JobType.Llm.SystemPrompt = &system }),
		job(Offline, "a", func(s *push.JobSpec) { s.ResultSchema.DataFormat = push.FormatJSON }),
	} {
		got, err := do(t, k, spec)
		again, _ := do(t, k, spec)
		if err != nil || got != again || !strings.Contains(got, "no language model") || seen[got] {
			t.Errorf("%q and %q, %v, seen %t", got, again, err, seen[got])
		}
		seen[got] = true
	}
	short := func(s *push.JobSpec) { s.Bounds.MaxOutputTokens = 3 }
	if got, err := do(t, k, job(Offline, "a", short)); err != nil || len(got) != 12 {
		t.Errorf("three tokens are twelve bytes: %q, %v", got, err)
	}
	inJSON := func(s *push.JobSpec) { s.ResultSchema.DataFormat = push.FormatJSON }
	if got, err := do(t, k, job(Offline, "a", short, inJSON)); err == nil {
		t.Errorf("JSON cannot be cut: %q", got)
	}
	if got, _ := do(t, k, job(Offline, "a", inJSON)); !strings.HasPrefix(got, `{"digest":"0x`) {
		t.Errorf("%q", got)
	}
}

func TestWhatAModelDoesNotTake(t *testing.T) {
	k := kind(t, Config{Models: map[string]Model{Offline: {}, "m": {Endpoint: "http://127.0.0.1:1"}}})
	for _, c := range []struct {
		spec *push.JobSpec
		want push.RejectReason
	}{
		{job("other", "a"), push.Unsupported},
		{job(Offline, strings.Repeat("a", 401)), push.BadSpec},
		{job(Offline, "a", func(s *push.JobSpec) { s.JobType.Llm.MaxTokens = 0 }), push.BadSpec},
		{job(Offline, "a", func(s *push.JobSpec) { s.JobType.Llm.Temperature = 2001 }), push.BadSpec},
	} {
		if r := k.Accepts(c.spec); r == nil || r.Reason != c.want {
			t.Errorf("%v", r)
		}
	}
	if got := k.Capabilities(); !slices.Equal(got, []string{"model:m", "model:offline"}) {
		t.Errorf("%v", got)
	}
	every := kind(t, Config{Models: map[string]Model{Offline: {}}, Default: Offline})
	if got := every.Capabilities(); len(got) != 0 || every.Accepts(job("other", "a")) != nil {
		t.Errorf("a runner with a default for every model names %v", got)
	}
	for _, endpoint := range []string{"x", "ftp://a", "http://", "http://a b"} {
		if _, err := New(Config{Models: map[string]Model{"m": {Endpoint: endpoint}}}); err == nil {
			t.Errorf("%q is an endpoint", endpoint)
		}
	}
	if _, err := New(Config{Default: "m"}); err == nil {
		t.Error("a default that there is not")
	}
}

// endpoint answers as OpenAI's API does.
func endpoint(t *testing.T, answer func(body string) (int, string)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with %v", r.URL, r.Header)
		}
		status, text := answer(string(body))
		w.WriteHeader(status)
		io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

func says(text string) string {
	return fmt.Sprintf(`{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"completion_tokens":5}}`, text)
}

func TestAnEndpointIsAsked(t *testing.T) {
	asked := ""
	url := endpoint(t, func(body string) (int, string) { asked = body; return 200, says("the answer") })
	k := kind(t, Config{Models: map[string]Model{"m": {Endpoint: url + "/", Key: "secret", Name: "real-name",
		TokensField: "max_completion_tokens"}}})
	system := "be <brief>"
	got, err := do(t, k, job("m", "why?", func(s *push.JobSpec) { s.JobType.Llm.SystemPrompt, s.Bounds.MaxOutputTokens = &system, 50 }))
	const want = `{"max_completion_tokens":50,"messages":[{"content":"be <brief>","role":"system"},{"content":"why?","role":"user"}],"model":"real-name","temperature":0.700}`
	if err != nil || got != "the answer" || asked != want {
		t.Errorf("%q, %v\n%s", got, err, asked)
	}
}

func TestAnswersOfAnEndpointAreAStrangers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		want   string
	}{
		"a status":        {500, says("x"), "status 500"},
		"no JSON":         {200, "<html>", "no JSON"},
		"no choice":       {200, `{"choices":[]}`, "without a text"},
		"another type":    {200, `{"choices":{"message":5}}`, "without a text"},
		"another reason":  {200, `{"choices":[{"message":{"content":"x"},"finish_reason":"abort"}]}`, `finish_reason is "abort"`},
		"an error in 200": {200, `{"error":{"message":"overloaded"}}`, "in choices: overloaded"},
		"a wrong key":     {401, `{"error":{"message":"Incorrect API key"}}`, "status 401: Incorrect API key"},
		"a full queue":    {429, `{"error":{"message":"slow down"}}`, "status 429: slow down"},
		"too many tokens": {200, `{"choices":[{"message":{"content":"x"}}],"usage":{"completion_tokens":101}}`, "took 101 tokens"},
		"too long a text": {200, `{"choices":[{"message":{"content":"` + strings.Repeat("x", 3201) + `"}}]}`, "more than 100 tokens"},
		"too long at all": {200, strings.Repeat(" ", 1<<20+1), "more than 1048576 bytes"},
		"deep":            {200, strings.Repeat("[", 100_000), "no JSON"},
	} {
		url := endpoint(t, func(string) (int, string) { return c.status, c.answer })
		k := kind(t, Config{Models: map[string]Model{"m": {Endpoint: url, Key: "secret"}}})
		if got, err := do(t, k, job("m", "a")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestARedirectDoesNotTakeTheKeyAway(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	k := kind(t, Config{Models: map[string]Model{"m": {Endpoint: s.URL, Key: "secret"}}})
	if got, err := do(t, k, job("m", "a")); err == nil || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestACassetteHoldsNoKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	record, err := cassette.Open(path, cassette.Record)
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]Model{"m": {Endpoint: endpoint(t, func(string) (int, string) { return 200, says("recorded") }), Key: "secret"}}
	if got, err := do(t, kind(t, Config{Models: models, Cassette: record}), job("m", "a")); err != nil || got != "recorded" {
		t.Fatalf("%q, %v", got, err)
	}
	replay, err := cassette.Open(path, cassette.Replay)
	if err != nil {
		t.Fatal(err)
	}
	models["m"] = Model{Endpoint: models["m"].Endpoint} // and needs none
	k := kind(t, Config{Models: models, Cassette: replay})
	if got, err := do(t, k, job("m", "a")); err != nil || got != "recorded" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := do(t, k, job("m", "b")); err == nil {
		t.Error("another prompt is another request")
	}
}

func TestAnEndpointThatNeverAnswersEndsWithTheJob(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer s.Close()
	k := kind(t, Config{Models: map[string]Model{"m": {Endpoint: s.URL}}})
	if result, err := k.Do(ctx, executor.NewJob(execution.ID{}, job("m", "a"), nil)); err == nil {
		t.Errorf("%q", result)
	}
}

// A text that the model did not end, an empty one and a request that the endpoint refuses for
// good are refused in words: the job chose them. The bodies are those of real servers.
func TestWhatTheModelDidNotEndIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		want   string
	}{
		"thought until its tokens were used": {200, `{"choices":[{"index":0,"message":{"role":"assistant","content":"","reasoning":"Okay, the user"},` +
			`"finish_reason":"length"}],"usage":{"completion_tokens":100}}`, "used its 100 tokens before it wrote a text"},
		"cut":                 {200, `{"choices":[{"message":{"content":"half a sen"},"finish_reason":"length"}]}`, "before it ended its text"},
		"filtered":            {200, `{"choices":[{"message":{"content":"half"},"finish_reason":"content_filter"}]}`, "a filter"},
		"a tool":              {200, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"x"}]},"finish_reason":"tool_calls"}]}`, "calls a tool"},
		"a tool, and stop":    {200, `{"choices":[{"message":{"content":"","tool_calls":[{}]},"finish_reason":"stop"}]}`, "calls a tool"},
		"declined":            {200, `{"choices":[{"message":{"content":null,"refusal":"I can't\nhelp"},"finish_reason":"stop"}]}`, "declines: I can't"},
		"empty":               {200, `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, "is empty"},
		"null":                {200, `{"choices":[{"message":{"content":null}}]}`, "is empty"},
		"thoughts alone":      {200, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}}]}`, "is empty"},
		"a field not taken":   {400, `{"error":{"message":"Unsupported parameter: 'max_tokens'"}}`, "status 400: Unsupported parameter: 'max_tokens'"},
		"a model that is not": {404, `{"error":"model 'x' not found"}`, "status 404: model 'x' not found"},
	} {
		url := endpoint(t, func(string) (int, string) { return c.status, c.answer })
		k := kind(t, Config{Models: map[string]Model{"m": {Endpoint: url, Key: "secret"}}})
		got, err := do(t, k, job("m", "a"))
		var refusal *execution.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != push.Unsupported || !strings.Contains(refusal.Detail, c.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// A text comes in any shape that the format has: parts, a byte order mark, no finish_reason.
func TestATextOfAnyShape(t *testing.T) {
	for body, want := range map[string]string{
		`{"choices":[{"message":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`: "ab",
		"\xef\xbb\xbf" + says("marked"):                                         "marked",
		`{"choices":[{"message":{"content":"x"},"finish_reason":null}]}`:        "x",
		`{"choices":[{"message":{"content":"x"},"finish_reason":"eos_token"}]}`: "x",
	} {
		url := endpoint(t, func(string) (int, string) { return 200, body })
		k := kind(t, Config{Models: map[string]Model{"m": {Endpoint: url, Key: "secret"}}})
		if got, err := do(t, k, job("m", "a")); err != nil || got != want {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}

// Some models take no temperature, and some endpoints no limit of tokens.
func TestFieldsMayBeLeftOut(t *testing.T) {
	asked := ""
	url := endpoint(t, func(body string) (int, string) { asked = body; return 200, says("x") })
	k := kind(t, Config{Models: map[string]Model{"m": {Endpoint: url, Key: "secret", Name: "n", TokensField: NoField, Cool: true}}})
	if _, err := do(t, k, job("m", "why?")); err != nil || asked != `{"messages":[{"content":"why?","role":"user"}],"model":"n"}` {
		t.Errorf("%s, %v", asked, err)
	}
}
