package api

import (
	"net/url"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// A text is a height, the beginning of a hash, a part of a name, or nothing.
func TestATextFindsWhatItMayMean(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.chain.mine()
	}
	found := func(text string) (hits []string) {
		m := get[model.Found](w, "/find?q="+url.QueryEscape(text))
		for _, h := range m.Hits {
			hits = append(hits, h.Kind+" "+h.ID)
		}
		return hits
	}
	block := get[model.Block](w, "/block/2")
	for text, want := range map[string]string{
		"2": "block 2", "#2": "block 2", "h2": "block 2", "view 17": "view 17", "v0": "validator v0", "V0": "validator v0",
		block.Hash.String(): "block 2", block.Hash.String()[:20]: "block 2", "regis": "account 0x0000000000000000000000000000000000000001",
		"alice": "account 0x", "lic": "account 0x",
	} {
		hits := found(text)
		if len(hits) == 0 || !strings.HasPrefix(hits[0], want) {
			t.Errorf("%s finds %q, want %s first", text, hits, want)
		}
	}
	for _, nothing := range []string{"9", "zzzz", "0xffffffffffffffff"} {
		if hits := found(nothing); len(hits) != 0 {
			t.Errorf("%s finds %q", nothing, hits)
		}
	}
	if m := get[model.Found](w, "/find?q=v&limit=1"); len(m.Hits) != 1 || !m.Cut {
		t.Errorf("one hit of more is %+v", m)
	}
	w.refused(422, "invalid_request", "GET", "/find", nil)
}

// An actor is found by a part of its name, and its handlers by theirs, alone or behind the actor's.
func TestAnActorIsFoundByItsNameAndItsHandlers(t *testing.T) {
	w := newWorld(t)
	w.deploy("holder")
	actors := get[[]model.Actor](w, "/actors")
	if len(actors) == 0 {
		t.Fatal("the network in memory has no actor")
	}
	name := actors[0].Name
	m := get[model.Found](w, "/find?q="+name[:len(name)-1])
	if len(m.Hits) == 0 || m.Hits[0].Kind != model.FoundActor || m.Hits[0].Name != name {
		t.Errorf("a part of %s finds %+v", name, m.Hits)
	}
	for _, text := range []string{"pin", name + ".ping"} {
		m := get[model.Found](w, "/find?q="+text)
		if len(m.Hits) == 0 || m.Hits[0].Kind != model.FoundHandler || m.Hits[0].Handler != "ping" || m.Hits[0].Name != name+".ping" {
			t.Errorf("%s finds %+v", text, m.Hits)
		}
	}
	m = get[model.Found](w, "/find?q="+actors[0].Address.String()[:12])
	if len(m.Hits) != 1 || m.Hits[0].ID != actors[0].Address.String() {
		t.Errorf("the beginning of an address finds %+v", m.Hits)
	}
}
