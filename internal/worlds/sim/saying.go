package sim

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// frameNames are the messages between validators, by the byte that begins their
// frame (docs/WIRE.md).
var frameNames = [...]string{1: "proposal", 2: "vote", 3: "certificate", 4: "block_request", 5: "block_answer",
	6: "certificate_request", 7: "range_request", 8: "batch", 9: "transactions"}

// describeFrame is what a frame says, as members of a JSON object with a comma before
// each: its name and, of proposals, votes and certificates, kind, view and height.
// For other frames it returns "".
func describeFrame(frame []byte) string {
	if len(frame) == 0 || int(frame[0]) >= len(frameNames) || frameNames[frame[0]] == "" {
		return ""
	}
	name := frameNames[frame[0]]
	read := func(into any) bool { return codec.Unmarshal(frame[1:], env.MaxFrameBytes, into) == nil }
	var (
		p types.Proposal
		v types.Vote
		c types.Certificate
	)
	switch {
	case name == "proposal" && read(&p) && p.Block != nil:
		return fmt.Sprintf(`,"what":"proposal","view":%d,"height":%d,"proposer":%q`, p.View, p.Block.Header.Height, p.Block.Header.Proposer)
	case name == "vote" && read(&v):
		return fmt.Sprintf(`,"what":"vote","vote":%q,"view":%d,"height":%d`, v.Kind, v.View, v.Height)
	case name == "certificate" && read(&c):
		return fmt.Sprintf(`,"what":"certificate","vote":%q,"view":%d,"height":%d`, c.Kind, c.View, c.Height)
	}
	return fmt.Sprintf(`,"what":%q`, name)
}
