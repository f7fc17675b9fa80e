package readmodel

import (
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A job's story is in the order of events: a push after its draw, a result before its
// commitment.
func TestAStoryIsToldInItsOrder(t *testing.T) {
	at := func(h types.Height, what ...string) (events []model.JobEvent) {
		for _, w := range what {
			events = append(events, model.JobEvent{Height: h, What: w})
		}
		return events
	}
	done := slices.Concat(at(5, "submitted", "drawn"), at(6, "committed"), at(9, "revealed", "retried", "drawn"), at(12, "failed"))
	seen := slices.Concat(at(4, "progress"), at(5, "pushed", "acked"), at(6, "result"), at(9, "hard_failure"),
		at(10, "pushed"), at(13, "not_taken"))
	var words []string
	for _, e := range mergeStory(done, seen) {
		words = append(words, e.What)
	}
	const want = "progress submitted drawn pushed acked result committed revealed retried drawn hard_failure pushed failed not_taken"
	if got := strings.Join(words, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := mergeStory(nil, seen); !slices.EqualFunc(got, seen, func(a, b model.JobEvent) bool { return a.What == b.What }) {
		t.Errorf("%v", got)
	}
}
