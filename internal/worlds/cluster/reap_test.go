package cluster

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
	"github.com/cowboyinc/devnet/validators/history"
)

// Who was in the set and is not goes on for two blocks, and who is to join is let alone.
func TestWhoHasLeftIsFoundOnce(t *testing.T) {
	r := newReaper()
	set := func(names ...string) (all []model.Validator) {
		for _, name := range names {
			all = append(all, model.Validator{Name: name, Status: history.StatusActive})
		}
		return all
	}
	left := append(set("v0", "v1"), model.Validator{Name: "v2", Status: history.StatusLeft})
	for _, one := range []struct {
		height types.Height
		all    []model.Validator
		want   []string
	}{
		{7, set("v0", "v1", "v2"), nil},
		{8, left, nil},
		{9, left, nil},
		{10, left, []string{"v2"}},
		{11, left, nil}, // once
		{12, set("v0", "v1", "v2"), nil},
		{13, set("v0", "v1"), nil},
		{14, set("v0", "v1", "v2"), nil}, // another validator knew less
		{15, set("v0", "v1"), nil},
		{16, set("v0", "v1"), nil},
		{17, set("v0", "v1"), []string{"v2"}},
	} {
		if have := r.look(one.height, one.all); !slices.Equal(have, one.want) {
			t.Errorf("at height %d %v have left, want %v", one.height, have, one.want)
		}
	}
}

// A runner that has left does what it has before its process ends.
func TestARunnerThatHasLeftEndsBehindItsJobs(t *testing.T) {
	got := retired([]model.Runner{{Address: types.Address{1}, Health: model.RunnerDeregistered},
		{Address: types.Address{2}, Health: model.RunnerDeregistered, ActiveJobs: 1}, {Address: types.Address{3}, Health: "Paused"}})
	if !slices.Equal(got, []types.Address{{1}}) {
		t.Errorf("%v have left", got)
	}
}
