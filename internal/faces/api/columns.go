package api

import (
	"context"
	"math"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

func (s *Server) registerColumns() {
	serveRead(s, operation{id: "blocks_columns", path: "/blocks/columns", tag: tagChain,
		client: "Columns(from Height, to Height) are the final blocks of heights from one to another, as one array of each " +
			"figure; with 0 for both the latest. For more than 4,096 blocks, Next is where to continue.",
		summary: "Final blocks as columns: one array of each figure",
		description: "At most 4,096 blocks: the first of the range, with next to continue; without from, the last blocks. " +
			"A height that time travel skipped has no row.",
		errors: []int{400, 404, 409}, response: exampleColumns}, s.getColumns)
}

var exampleColumns = model.Columns{From: 12, To: 12, Head: 12, KeptFrom: 1,
	Nodes:  []model.NamedValidator{{Name: "v0", Address: exampleAddress}},
	Height: []types.Height{12}, Skipped: []uint64{0}, View: []types.View{13}, Proposer: []int{0},
	TimestampMS:  []types.Millis{1_700_000_012_000},
	Transactions: []int{1}, CyclesUsed: []types.Cycles{21_300}, CellsUsed: []types.Cells{410}, TimerCyclesUsed: []types.Cycles{900},
	LaneBudget: []types.Cycles{2_000_000}, Fired: []uint64{1}, Deferred: []uint64{0}, Ended: []uint64{0},
	BaseFeeCycle: []types.Wei{types.WeiOf(1000)}, BaseFeeCell: []types.Wei{types.WeiOf(1000)},
	BaseFeeLaneTimer: []types.Wei{types.WeiOf(1000)}}

// HeightRange is a range of heights that is asked for.
type HeightRange struct {
	From optional[types.Height] `query:"from" doc:"First height. Default: the latest heights, up to that of to."`
	To   optional[types.Height] `query:"to" doc:"Last height; where absent, the latest final one."`
}

// heightBounds returns the range of heights, which ends at last or before; newest reports
// that an answer with fewer blocks keeps the last ones.
func (r *HeightRange) heightBounds(last types.Height) (from, to types.Height, newest bool, err error) {
	if r.From.set && r.To.set && r.To.Value < r.From.Value {
		return 0, 0, false, errBackwards()
	}
	return r.From.orElse(1), min(r.To.orElse(last), last), !r.From.set, nil
}

// boundsInArchive returns the bounds of the heights that a reader has kept, and the first of those.
func (r *HeightRange) boundsInArchive(v answers.Reader, last types.Height) (kept, from, to types.Height, newest bool, err error) {
	has, err := v.Kept()
	if err != nil {
		return 0, 0, 0, false, err
	}
	from, to, newest, err = r.heightBounds(last)
	return has.From, max(from, has.From), to, newest, err
}

func errBackwards() *Error {
	return Refuse(http.StatusBadRequest, "invalid_range", "to is before from").Hint("Give from first: from=1&to=9.").At("to")
}

type rangeInput struct {
	OnMoment
	HeightRange
}

func (s *Server) getColumns(_ context.Context, v answers.Reader, in *rangeInput) (m model.Columns, err error) {
	free, err := s.ranges.takePlace() // few that read many heights run at once
	if err != nil {
		return m, err
	}
	defer free()
	head := v.Head().Height
	kept, from, to, newest, err := in.boundsInArchive(v, head)
	if err != nil {
		return m, err
	}
	c := newColumns(s.directory)
	c.Head, c.KeptFrom, c.From, c.To = head, kept, from, to
	if from > to {
		return c.Columns, nil
	}
	heads, err := v.Heads(from, to, newest, MaxColumns)
	if err != nil {
		return m, err
	}
	for i := range heads {
		c.addHead(&heads[i])
	}
	c.narrowRange(newest)
	return c.Columns, nil
}

// columns are columns that grow.
type columns struct {
	model.Columns
	named *namedNodes
}

func newColumns(d directory) *columns {
	return &columns{named: d.newNamedNodes(), Columns: model.Columns{Nodes: []model.NamedValidator{}, Height: []types.Height{},
		Skipped: []uint64{},
		View:    []types.View{}, Proposer: []int{}, TimestampMS: []types.Millis{}, Transactions: []int{}, CyclesUsed: []types.Cycles{},
		CellsUsed: []types.Cells{}, TimerCyclesUsed: []types.Cycles{}, LaneBudget: []types.Cycles{}, Fired: []uint64{}, Deferred: []uint64{},
		Ended: []uint64{}, BaseFeeCycle: []types.Wei{}, BaseFeeCell: []types.Wei{}, BaseFeeLaneTimer: []types.Wei{}}}
}

func (c *columns) addHead(h *history.Head) {
	c.Height, c.Skipped, c.View = append(c.Height, h.Height), append(c.Skipped, h.Skipped), append(c.View, h.View)
	c.Proposer = append(c.Proposer, c.named.placeOf(h.Proposer))
	c.Nodes = c.named.all
	c.TimestampMS, c.Transactions = append(c.TimestampMS, h.Timestamp), append(c.Transactions, h.Transactions)
	c.CyclesUsed, c.CellsUsed = append(c.CyclesUsed, h.CyclesUsed), append(c.CellsUsed, h.CellsUsed)
	c.TimerCyclesUsed, c.LaneBudget = append(c.TimerCyclesUsed, h.TimerCyclesUsed), append(c.LaneBudget, h.Lane.Budget)
	c.Fired, c.Deferred = append(c.Fired, h.Lane.Fired), append(c.Deferred, h.Lane.Deferrals())
	c.Ended = append(c.Ended, h.Lane.Expired+h.Lane.Insufficient)
	c.BaseFeeCycle, c.BaseFeeCell = append(c.BaseFeeCycle, h.BaseFeeCycle), append(c.BaseFeeCell, h.BaseFeeCell)
	c.BaseFeeLaneTimer = append(c.BaseFeeLaneTimer, h.BaseFeeLaneTimer)
}

// narrowRange sets the range of the answer, if it has fewer blocks than the request.
func (c *columns) narrowRange(newest bool) {
	rows := len(c.Height)
	if rows < MaxColumns {
		return
	}
	if newest {
		c.From = c.Height[0]
		return
	}
	if last := c.Height[rows-1]; last < c.To {
		c.To, c.Next = last, new(last+1)
	}
}

// namedNodes are validators in the order in which an answer comes upon them.
type namedNodes struct {
	names  map[types.Address]string
	places map[types.Address]int
	all    []model.NamedValidator
}

func (d directory) newNamedNodes() *namedNodes {
	return &namedNodes{names: d.nodeNames(), places: map[types.Address]int{}, all: []model.NamedValidator{}}
}

// placeOf is the position of a validator.
func (n *namedNodes) placeOf(a types.Address) int {
	at, known := n.places[a]
	if !known {
		at = len(n.all)
		n.places[a], n.all = at, append(n.all, model.NamedValidator{Name: n.names[a], Address: a})
	}
	return at
}

// noEnd is the last of a range without an end.
const noEnd = math.MaxUint64
