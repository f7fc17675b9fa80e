package scenario

import (
	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/validators/history"
)

var eventTypes = []string{model.EventBlock, model.EventTx, model.EventTimer, model.EventLog, model.EventJob, model.EventPresence,
	model.EventRunner}

func netEvents(c *call) (starlark.Value, error) {
	v, err := c.readerOf()
	if err != nil {
		return nil, err
	}
	kind := argOf[string](c, "type")
	if c.hasArgument("type") {
		if err := oneOf("net.events: type", kind, eventTypes); err != nil {
			return nil, err
		}
	}
	var of *types.Address
	if c.hasArgument("actor") {
		a := argOf[types.Address](c, "actor")
		of = &a
	}
	first := types.Height(1)
	if c.hasArgument("since") {
		first = argOf[types.Height](c, "since")
	}
	as := api.TypesOf(v)
	var list []starlark.Value
	for h := first; h <= v.Head().Height && len(list) < MaxListed; h++ {
		block, err := v.Block(h)
		if err != nil {
			return nil, err
		}
		if block != nil {
			list = append(list, eventsOf(block, as, h, kind, of)...)
		}
	}
	return frozenList(list), nil
}

// eventsOf are a block's events, in the order of GET /events.
func eventsOf(b *answers.Block, as *api.Typing, h types.Height, kind string, of *types.Address) (list []starlark.Value) {
	add := func(what string, actors []types.Address, data any) {
		if kind != "" && kind != what {
			return
		}
		mine := of == nil
		for _, a := range actors {
			mine = mine || a == *of
		}
		if mine {
			list = append(list, &record{kind: "event", names: []string{"type", "height", "data"},
				fields: []starlark.Value{starlark.String(what), starlark.MakeUint64(uint64(h)), recordOf(what, data)}})
		}
	}
	add(model.EventBlock, nil, answers.ShowBlock(b))
	printed := b.PrintedBy()
	for i := range b.Receipts {
		r := &b.Receipts[i]
		add(model.EventTx, []types.Address{r.To, r.Sender}, as.Receipt(r, printed[r.Hash]))
	}
	for _, mark := range b.Timers {
		add(model.EventTimer, []types.Address{mark.Actor}, shownMark{mark.ID, mark.Actor, h, string(mark.Status), mark.Reason})
	}
	for _, line := range b.Logs {
		add(model.EventLog, []types.Address{line.Actor}, answers.ShowLog(history.LogLine{Height: h, LogLine: line}))
	}
	for i := range b.Jobs {
		add(model.EventJob, runnersOfEvent(&b.Jobs[i]), b.Jobs[i])
	}
	for i := range b.Presence {
		add(model.EventPresence, []types.Address{b.Presence[i].Runner}, b.Presence[i])
	}
	for i := range b.Runners {
		add(model.EventRunner, []types.Address{b.Runners[i].Runner}, b.Runners[i])
	}
	return list
}

// runnersOfEvent are the runners that an event of a job is about.
func runnersOfEvent(e *model.JobEvent) []types.Address {
	if e.Runner != nil {
		return []types.Address{*e.Runner}
	}
	return e.Committee
}

// shownMark is a timer's event without the receipt, which net.receipt(id) has.
type shownMark struct {
	ID     types.TimerID `json:"id"`
	Actor  types.Address `json:"actor"`
	Height types.Height  `json:"height"`
	Status string        `json:"status"`
	Reason string        `json:"reason"`
}
