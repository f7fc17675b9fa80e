package params

import (
	"strings"
	"testing"
)

// C12: what homes of the oldest format were made with keeps its default; what new chains have
// instead is stated by their genesis.
func TestC12WhatHomesWereMadeWithStays(t *testing.T) {
	first := firstDefaults("cip2.min_stake 5\ncip2.max_retries 3\n")
	if !first.takeKey(&entry{Info: Info{Key: "cip2.max_retries", Default: "3"}}) || len(first) != 1 {
		t.Errorf("a parameter of then is taken for a later one; left: %v", first)
	}
	if first.takeKey(&entry{Info: Info{Key: "cip2.new", Default: "3"}}) {
		t.Error("a later parameter is taken for one of then")
	}
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, "cip2.min_stake is 6, and older homes were made with 5") {
			t.Errorf("a changed default ends the program with %q", said)
		}
	}()
	first.takeKey(&entry{Info: Info{Key: "cip2.min_stake", Default: "6"}})
}

func TestNewChainsStateWhatOlderOnesLack(t *testing.T) {
	for key, value := range ForNewChains() {
		info, err := Lookup(key)
		if err != nil || info.Default == value || !info.Later {
			t.Errorf("%s = %s is stated, and its default is %s, later %v: %v", key, value, info.Default, info.Later, err)
		}
	}
	if ForNewChains()["chain.receipts_root"] != "2" {
		t.Error("new chains hash the messages of errors")
	}
}
