package execution

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func TestWordsAreCutAtTheBorderOfACharacter(t *testing.T) {
	if short := "a short text"; Clip(short) != short {
		t.Errorf("%q was cut to %q", short, Clip(short))
	}
	for pad := range 4 {
		long := strings.Repeat("a", pad) + strings.Repeat("€", MaxDetail)
		cut := Clip(long)
		if len(cut) > MaxDetail || len(cut) < MaxDetail-3 || !utf8.ValidString(cut) || !strings.HasPrefix(long, cut) {
			t.Errorf("after %d letters: %d bytes, valid %t", pad, len(cut), utf8.ValidString(cut))
		}
	}
}

func TestATokenIsFourBytesRoundedUp(t *testing.T) {
	if Tokens("abcd", "e") != 2 || Tokens("") != 0 || Tokens("abcd") != 1 {
		t.Errorf("%d, %d, %d", Tokens("abcd", "e"), Tokens(""), Tokens("abcd"))
	}
}

func TestWhatNoRunnerAcceptsIsSaidOfItsField(t *testing.T) {
	system, body := "1234", types.Bytes("x")
	good := push.Llm{Prompt: "abcd", SystemPrompt: &system, MaxTokens: 1, Temperature: MaxTemperature}
	cold, hot, mute, long := good, good, good, good
	cold.Temperature, hot.Temperature, mute.MaxTokens, long.Prompt = 0, 2001, 0, "abcde"
	for _, c := range []struct {
		job  push.JobType
		want string
	}{
		{push.JobType{Llm: &good}, ""}, {push.JobType{Llm: &cold}, ""},
		{push.JobType{EthSend: &push.EthSend{Chain: 1, SignedTransaction: []byte{2}}}, ""},
		{push.JobType{Llm: &hot}, "CIP-2: job_type.Llm.temperature: 2.001 is not between 0 and 2"},
		{push.JobType{Llm: &mute}, "CIP-2: job_type.Llm.max_tokens: 0 is below the minimum 1"},
		{push.JobType{Llm: &long}, "CIP-2: bounds.max_input_tokens: 2 is too low: the prompts count as 3"},
		{push.JobType{EthSend: &push.EthSend{}}, "CIP-2: job_type.EthSend.chain: 0 is below the minimum 1"},
		{push.JobType{EthSend: &push.EthSend{Chain: 1}}, "CIP-2: job_type.EthSend.signed_transaction: 0 bytes, want 1 to 131072"},
		{push.JobType{EthSend: &push.EthSend{Chain: 1, SignedTransaction: []byte{0x80}}},
			"CIP-2: job_type.EthSend.signed_transaction: invalid first byte 0x80 of a transaction (EIP-2718)"},
		{push.JobType{Http: &push.Http{Method: "GET", Headers: [][2]string{{"x-a", "a\tb"}}}}, ""},
		{push.JobType{Http: &push.Http{Method: "POST", Body: &body}}, ""},
		{push.JobType{Http: &push.Http{Method: "get"}},
			`CIP-2: job_type.Http.method: "get" is none of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS`},
		{push.JobType{Http: &push.Http{Method: "GET", Body: &body}}, "CIP-2: job_type.Http.body: a GET has none"},
		{push.JobType{Http: &push.Http{Method: "GET", Headers: make([][2]string, 33)}}, "CIP-2: job_type.Http.headers: there are 33, at most 32"},
		{push.JobType{Http: &push.Http{Method: "GET", Headers: [][2]string{{"a b", ""}}}},
			`CIP-2: job_type.Http.headers: invalid header name "a b"`},
		{push.JobType{Http: &push.Http{Method: "GET", Headers: [][2]string{{"x-a", "\r"}}}},
			"CIP-2: job_type.Http.headers: x-a has more than 4096 bytes, or others than printed ASCII"},
		{push.JobType{Custom: &push.Custom{}}, ""},
	} {
		got := ""
		if wrong := Check(&push.JobSpec{JobType: c.job, Bounds: push.Bounds{MaxInputTokens: 2}}); wrong != nil {
			got = wrong.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestARefusalSaysItsReason(t *testing.T) {
	r := Refuse(push.Unsupported, "no model %q", strings.Repeat("m", 2*MaxDetail))
	if !strings.HasPrefix(r.Error(), "Unsupported: no model \"mm") || len(r.Detail) != MaxDetail {
		t.Errorf("%d bytes: %s", len(r.Detail), r)
	}
}
