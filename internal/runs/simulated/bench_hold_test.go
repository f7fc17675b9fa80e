package simulated

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// A conversation's network that is held answers over HTTP, reads and orders alike, until the next frame.
func TestAHeldBenchIsServedUntilTheNextFrame(t *testing.T) {
	c := begin(t)
	c.refused(`"do": "hold", "address": "127.0.0.1:0"`, "not_open")
	c.must(`"do": "open", "open": {"version": 1, "seed": 5}`, nil)
	c.must(pay, nil)
	for _, address := range []string{"", "4000", "0.0.0.0:0", "192.0.2.1:0", "[::]:0", "example.org:0"} {
		c.refused(`"do": "hold", "address": "`+address+`"`, "invalid_request")
	}
	var before, now, after model.Height
	c.must(get("/height"), &before)
	var held struct{ Address string }
	c.must(`"do": "hold", "address": "127.0.0.1:0"`, &held)
	read := func(path string, into any) {
		t.Helper()
		answer, err := http.Get("http://" + held.Address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %d, %v", path, answer.StatusCode, err)
		}
	}
	read("/height", &now)
	if now != before {
		t.Errorf("held at %+v, and %+v in the conversation", now, before)
	}
	if _, err := http.Post("http://"+held.Address+"/devnet/advance", "application/json", strings.NewReader(`{"blocks": 3}`)); err != nil {
		t.Fatal(err)
	}
	c.must(get("/height"), &after) // ends it
	if after.Height != before.Height+3 {
		t.Errorf("at %d after three blocks from %d on", after.Height, before.Height)
	}
	if _, err := http.Get("http://" + held.Address + "/height"); err == nil {
		t.Error("it is served after the next frame")
	}

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c.refused(`"do": "hold", "address": "`+taken.Addr().String()+`"`, "address_taken")
	c.must(`"do": "hold", "address": "127.0.0.1:0"`, &held)
	read("/height", &now) // the end of the conversation ends it as well
}
