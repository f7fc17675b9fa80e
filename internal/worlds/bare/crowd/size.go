package crowd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// size is how many fires of the lane a fire of a member takes.
func (c *Crowd) size() uint64 { return max(1, c.Size) }

// readSizes learns whether fires have several sizes, and checks that each fits into a lane of some fires.
func (r *Room) readSizes(fires uint64) error {
	for _, c := range r.crowds {
		if c.size() > fires {
			return fmt.Errorf("a fire of the crowd %s takes %d fires of a lane that holds %d", c.Name, c.Size, fires)
		}
		r.isMixed = r.isMixed || c.size() > 1
	}
	return nil
}

// laneParams is a lane of some fires. Where they have several sizes, one may take all of it.
func (r *Room) laneParams(fires uint64) params.Overrides {
	given := LaneParams(fires)
	if r.isMixed {
		given["cip5.max_cycles_per_fire"] = given["cip1.lane_timer_cycles"]
		given["cip1.max_cycles_per_fire_auction_phase"] = given["cip1.lane_timer_cycles"]
	}
	return given
}

// sizeMark is before the size of a member's fires, in the code of its program.
const sizeMark = " of size "

// codeOf is the code of the members of a crowd. Where fires have several sizes it names theirs, and the timers state it as their limit.
func (r *Room) codeOf(c *Crowd) string {
	code := programCode
	if c.HasAgents {
		code = agentCode
	}
	if r.isMixed {
		code += sizeMark + strconv.FormatUint(c.size(), 10)
	}
	return code
}

// readCode reads what codeOf wrote. limit is nil where timers state none.
func readCode(source []byte) (hasAgent bool, limit *types.Cycles) {
	name, size, isMixed := strings.Cut(string(source), sizeMark)
	if isMixed {
		n, err := strconv.ParseUint(size, 10, 32)
		if err != nil {
			panic("crowd: the code of a member names no size: " + string(source))
		}
		cycles := types.Cycles(n) * fireCycles
		limit = &cycles
	}
	return name == agentCode, limit
}
