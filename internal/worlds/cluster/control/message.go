package control

import (
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/runners"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Path is where a control server answers.
const Path = "/devnet/node/"

// Limits of requests and answers.
const (
	maxRequest = 1 << 20  // bytes of a request; rules for all peers, or a transaction
	maxAnswer  = 16 << 20 // bytes of an answer
	maxLine    = 32 << 20 // bytes of a line of a stream: the largest block, in base64
	// MaxRules bounds the peers of one node that rules are for.
	MaxRules = 4096
	// MaxFaults bounds the faults of one node that are counted.
	MaxFaults = 8192
	// maxNames bounds the nodes that are named at once.
	maxNames = setup.MaxValidators + setup.MaxRunners
	// MaxOffset bounds the offset of a clock, in both directions.
	MaxOffset = 100 * 365 * 24 * time.Hour
)

// empty is a request or an answer of nothing.
type empty struct{}

// Hello is a node's description of itself.
type Hello struct {
	Life    string        `json:"life"` // drawn by each process of the node
	Name    string        `json:"name"`
	Address types.Address `json:"address"`
	Socket  string        `json:"socket"` // ip:port of its UDP socket, as peers see it
	Boot    *Boot         `json:"boot,omitempty"`
	// Travel is how far time travel came, as the node has that on disk.
	Travel travelFrame `json:"travel"`
}

// travelFrame is network.Travel as frames have it.
type travelFrame struct {
	Number uint64        `json:"number,omitempty"`
	Clock  time.Duration `json:"clock_ns"`
	To     types.Height  `json:"to,omitempty"`
	Every  bool          `json:"every,omitempty"`
}

func travelledOf(t network.Travel) travelFrame {
	return travelFrame{t.Number, t.Clock, t.Goal.Height, t.Goal.Every}
}

// Record is the record of a node's time travel.
func (t travelFrame) Record() network.Travel {
	return network.Travel{Number: t.Number, Clock: t.Clock, Goal: simplex.Goal{Height: t.To, Every: t.Every}}
}

// Boot is what a validator's process began with.
type Boot struct {
	Header []byte     `json:"header"` // in CBOR
	Hash   types.Hash `json:"hash"`
	Root   types.Hash `json:"root"` // of the state
}

// ValidatorStatus is the status of a validator.
type ValidatorStatus struct {
	validators.Status
	Round   validators.Round `json:"round"`
	Runners []Connected      `json:"connections"`
	Failure string           `json:"failure,omitempty"` // why it stopped by itself
}

// Connected is a runner's connection.
type Connected struct {
	Runner    types.Address    `json:"runner"`
	Accepting bool             `json:"accepting"`
	Changes   *gateway.Changes `json:"changes,omitempty"`
}

// RunnerStatus is the status of a runner.
type RunnerStatus struct {
	runners.Status
	Waiting []types.Hash `json:"waiting"` // jobs that are answered by hand
}

// Rule is what happens to the packets for a peer. The faults are numbers under which
// effects are counted, 0 without a fault.
type Rule struct {
	To        string     `json:"to"` // ip:port
	Link      fault.Link `json:"link"`
	LinkFault int        `json:"link_fault,omitempty"`
	CutFault  int        `json:"cut_fault,omitempty"`
}

// Count is what a fault of a node did there, since the node's process began.
type Count struct {
	Fault   int                  `json:"fault"`
	Figures [fault.Effects]int64 `json:"figures"`
	Over    bool                 `json:"over,omitempty"` // it can have no effect any more
}

// The requests and answers, by the last word of their path.
type (
	rulesRequest struct {
		Rules []Rule `json:"rules"`
	}
	// orderRequest is a fault of the node itself. Its effects are counted under Fault.
	orderRequest struct {
		Fault int         `json:"fault"`
		Order fault.Order `json:"order"`
	}
	countsRequest struct{}
	countsAnswer  struct {
		Faults []Count `json:"faults"`
	}
	clockRequest struct {
		travelFrame
	}
	pauseRequest struct {
		On bool `json:"on"`
	}
	callRequest struct {
		Names   map[types.Address]string `json:"names"`             // of nodes
		Network string                   `json:"network,omitempty"` // URL of the whole network's API
	}
	skipRequest struct {
		To    types.Height `json:"to"`
		Every bool         `json:"every,omitempty"` // height gets a block
	}
	submitRequest struct {
		Raw []byte `json:"raw"`
	}
	hashAnswer struct {
		Hash types.Hash `json:"hash"`
	}
	waitingAnswer struct {
		Raw    []byte        `json:"raw,omitempty"` // empty where it does not wait
		Sender types.Address `json:"sender"`
	}
	nonceRequest struct {
		Account types.Address `json:"account"`
		Final   types.Nonce   `json:"final"`
	}
	nonceAnswer struct {
		Nonce types.Nonce `json:"nonce"`
	}
	heardAnswer struct {
		Seq    uint64 `json:"seq"`    // of the latest event
		Missed bool   `json:"missed"` // more was heard than is kept
	}
	answerRequest struct {
		Job   types.Hash      `json:"job"`
		Given execution.Given `json:"given"`
	}
	showRequest struct {
		Height types.Height `json:"height"`
	}
	leaveRequest struct {
		Finish bool `json:"finish"`
	}
	refusedAnswer struct {
		Status int             `json:"status"`
		Error  model.ErrorBody `json:"error"`
	}
)

// finalLine is a line of the stream of final blocks.
type finalLine struct {
	Block        []byte     `json:"block"`                  // in CBOR
	Finalization []byte     `json:"finalization,omitempty"` // of this block, in CBOR
	Root         types.Hash `json:"root"`                   // of the node's own state after it; zero if its state is past that
}
