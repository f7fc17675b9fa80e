package calendar

import (
	"bytes"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Check reads the whole calendar and returns the first thing that is never true
// of one (see the package comment), or nil.
func Check(kv KV, s Sizes) error {
	var at cursor
	if data := kv.Get(keyCursor); data != nil {
		var ok bool
		if at, ok = decodeCursor(data); !ok || max(at.swept, at.settled) > at.maintained {
			return fmt.Errorf("calendar: the cursor %x is damaged", data)
		}
	}
	k := check{Of(kv, s), at, make(map[types.Seq]Tier)}
	for _, tier := range []Tier{Ring, Epoch, Overflow, Carry, Arrears} {
		if err := k.checkTier(tier); err != nil {
			return err
		}
	}
	return nil
}

// check is one call of Check.
type check struct {
	Calendar
	at   cursor
	seen map[types.Seq]Tier
}

func (k *check) checkTier(t Tier) (err error) {
	size := keyBytes(t)
	k.kv.Scan(firstKey(t), endKey(t), func(key, _ []byte) bool {
		if len(key) != size {
			err = fmt.Errorf("calendar: the key %x in the %s has %d bytes, not %d", key, t, len(key), size)
			return false
		}
		p := splitKey(t, key)
		if err = k.checkEntry(t, p); err == nil && !bytes.Equal(key, k.keyOf(t, p)) {
			err = fmt.Errorf("calendar: sequence %d of height %d is in the slot of another height", p.Seq, p.Height)
		}
		return err == nil
	})
	return err
}

func (k *check) checkEntry(t Tier, p Place) error {
	if other, twice := k.seen[p.Seq]; twice {
		return fmt.Errorf("calendar: sequence %d is in the %s and in the %s", p.Seq, other, t)
	}
	k.seen[p.Seq] = t
	running, reach := k.epochOf(k.at.maintained), k.epochOf(p.Height)
	switch {
	case t == Ring && (p.Height < k.at.swept || reach > running),
		t == Epoch && reach > running && reach-running > k.sizes.QueueEpochs,
		t == Carry && p.Height >= k.at.maintained,
		t == Arrears && (p.Examined == 0 || p.Height > p.Examined || p.Examined > k.at.maintained):
		return fmt.Errorf("calendar: sequence %d of height %d, examined at %d, is in the %s, maintained to height %d and swept to %d",
			p.Seq, p.Height, p.Examined, t, k.at.maintained, k.at.swept)
	}
	return nil
}
