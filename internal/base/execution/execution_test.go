package execution

import (
	"strings"
	"testing"
	"unicode/utf8"

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

func TestNumbersThatNoRunnerAcceptsAreSaidOfTheirField(t *testing.T) {
	system := "1234"
	good := push.Llm{Prompt: "abcd", SystemPrompt: &system, MaxTokens: 1, Temperature: MaxTemperature}
	cold, hot, mute, long := good, good, good, good
	cold.Temperature, hot.Temperature, mute.MaxTokens, long.Prompt = 0, 2001, 0, "abcde"
	for _, c := range []struct {
		job  push.JobType
		want string
	}{
		{push.JobType{Llm: &good}, ""}, {push.JobType{Llm: &cold}, ""}, {push.JobType{EthSend: &push.EthSend{Chain: 1}}, ""},
		{push.JobType{Llm: &hot}, "CIP-2: job_type.Llm.temperature: it is 2.001, not 0 to 2"},
		{push.JobType{Llm: &mute}, "CIP-2: job_type.Llm.max_tokens: it is 0, at least 1"},
		{push.JobType{Llm: &long}, "CIP-2: bounds.max_input_tokens: it is 2, and the prompts count as 3"},
		{push.JobType{EthSend: &push.EthSend{}}, "CIP-2: job_type.EthSend.chain: it is 0, at least 1"},
		{push.JobType{Custom: &push.Custom{}}, ""},
	} {
		got := ""
		if wrong := CheckNumbers(&push.JobSpec{JobType: c.job, Bounds: push.Bounds{MaxInputTokens: 2}}); wrong != nil {
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
