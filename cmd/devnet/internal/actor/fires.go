package actor

import (
	"context"
	"fmt"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// lastFires is by how many of its last fires it is judged what an actor's next ones
// take.
const lastFires = 20

// moreFires is how many fires like its last ones an actor's balance pays.
type moreFires struct {
	Of     int       `json:"of" doc:"Number of the last fires counted."`
	Fee    types.Wei `json:"fee" doc:"The mean of theirs."`
	Before types.Wei `json:"charged_before" doc:"Amount that the payer of the last one had to hold, for all of its limits."`
	More   types.Wei `json:"more"`
}

// estimateMoreFires judges by the last fires that an actor paid for itself; it is nil without
// any, or if they cost nothing.
func estimateMoreFires(ctx context.Context, n *client.API, a *model.Actor) (*moreFires, error) {
	fired, err := client.Collect(n.Timers(ctx, client.TimerFilter{Actor: a.Address.String(), Status: string(types.TimerFired)},
		client.Page{Limit: lastFires, Newest: true}))
	if err != nil {
		return nil, err
	}
	var f moreFires
	var last string
	for i := range fired {
		if fired[i].FeePayer == a.Address {
			if last == "" {
				last = fired[i].ID.String()
			}
			f.Fee, f.Of = f.Fee.Add(fired[i].FeePaid), f.Of+1
		}
	}
	if f.Of == 0 || f.Fee.IsZero() {
		return nil, nil
	}
	f.Fee = f.Fee.Div(uint64(f.Of))
	story, err := n.TimerStory(ctx, last, 0, 1)
	if err != nil {
		return nil, err
	}
	for i := range story.Story {
		if paid := story.Story[i].Paid; paid != nil {
			f.Before = paid.MaxCost
		}
	}
	if !a.Balance.Less(f.Before) && !f.Fee.IsZero() {
		more, _ := a.Balance.Sub(f.Before).MulDiv(types.WeiOf(1), f.Fee)
		f.More = more.Add(types.WeiOf(1))
	}
	return &f, nil
}

func (f *moreFires) String() string {
	if f == nil {
		return ""
	}
	if f.More.IsZero() {
		return fmt.Sprintf("pays no more: the last one's payer had to hold %s", words.CBY(f.Before))
	}
	return fmt.Sprintf("pays %s more, at %s each, as its last %d", words.GroupedWei(f.More), words.CBY(f.Fee), f.Of)
}
