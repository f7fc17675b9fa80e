package oracle

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Decision T28, by the content of blocks: each way in which an account pays for a
// timer without having signed for it is found, and a signed payment is not.
func TestWhoPaysForATimerSignedForIt(t *testing.T) {
	bob, thief := types.Address{0xb0}, types.Address{0x7f}
	most := types.WeiOf(2040) // two fires
	tx := transaction()
	tx.To = &actorAddress
	tx.Payload = codec.Marshal(types.Execute{Kind: types.KindExecute, Handler: "h", Payload: []byte{}, Sponsor: &most})
	hash := tx.Hash()
	s := sponsors{}
	s.noteConsent(&tx, &types.Receipt{Hash: hash, Sender: bob})
	plain := transaction()
	s.noteConsent(&plain, &types.Receipt{Hash: plain.Hash(), Sender: bob})
	var found []string
	judge := func(spoil func(*types.Timer)) int {
		paid := timer(2, 0, 1)
		paid.FeePayer, paid.Sponsor = bob, &hash
		if spoil != nil {
			spoil(&paid)
		}
		found = nil
		change, _ := fire(paid, 2)
		s.judgeSponsoredFire(&change, func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) })
		return len(found)
	}
	if judge(nil)+judge(nil) != 0 {
		t.Fatalf("what was signed for is accused: %q", found)
	}
	for name, spoil := range map[string]func(*types.Timer){
		"a third fire":              nil,
		"nothing signed":            func(t *types.Timer) { t.Sponsor = nil },
		"an unknown transaction":    func(t *types.Timer) { t.Sponsor = &types.Hash{1} },
		"one without a sponsor":     func(t *types.Timer) { other := plain.Hash(); t.Sponsor = &other },
		"an actor not called by it": func(t *types.Timer) { t.Actor = thief },
		"another's word":            func(t *types.Timer) { t.FeePayer = thief },
	} {
		if judge(spoil) != 1 {
			t.Errorf("%s: found %q", name, found)
		}
	}
	if judge(func(t *types.Timer) { t.FeePayer = t.Actor }) != 0 {
		t.Errorf("an actor that pays itself is accused: %q", found)
	}
}
