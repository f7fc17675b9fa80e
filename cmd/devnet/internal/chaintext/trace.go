package chaintext

import (
	"github.com/cowboyinc/devnet/internal/base/plural"
)

// CountReplayed says how many blocks were executed again.
func CountReplayed(blocks int) string {
	if blocks == 0 {
		return ""
	}
	return plural.Of(blocks, "block") + " before it, for the state it began with"
}
