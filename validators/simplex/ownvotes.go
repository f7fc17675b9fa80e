package simplex

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// OwnVotes returns the votes that a log's records hold, in the order they were
// made: for audits.
func OwnVotes(records [][]byte) (votes []types.Vote, err error) {
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			return nil, err
		}
		if r.Kind != voteKind {
			continue
		}
		var v types.Vote
		if err := codec.Unmarshal(r.Content, maxRecordBytes, &v); err != nil {
			return nil, fmt.Errorf("simplex: record %d of the log: %w", i, err)
		}
		votes = append(votes, v)
	}
	return votes, nil
}
