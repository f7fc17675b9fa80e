package history

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Head is the header of a final block, how many transactions it has, and what its lane
// did: what a row of a table of blocks shows.
type Head struct {
	types.Header
	Transactions int
	Lane         LaneRecord
}

// storedHead is Stored, of which only the block's header is read.
type storedHead struct {
	_            struct{} `cbor:",toarray"`
	Block        blockHead
	Hash         codec.RawMessage
	Finalization codec.RawMessage
	Notarization codec.RawMessage
	Receipts     codec.RawMessage
	Timers       codec.RawMessage
	Logs         codec.RawMessage
	Burned       codec.RawMessage
	Tips         codec.RawMessage
}

// blockHead is types.Block, of which the transactions are counted.
type blockHead struct {
	_            struct{} `cbor:",toarray"`
	Header       types.Header
	Parent       codec.RawMessage
	Finalization codec.RawMessage
	Transactions []codec.RawMessage
	Passed       codec.RawMessage
}

// Heads lists the blocks of the heights from one to another, oldest first and at most
// limit of them: the first of these, or with newest the last.
func (a *Archive) Heads(from, to types.Height, newest bool, limit int) (heads []Head, err error) {
	var bad error
	err = a.store.Scan(bucketLanes, heightKey(from), keyAfterPrefix(heightKey(to)), newest, func(key, data []byte) bool {
		var l *LaneRecord
		if l, bad = decodeLane(key, data); bad != nil {
			return false
		}
		heads = append(heads, Head{Lane: *l})
		return len(heads) < limit
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, err
	}
	if newest {
		slices.Reverse(heads)
	}
	return a.withHeaders(heads)
}

// withHeaders reads the headers of blocks; those that were dropped since their lanes were read
// are left out.
func (a *Archive) withHeaders(heads []Head) (out []Head, err error) {
	for i := range heads {
		key := heightKey(heads[i].Lane.Height)
		data, err := a.store.Get(bucketBlocks, key)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		var stored storedHead
		if err := codec.Unmarshal(data, maxStoredBytes, &stored); err != nil {
			return nil, fmt.Errorf("the stored block of height %d: %w", binary.BigEndian.Uint64(key), err)
		}
		heads[i].Header, heads[i].Transactions = stored.Block.Header, len(stored.Block.Transactions)
		out = append(out, heads[i])
	}
	return out, nil
}
