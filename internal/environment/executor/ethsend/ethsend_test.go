package ethsend

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
)

var (
	signed = []byte{0x02, 0xc0, 0x01}
	hash   = types.Keccak(signed)
)

func job(chain uint64, transaction []byte, format push.DataFormat) *push.JobSpec {
	return &push.JobSpec{
		JobType:      push.JobType{EthSend: &push.EthSend{Chain: chain, SignedTransaction: transaction}},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: format},
	}
}

// node answers calls by their methods, in turn if there are several answers.
func node(t *testing.T, answers map[string][]string) (to string, calls *[]string) {
	t.Helper()
	calls = new([]string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			JSONRPC string            `json:"jsonrpc"`
			ID      int               `json:"id"`
			Method  string            `json:"method"`
			Params  []json.RawMessage `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil || call.JSONRPC != "2.0" {
			t.Errorf("%v, %+v", err, call)
		}
		*calls = append(*calls, fmt.Sprintf("%s%s", call.Method, call.Params))
		list := answers[call.Method]
		if len(list) == 0 {
			t.Errorf("%s was not expected", call.Method)
			return
		}
		if len(list) > 1 {
			answers[call.Method] = list[1:]
		}
		io.WriteString(w, list[0])
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

func result(v string) string { return `{"jsonrpc":"2.0","id":1,"result":` + v + `}` }

const refusal = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"already known"}}`

func do(t *testing.T, c Chain, format push.DataFormat) (string, error) {
	t.Helper()
	k, err := New(map[uint64]Chain{1337: c})
	if err != nil {
		t.Fatal(err)
	}
	k.every = time.Millisecond
	spec := job(1337, signed, format)
	if r := k.Accepts(spec); r != nil {
		t.Fatal(r)
	}
	got, err := k.Do(t.Context(), executor.NewJob(execution.ID{}, spec, nil))
	return string(got), err
}

func TestATransactionIsSentAndItsHashIsTheResult(t *testing.T) {
	for format, want := range map[push.DataFormat]string{push.FormatBytes: string(hash[:]),
		push.FormatText: hash.String(), push.FormatJSON: `"` + hash.String() + `"`} {
		to, calls := node(t, map[string][]string{"eth_chainId": {result(`"0x539"`)},
			"eth_sendRawTransaction": {result(`"` + hash.String() + `"`)}})
		got, err := do(t, Chain{Endpoint: to}, format)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", format, got, err)
		}
		if all := strings.Join(*calls, " "); all != `eth_chainId[] eth_sendRawTransaction["0x02c001"]` {
			t.Error(all)
		}
	}
}

// All runners of a committee send the same: the node reports that to all but the
// fastest, in words that differ from node to node.
func TestATransactionThatIsKnownIsSent(t *testing.T) {
	answers := map[string][]string{"eth_chainId": {result(`"0x539"`)}, "eth_sendRawTransaction": {refusal},
		"eth_getTransactionByHash": {result(`{"hash":"0x1"}`)}}
	to, _ := node(t, answers)
	if got, err := do(t, Chain{Endpoint: to}, push.FormatText); err != nil || got != hash.String() {
		t.Errorf("%q, %v", got, err)
	}
	answers["eth_getTransactionByHash"] = []string{result("null")}
	if got, err := do(t, Chain{Endpoint: to}, push.FormatText); err == nil || !strings.Contains(err.Error(), "already known") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAReceiptIsWaitedFor(t *testing.T) {
	to, calls := node(t, map[string][]string{
		"eth_chainId": {result(`"0x539"`)}, "eth_sendRawTransaction": {result(`"` + hash.String() + `"`)},
		"eth_getTransactionReceipt": {refusal, "<html>502", result(" null "), result(`{"status":"0x0"}`)},
		"eth_getTransactionByHash":  {result(`{"hash":"0x1"}`)},
	})
	if got, err := do(t, Chain{Endpoint: to, Receipt: true}, push.FormatText); err != nil || got != hash.String() || len(*calls) != 7 {
		t.Errorf("%q, %v, %v", got, err, *calls)
	}
}

// A send whose answer was lost may have arrived: the same is sent again, and pays nothing twice.
func TestALostAnswerEndsNoPayment(t *testing.T) {
	to, calls := node(t, map[string][]string{
		"eth_chainId":               {result(`"0x539"`)},
		"eth_sendRawTransaction":    {"<html>502 Bad Gateway", refusal},
		"eth_getTransactionByHash":  {result(`{"hash":"0x1"}`)},
		"eth_getTransactionReceipt": {result(`{"status":"0x1"}`)},
	})
	if got, err := do(t, Chain{Endpoint: to, Receipt: true}, push.FormatText); err != nil || got != hash.String() {
		t.Errorf("%q, %v, %v", got, err, *calls)
	}
}

// A transaction that the node has no more was replaced or dropped: that is told at once, and
// one node that has not heard of it yet among several ends nothing.
func TestAReplacedTransactionIsToldAtOnce(t *testing.T) {
	answers := map[string][]string{
		"eth_chainId": {result(`"0x539"`)}, "eth_sendRawTransaction": {result(`"` + hash.String() + `"`)},
		"eth_getTransactionReceipt": {result("null")},
		"eth_getTransactionByHash":  {result("null"), result("null"), result(`{"hash":"0x1"}`), result("null")},
	}
	to, calls := node(t, answers)
	_, err := do(t, Chain{Endpoint: to, Receipt: true}, push.FormatText)
	var refusal *execution.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Detail, "replaced or dropped") || len(*calls) != 2+2*6 {
		t.Errorf("%v after %v", err, *calls)
	}
}

// The hash of a transaction with blobs leaves out the blobs (EIP-4844, and EIP-7594 with its
// version), and one that cannot be read is refused before it is sent.
func TestTheHashOfATransactionWithBlobs(t *testing.T) {
	payload := []byte{0xc3, 0x01, 0x02, 0x03}
	want := types.Keccak([]byte{0x03}, payload)
	for name, signed := range map[string][]byte{
		"alone":          append([]byte{0x03}, payload...),
		"with blobs":     {0x03, 0xc7, 0xc3, 0x01, 0x02, 0x03, 0xc0, 0xc0, 0xc0},
		"with a version": {0x03, 0xc8, 0xc3, 0x01, 0x02, 0x03, 0x01, 0xc0, 0xc0, 0xc0},
	} {
		if got, err := hashOf(signed); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	long := append([]byte{0x03, 0xf9, 0x01, 0x04, 0xc3, 0x01, 0x02, 0x03, 0xb8, 0xfe}, make([]byte, 0xfe)...)
	if got, err := hashOf(long); err != nil || got != want {
		t.Errorf("a long one: %s, %v", got, err)
	}
	k, _ := New(map[uint64]Chain{1337: {Endpoint: "http://127.0.0.1:1"}})
	for _, signed := range [][]byte{{0x03}, {0x03, 0x01}, {0x03, 0xc2, 0xc3}, {0x03, 0xc2, 0xc0}, {0x03, 0xc0},
		{0x03, 0xff, 0, 0, 0, 0, 0, 0, 0, 0}} {
		if r := k.Accepts(job(1337, signed, push.FormatText)); r == nil || r.Reason != push.BadSpec {
			t.Errorf("%x: %v", signed, r)
		}
	}
}

func FuzzHash(f *testing.F) {
	f.Add([]byte{0x03, 0xc7, 0xc3, 0x01, 0x02, 0x03, 0xc0, 0xc0, 0xc0})
	f.Fuzz(func(t *testing.T, signed []byte) {
		if got, err := hashOf(signed); err != nil && got != (types.Hash{}) {
			t.Errorf("%s, %v", got, err)
		}
	})
}

func TestAnEndpointDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct{ chain, sent, want string }{
		"another chain":  {result(`"0x1"`), "", "serves chain"},
		"no chain":       {result("null"), "", "serves chain"},
		"another hash":   {result(`"0x539"`), result(`"0x00"`), "and the transaction is"},
		"no hash":        {result(`"0x539"`), `{}`, "and the transaction is"},
		"no JSON":        {`<html>`, "", "no JSON-RPC: <html>"},
		"another type":   {`[]`, "", "no JSON-RPC"},
		"much":           {`"` + strings.Repeat("a", maxAnswer), "", "more than"},
		"a long refusal": {`{"error":{"code":1,"message":"` + strings.Repeat("a", 100_000) + `"}}`, "", "the node refuses (1)"},
	} {
		to, _ := node(t, map[string][]string{"eth_chainId": {c.chain}, "eth_sendRawTransaction": {c.sent}})
		if got, err := do(t, Chain{Endpoint: to}, push.FormatText); err == nil ||
			!strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestWhatIsNotSent(t *testing.T) {
	k, err := New(map[uint64]Chain{1: {Endpoint: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec *push.JobSpec
		want push.RejectReason
	}{
		{job(2, signed, push.FormatText), push.Unsupported},
		{job(1, nil, push.FormatText), push.BadSpec},
		{job(1, make([]byte, push.MaxTransaction+1), push.FormatText), push.BadSpec},
		{job(1, []byte{0}, push.FormatText), push.BadSpec},
		{job(1, []byte{0x80}, push.FormatText), push.BadSpec},
	} {
		if r := k.Accepts(c.spec); r == nil || r.Reason != c.want {
			t.Errorf("%v", r)
		}
	}
	if len(k.Capabilities()) != 0 {
		t.Error("the wire has no words for chains")
	}
	if _, err := New(map[uint64]Chain{1: {Endpoint: "ws://a"}}); err == nil {
		t.Error("an endpoint that is not an HTTP URL")
	}
}
