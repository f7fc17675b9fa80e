package client_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/clientgen/testdata/club"
	"github.com/cowboyinc/devnet/internal/faces/clientgen/testdata/every"
)

// network answers as one with the club's schema does, and keeps what was sent.
type network struct {
	schema string
	output string
	sent   map[string]any
}

func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/schema"):
		_, _ = w.Write([]byte(n.schema))
	default:
		n.sent = map[string]any{"path": r.URL.Path}
		_ = json.NewDecoder(r.Body).Decode(&n.sent)
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "ok", "output": types.Bytes(n.output).String(), "events": []any{
			map[string]any{"name": "Joined", "data": types.Bytes(`{"members":"-3","who":"` + types.Address{19: 7}.String() + `"}`).String()}}})
	}
}

func (n *network) payload(t *testing.T) string {
	t.Helper()
	var data types.Bytes
	if err := data.UnmarshalText([]byte(n.sent["payload"].(string))); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func begin(t *testing.T, schema, output string) (*network, *client.Client) {
	n := &network{schema: schema, output: output}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	return n, client.New(server.URL, nil)
}

// clubSchema is the document that the generated club was made of.
const clubSchema = "../internal/faces/clientgen/testdata/club.json"

func TestTypedCallsAreSentInTheOneForm(t *testing.T) {
	n, c := begin(t, read(t, clubSchema), `"1208925819614629174706176"`)
	note := "hé \u2028 <&>"
	r, err := club.NewClub(c, "club").Join(t.Context(), club.JoinArguments{Who: client.Address{19: 7}, Amount: client.CBY(5), Note: &note},
		client.From("bob"), client.WithValue(client.WeiOf(3)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"amount":"5000000000","note":"hé ` + "\u2028" + ` <&>","who":"0x0000000000000000000000000000000000000007"}`
	if got := n.payload(t); got != want || n.sent["from"] != "bob" || n.sent["value"] != "3" || n.sent["path"] != "/devnet/send" {
		t.Errorf("%s was sent, and not %s: %v", got, want, n.sent)
	}
	if power := new(big.Int).Lsh(big.NewInt(1), 80); r.Value.Big().Cmp(power) != 0 {
		t.Errorf("it returned %s", r.Value)
	}
	joined, err := club.NewClub(c, "club").JoinedEvents(r.Receipt)
	if err != nil || len(joined) != 1 || joined[0].Members != client.IntOf(-3) || joined[0].Who != (client.Address{19: 7}) {
		t.Errorf("%+v, %v", joined, err)
	}
}

// Each term of a call is a field of the request.
func TestTypedCallsCarryTheirTerms(t *testing.T) {
	n, c := begin(t, read(t, clubSchema), `"1"`)
	_, err := club.NewClub(c, "club").Join(t.Context(), club.JoinArguments{}, client.WithSponsor(client.WeiOf(9)),
		client.WithLimits(700_000, 4096), client.DryRun())
	if err != nil || n.sent["sponsor"] != "9" || n.sent["cycles_limit"] != 700_000.0 || n.sent["cells_limit"] != 4096.0 ||
		n.sent["dry_run"] != true {
		t.Errorf("%v was sent: %v", n.sent, err)
	}
}

func TestTypedIntegersAreReadWithinTheirBounds(t *testing.T) {
	big80 := new(big.Int).Lsh(big.NewInt(1), 80)
	parsed, err := client.ParseInt("1208925819614629174706176")
	made, fits := client.IntFromBig(big80)
	if err != nil || !fits || parsed != made || made.Big().Cmp(big80) != 0 {
		t.Errorf("%v and %v, %v, %v", parsed, made, fits, err)
	}
	if _, fits := client.IntFromBig(new(big.Int).Lsh(big80, 5000)); fits {
		t.Error("an integer beyond the bounds fits")
	}
	if _, err := client.ParseInt("1.5"); err == nil {
		t.Error("1.5 is an integer")
	}
}

// Omitted arguments stay omitted, and a read is not a transaction.
func TestTypedReadsAskTheLatestState(t *testing.T) {
	n, c := begin(t, read(t, clubSchema), "null")
	r, err := club.NewClub(c, "club").Member(t.Context(), club.MemberArguments{}, client.ReadOnly())
	if err != nil || r.Value != nil || n.sent["path"] != "/actor/read" {
		t.Errorf("%+v, %v, by %v", r, err, n.sent)
	}
	n.output = `{"note":null,"paid":"7","who":"0x0000000000000000000000000000000000000007"}`
	if r, err = club.NewClub(c, "club").Member(t.Context(), club.MemberArguments{}, client.ReadOnly()); err != nil ||
		r.Value == nil || r.Value.Paid != client.WeiOf(7) || r.Value.Note != nil {
		t.Errorf("%+v, %v", r.Value, err)
	}
	if _, err := club.NewClub(c, "club").Join(t.Context(), club.JoinArguments{}, client.ReadOnly()); err == nil {
		t.Error("an object passed as an integer")
	}
	if got := n.payload(t); strings.Contains(got, "note") {
		t.Errorf("%s was sent", got)
	}
}

func TestTypedCallsOfAnotherSchemaAreRefused(t *testing.T) {
	n, c := begin(t, strings.Replace(read(t, clubSchema), "Join for", "Joins for", 1), "")
	_, err := club.NewClub(c, "club").SetPrice(t.Context(), club.SetPriceArguments{})
	if err == nil || err.Error() != "the schema of club changed: run devnet actor client club again" || n.sent != nil {
		t.Errorf("%v, after %v", err, n.sent)
	}
}

// Every type is written, read back, and refused with its path where it does not fit.
func TestTypedValuesOfEveryTypeComeBack(t *testing.T) {
	box := `{"aB":255,"a_b":"18446744073709551615","color":"bl'u\"e` + "\u2028" + `","inner":{"self":false},"tags":["","x"]}`
	n, c := begin(t, read(t, "../internal/faces/clientgen/testdata/every.json"), box)
	e, small, tags := every.NewEvery(c, "every"), uint8(255), []string{"", "x"}
	color, one := every.ColorBLUE, client.IntOf(-1)
	a := every.EveryArguments{I: client.IntOf(-9), B64: 1<<64 - 1, Far: client.IntOf(1 << 53), Age: 150, Short: "é",
		Maybe:     &[]*client.Int{&one, nil},
		Bynumber:  map[client.Int][]bool{client.IntOf(10): {true}, client.IntOf(-2): nil},
		Byaddress: map[client.Address]every.Level{{19: 1}: every.LevelLOW},
		Box:       every.Box{AB: 1<<64 - 1, AB_: &small, Tags: &tags, Color: &color, Inner: &every.Receipt{}}}
	a.Pair.V1 = client.WeiOf(5)
	r, err := e.Every(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	got := n.payload(t)
	for _, part := range []string{`"i":"-9"`, `"b64":"18446744073709551615"`, `"far":"9007199254740992"`, `"age":150`, `"maybe":["-1",null]`,
		`"pair":["0x0000000000000000000000000000000000000000","5"]`, `"bynumber":{"-2":[],"10":[true]}`, `"box":` + box, `"level":`} {
		if strings.Contains(got, part) == (part == `"level":`) {
			t.Errorf("%s in %s", part, got)
		}
	}
	if v := r.Value; v.AB != 1<<64-1 || *v.AB_ != 255 || len(*v.Tags) != 2 || *v.Color != every.ColorBLUE || v.Inner.Self {
		t.Errorf("%+v came back", v)
	}
	n.sent, a.Age = nil, 151
	_, err = e.Every(t.Context(), a)
	var wrong *client.ArgumentError
	if !errors.As(err, &wrong) || wrong.Path != "age" || n.sent != nil {
		t.Errorf("%v, after %v", err, n.sent)
	}
	a.Age, a.Box.Tags = 1, &[]string{"x", "\xff"}
	if _, err = e.Every(t.Context(), a); !errors.As(err, &wrong) || wrong.Path != "box.tags[1]" || n.sent != nil {
		t.Errorf("%v, after %v", err, n.sent)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data)) // as the API answers it
}

func TestAnUpgradeGivesMigrateBytesOrArguments(t *testing.T) {
	n, c := begin(t, read(t, clubSchema), "")
	club := c.Actor("club")
	_, _ = club.Upgrade(t.Context(), []byte("code"), client.Upgrade{Args: map[string]any{"times": client.WeiOf(3), "owner": "bob"}})
	if got, err := json.Marshal(n.sent["args"]); string(got) != `{"owner":"bob","times":"3"}` || n.sent["migrate"] != nil {
		t.Errorf("by name: %s, %v, %v", got, n.sent["migrate"], err)
	}
	_, _ = club.Upgrade(t.Context(), []byte("code"), client.Upgrade{Migrate: []byte("{}")})
	if n.sent["migrate"] != "0x7b7d" || n.sent["args"] != nil {
		t.Errorf("bytes: %v, %v", n.sent["migrate"], n.sent["args"])
	}
	n.sent = nil
	_, err := club.Upgrade(t.Context(), []byte("code"), client.Upgrade{Migrate: []byte("{}"), Args: map[string]any{}})
	if err == nil || !strings.Contains(err.Error(), "Migrate or Args") || n.sent != nil {
		t.Errorf("both: %v, %v", err, n.sent)
	}
}
