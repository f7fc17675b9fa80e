package api

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func TestARegistrationHasDefaultsAndSortedWords(t *testing.T) {
	key, signed := crypto.DeriveKey(1, "stranger").PublicKey(), types.Signature{5}
	in, err := Registration(&model.RunnerRequest{PublicKey: key.String(), Signed: &signed})
	want := &system.Registration{PublicKey: key, Stake: types.WeiOf(20_000 * types.CBY), Signed: signed,
		Offer: system.Offer{Capabilities: []string{"custom"}, Entitlements: []string{}, MaxConcurrentJobs: 4}}
	if err != nil || !reflect.DeepEqual(in, want) {
		t.Errorf("%+v, %v", in, err)
	}
	stake, most := types.WeiOf(7), uint64(9)
	in, err = Registration(&model.RunnerRequest{PublicKey: key.String(), Signed: &signed, Stake: &stake, MaxConcurrent: &most,
		Capability: []string{"http", "domain:a", "http"}, Entitlement: []string{"z", "y"},
		Rate: map[string]types.Wei{"compute_second": types.WeiOf(1), "memory_mb": types.WeiOf(6)}})
	want.Stake, want.Offer = stake, system.Offer{Capabilities: []string{"domain:a", "http"}, Entitlements: []string{"y", "z"},
		MaxConcurrentJobs: 9, RateCard: system.RateCard{ComputeSecond: types.WeiOf(1), MemoryMB: types.WeiOf(6)}}
	if err != nil || !reflect.DeepEqual(in, want) {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestWhatIsWrongWithARegistrationIsSaidOfItsField(t *testing.T) {
	key := crypto.DeriveKey(1, "stranger").PublicKey().String()
	none, signed := uint64(0), &types.Signature{}
	for want, r := range map[string]model.RunnerRequest{
		"public_key: ":                     {PublicKey: "0x02"},
		"public_key: 0x00":                 {PublicKey: "0x" + strings.Repeat("0", 66)},
		"signed: it is missing: 0x":        {PublicKey: key},
		"capability: \"fly\" is none of":   {PublicKey: key, Signed: signed, Capability: []string{"fly"}},
		"capability: a capability or":      {PublicKey: key, Signed: signed, Entitlement: []string{""}},
		"max_concurrent: ":                 {PublicKey: key, Signed: signed, MaxConcurrent: &none},
		"rate: a rate is one of compute_s": {PublicKey: key, Signed: signed, Rate: map[string]types.Wei{"hour": {}}},
	} {
		in, err := Registration(&r)
		var refused *Error
		if field, _, _ := strings.Cut(want, ":"); !errors.As(err, &refused) || !strings.HasPrefix(refused.Body.Message, want) ||
			refused.Body.Field != field || refused.Body.Code != "invalid_runner" {
			t.Errorf("%+v, %v, want %s", in, err, want)
		}
	}
}
