package api

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
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

// A runner of the devnet's own differs from the others in what is asked for, and in no more.
func TestTermsOfAnOwnRunnerAreOnlyWhatIsAskedFor(t *testing.T) {
	own := system.Offer{Capabilities: []string{"custom", "llm"}, Entitlements: []string{}, MaxConcurrentJobs: 16,
		RateCard: system.RateCard{HTTPRequestBase: types.WeiOf(2)}}
	stake, offer, err := OwnTerms(&model.RunnerRequest{}, own)
	if err != nil || stake != types.WeiOf(20_000*types.CBY) || !reflect.DeepEqual(offer, own) {
		t.Errorf("%v %+v, %v", stake, offer, err)
	}
	less, few := types.WeiOf(7), uint64(3)
	asked := &model.RunnerRequest{Stake: &less, MaxConcurrent: &few, Model: []string{"b", "a", "b"}, Entitlement: []string{"gold"},
		Rate: map[string]types.Wei{"compute_second": types.WeiOf(1)}}
	stake, offer, err = OwnTerms(asked, own)
	want := system.Offer{Capabilities: []string{"custom", "llm", "model:a", "model:b"}, Entitlements: []string{"gold"}, MaxConcurrentJobs: 3,
		RateCard: system.RateCard{ComputeSecond: types.WeiOf(1), HTTPRequestBase: types.WeiOf(2)}}
	if err != nil || stake != less || !reflect.DeepEqual(offer, want) {
		t.Errorf("%v %+v, %v, want %+v", stake, offer, err, want)
	}
	if !reflect.DeepEqual(own.Capabilities, []string{"custom", "llm"}) {
		t.Errorf("what all of them offer became %q", own.Capabilities)
	}
	asked.Stake = nil
	if offer, err = Amended(asked, want); err != nil || !reflect.DeepEqual(offer, want) {
		t.Errorf("the same update again: %+v, %v", offer, err)
	}
	if offer, err = Amended(&model.RunnerRequest{Entitlement: []string{}}, want); err != nil || len(offer.Entitlements) != 0 {
		t.Errorf("without pools: %+v, %v", offer, err)
	}
	many := uint64(17)
	for field, r := range map[string]*model.RunnerRequest{"max_concurrent": {MaxConcurrent: &many}, "stake": {Stake: &less}} {
		var refused *Error
		if _, err := Amended(r, want); !errors.As(err, &refused) || refused.Body.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
