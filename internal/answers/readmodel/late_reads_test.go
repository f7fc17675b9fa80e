package readmodel

import (
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Decision C18: handlers that were late in a read have one place together, for a number of blocks. No
// other handler waits for it, nor another one of the same actor.
func TestC18WhatWasLateInAReadHasOnePlace(t *testing.T) {
	l := new(lateReads)
	at := types.Height(100)
	slow, quick := readOfHandler(types.Address{1}, "slow"), readOfHandler(types.Address{1}, "quick")
	slower := readOfHandler(types.Address{2}, "slow")
	enters := func(at types.Height, of readOf) func() {
		t.Helper()
		leave, err := l.enterRead(at, of)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	first, second := enters(at, slow), enters(at, slow)
	l.noteLate(at, slow)
	l.noteLate(at, slower)
	first()
	second()
	leave := enters(at, slow)
	var refused *refusal.Error
	if _, err := l.enterRead(at, slower); !errors.As(err, &refused) || refused.Code != answers.CodeLateBefore || refused.Remedy == "" {
		t.Errorf("a second that was late is answered with %v", err)
	}
	enters(at, quick)()
	if _, err := l.enterRead(at, slow); err == nil {
		t.Error("what was never late gave the place up for another")
	}
	leave()
	leave = enters(at, slower)
	enters(at+lateReadBlocks, slow)()
	leave()
}

// What is remembered is bounded, and the oldest goes first.
func TestC18LateReadsAreBounded(t *testing.T) {
	l := new(lateReads)
	nth := func(i int) readOf { return readOfHandler(types.Address{byte(i), byte(i >> 8)}, "slow") }
	for i := range maxLateReads + 3 {
		l.noteLate(types.Height(i), nth(i))
	}
	if _, known := l.until[nth(2)]; known || len(l.until) != maxLateReads {
		t.Errorf("%d are remembered, the third: %t", len(l.until), known)
	}
	if _, known := l.until[nth(3)]; !known {
		t.Error("one that is not the oldest was forgotten")
	}
}

// A dry run is judged by what it calls, and a deploy by who sends it.
func TestC18WhatADryRunIsLateIn(t *testing.T) {
	sender, actor := types.Address{1}, types.Address{2}
	call := &types.Transaction{To: &actor, Payload: codec.Marshal(types.Execute{Kind: types.KindExecute, Handler: "slow"})}
	deploy := &types.Transaction{Payload: codec.Marshal(types.Deploy{Kind: types.KindDeploy, Code: []byte("x")})}
	if readOfTransaction(sender, call) != readOfHandler(actor, "slow") {
		t.Error("a call is another read than that of its handler")
	}
	if readOfTransaction(sender, deploy) != readOfHandler(sender, "") {
		t.Error("a deploy is not its sender's")
	}
}
