package readmodel

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A failed call's writes, and those of its callees, are not changes; nor is a value
// that was the same again in the end.
func TestATracesChangesAreThoseThatStayed(t *testing.T) {
	write := func(key, old, value string) model.TraceStep {
		k, o, v := types.Bytes(key), types.Bytes(old), types.Bytes(value)
		return model.TraceStep{What: "set_state", Key: &k, Old: &o, Value: &v}
	}
	callee := func(actor byte, undone bool, steps ...model.TraceStep) *model.TraceCall {
		return &model.TraceCall{Actor: types.Address{actor}, Undone: undone, Steps: steps}
	}
	failed := callee(2, true, write("lost", "", "x"), model.TraceStep{What: "call_actor", Call: callee(3, true, write("lost too", "", "x"))})
	whole := callee(1, false, write("kept", "a", "b"), write("back", "a", "b"), model.TraceStep{What: "call_actor", Call: failed},
		model.TraceStep{What: "call_actor", Call: callee(4, false, write("kept", "a", "c"))}, write("kept", "b", "d"), write("back", "b", "a"))
	var tr tracer
	tr.addChanges(whole)
	want := []struct {
		actor byte
		value string
	}{{1, "d"}, {4, "c"}}
	if len(tr.whole.Changes) != len(want) {
		t.Fatalf("%+v", tr.whole.Changes)
	}
	for i, c := range tr.whole.Changes {
		if c.Actor != (types.Address{want[i].actor}) || string(c.Key) != "kept" || string(*c.Old) != "a" || string(*c.New) != want[i].value {
			t.Errorf("change %d: %+v", i, c)
		}
	}
}
