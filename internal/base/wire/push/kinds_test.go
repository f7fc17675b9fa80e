package push

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// TestEachKindHasItsRow reads the field of each kind from JobType: its number, its name and
// the struct of the row agree.
func TestEachKindHasItsRow(t *testing.T) {
	fields := fieldsOf(reflect.TypeFor[JobType]())
	if len(fields) != len(jobKinds) {
		t.Fatalf("JobType has %d kinds, and the table %d", len(fields), len(jobKinds))
	}
	seen := map[JobKind]bool{}
	for _, f := range fields {
		var job JobType
		v := reflect.ValueOf(&job).Elem().Field(f.index)
		v.Set(reflect.New(v.Type().Elem()))
		kind := job.Kind()
		parsed, err := ParseJobKind(kind.String())
		if kind == 0 || seen[kind] || err != nil || parsed != kind || kind.String() != strings.ToLower(f.name) {
			t.Errorf("%s: the kind %d %q, parsed as %d: %v", f.name, kind, kind, parsed, err)
		}
		seen[kind] = true
	}
}

func TestATokenIsFourBytesRoundedUp(t *testing.T) {
	if Tokens("abcd", "e") != 2 || Tokens("") != 0 || Tokens("abcd") != 1 {
		t.Errorf("%d, %d, %d", Tokens("abcd", "e"), Tokens(""), Tokens("abcd"))
	}
}

func TestWhatNoRunnerAcceptsIsSaidOfItsField(t *testing.T) {
	system, body := "1234", types.Bytes("x")
	good := Llm{Prompt: "abcd", SystemPrompt: &system, MaxTokens: 1, Temperature: MaxTemperature}
	cold, hot, mute, long := good, good, good, good
	cold.Temperature, hot.Temperature, mute.MaxTokens, long.Prompt = 0, 2001, 0, "abcde"
	for _, c := range []struct {
		job  JobType
		want string
	}{
		{JobType{Llm: &good}, ""}, {JobType{Llm: &cold}, ""},
		{JobType{EthSend: &EthSend{Chain: 1, SignedTransaction: []byte{2}}}, ""},
		{JobType{Llm: &hot}, "CIP-2: job_type.Llm.temperature: 2.001 is not between 0 and 2"},
		{JobType{Llm: &mute}, "CIP-2: job_type.Llm.max_tokens: 0 is below the minimum 1"},
		{JobType{Llm: &long}, "CIP-2: bounds.max_input_tokens: 2 is too low: the prompts count as 3"},
		{JobType{EthSend: &EthSend{}}, "CIP-2: job_type.EthSend.chain: 0 is below the minimum 1"},
		{JobType{EthSend: &EthSend{Chain: 1}}, "CIP-2: job_type.EthSend.signed_transaction: 0 bytes, want 1 to 131072"},
		{JobType{EthSend: &EthSend{Chain: 1, SignedTransaction: make([]byte, MaxTransaction+1)}},
			"CIP-2: job_type.EthSend.signed_transaction: 131073 bytes, want 1 to 131072"},
		{JobType{EthSend: &EthSend{Chain: 1, SignedTransaction: append([]byte{3}, make([]byte, MaxTransaction)...)}},
			"CIP-2: job_type.EthSend.signed_transaction: 131073 bytes, want 1 to 131072: no job sends a transaction with its blobs"},
		{JobType{EthSend: &EthSend{Chain: 1, SignedTransaction: []byte{0x80}}},
			"CIP-2: job_type.EthSend.signed_transaction: invalid first byte 0x80 of a transaction (EIP-2718)"},
		{JobType{Http: &Http{Method: "GET", Headers: [][2]string{{"x-a", "a\tb"}}}}, ""},
		{JobType{Http: &Http{Method: "POST", Body: &body}}, ""},
		{JobType{Http: &Http{Method: "get"}},
			`CIP-2: job_type.Http.method: "get" is none of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS`},
		{JobType{Http: &Http{Method: "GET", Body: &body}}, "CIP-2: job_type.Http.body: a GET has none"},
		{JobType{Http: &Http{Method: "GET", Headers: make([][2]string, 33)}}, "CIP-2: job_type.Http.headers: there are 33, at most 32"},
		{JobType{Http: &Http{Method: "GET", Headers: [][2]string{{"a b", ""}}}},
			`CIP-2: job_type.Http.headers: invalid header name "a b"`},
		{JobType{Http: &Http{Method: "GET", Headers: [][2]string{{"x-a", "\r"}}}},
			"CIP-2: job_type.Http.headers: x-a has more than 4096 bytes, or others than printed ASCII"},
		{JobType{Custom: &Custom{}}, ""},
	} {
		got := ""
		if wrong := (&JobSpec{JobType: c.job, Bounds: Bounds{MaxInputTokens: 2}}).Acceptable(); wrong != nil {
			got = wrong.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
