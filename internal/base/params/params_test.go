package params

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

var keyForm = regexp.MustCompile(`^(chain|cip[0-9]+)(\.[a-z][a-z0-9_]*)+$`)

func TestEveryParameterHasAKeyAClassAndADefaultInRange(t *testing.T) {
	p := Defaults()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	infos := Keys()
	if !slices.IsSortedFunc(infos, func(a, b Info) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("Keys are not sorted")
	}
	seen := make(map[string]bool)
	for _, info := range infos {
		if !keyForm.MatchString(info.Key) || len(info.Key) > maxKeyBytes || seen[info.Key] {
			t.Errorf("%q is not a key, or belongs to two parameters", info.Key)
		}
		seen[info.Key] = true
		if text, err := p.Get(info.Key); err != nil || text != info.Default {
			t.Errorf("%s defaults to %q, %v, its tag says %q", info.Key, text, err, info.Default)
		}
		if of, err := Lookup(info.Key); err != nil || of.Default != info.Default || of.Class != info.Class {
			t.Errorf("Lookup(%s) = %v, %v", info.Key, of, err)
		}
		if info.Type == Word && len(info.Words) == 0 {
			t.Errorf("%s takes no word", info.Key)
		}
	}
}

// value draws a text that info's parameter takes.
func value(t *rapid.T, info Info) string {
	switch info.Type {
	case Flag:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "flag")
	case Word:
		return rapid.SampledFrom(info.Words).Draw(t, "word")
	}
	low, _ := types.ParseWei(info.Min)
	high, _ := types.ParseWei(info.Max)
	if rapid.Bool().Draw(t, "at an end") {
		return rapid.SampledFrom([]string{info.Min, info.Max}).Draw(t, "end")
	}
	first, _ := low.Uint64()
	last, fits := high.Uint64()
	if !fits {
		last = 1<<64 - 1
	}
	return types.WeiOf(rapid.Uint64Range(first, last).Draw(t, "number")).String()
}

func TestTextAndStateRoundTripForEveryParameter(t *testing.T) {
	for _, info := range Keys() {
		rapid.Check(t, func(t *rapid.T) {
			p := Defaults()
			text := value(t, info)
			if err := p.Set(info.Key, text); err != nil {
				t.Fatal(err)
			}
			if got, _ := p.Get(info.Key); got != text {
				t.Fatalf("%s was set to %s and is %s", info.Key, text, got)
			}
			data, err := p.Encode(info.Key)
			if err != nil || len(data) > MaxValueBytes {
				t.Fatalf("%s encodes to %x, %v", info.Key, data, err)
			}
			decoded := Defaults()
			if err := decoded.Decode(info.Key, data); err != nil || decoded != p {
				t.Fatalf("%s = %s is decoded from %x as %v, %v", info.Key, text, data, decoded.Changed(), err)
			}
			if changed := p.Changed(); text != info.Default && (len(changed) != 1 || changed[info.Key] != text) || text == info.Default &&
				len(changed) != 0 {
				t.Fatalf("%s = %s changed %v", info.Key, text, changed)
			}
		})
	}
}

func TestLoadReadsWhatEncodeWroteAndKeepsDefaults(t *testing.T) {
	p := Defaults()
	o := Overrides{"cip3.min_basefee": "77", "chain.cheats": "false", "cip5.fees": "free"}
	if err := p.Apply(o); err != nil {
		t.Fatal(err)
	}
	state := make(map[string][]byte)
	for key := range o {
		state[StateKey(key)], _ = p.Encode(key)
	}
	if len(state["system:cip3:min_basefee"]) == 0 {
		t.Errorf("min_basefee is not under system:cip3:min_basefee but %v", state)
	}
	loaded, err := Load(func(k string) []byte { return state[k] })
	if err != nil || loaded != p {
		t.Errorf("loaded %v, %v, want %v", loaded.Changed(), err, o)
	}
	state[StateKey("cip5.fees")] = codec.Marshal("gratis")
	if _, err := Load(func(k string) []byte { return state[k] }); err == nil || !strings.Contains(err.Error(), "cip5.fees") {
		t.Errorf("a wrong word in state: %v", err)
	}
}

// Messages for people. Each refusal leaves the parameters as they were.
func TestRefusalsSayWhatWasWrongAndWhatToDo(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"cip3.min_base_fee", "1", `unknown parameter "cip3.min_base_fee"; did you mean cip3.min_basefee?`},
		{"min_basefee", "1", `unknown parameter "min_basefee"; did you mean cip3.min_basefee?`},
		{"cip5.lane_timer_cycles", "1", `unknown parameter "cip5.lane_timer_cycles"; did you mean cip1.lane_timer_cycles or cip3.lane_user_cycles?`},
		{"nonsense", "1", "unknown parameter \"nonsense\"; `devnet params` lists them all"},
		{strings.Repeat("x", 1000), "1", "unknown parameter \"" + strings.Repeat("x", 64) + "…\"; `devnet params` lists them all"},
		{"chain.link_delay_ms", "0", `chain.link_delay_ms: "0" is not an integer from 1 to 60000`},
		{"chain.link_delay_ms", "60001", `chain.link_delay_ms: "60001" is not an integer from 1 to 60000`},
		{"chain.id", "0", `chain.id: "0" is not an integer from 1 to 2^64-1`},
		{"chain.id", "18446744073709551616", `chain.id: "18446744073709551616" is not an integer from 1 to 2^64-1`},
		{"chain.id", "-1", `chain.id: "-1" is not an integer from 1 to 2^64-1`},
		{"chain.id", "1.5", `chain.id: "1.5" is not an integer from 1 to 2^64-1`},
		{"chain.id", "", `chain.id: "" is not an integer from 1 to 2^64-1`},
		{"cip3.min_basefee", "100 CBY", `cip3.min_basefee: "100 CBY" is not an amount in wei from 0 to 2^256-1`},
		{"cip3.min_basefee", "-1", `cip3.min_basefee: "-1" is not an amount in wei from 0 to 2^256-1`},
		{"chain.cheats", "yes", `chain.cheats: "yes" is not true or false`},
		{"cip5.fees", "gratis", `cip5.fees: "gratis" is not one of paid, free`},
		{"cip1.policy", "lottery", `cip1.policy: "lottery" is not one of fifo`},
	} {
		p := Defaults()
		err := p.Set(c.key, c.value)
		if err == nil {
			t.Errorf("%s = %q was taken", c.key, c.value)
		} else if !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s = %q:\n got %s\nwant %s", c.key, c.value, err, c.want)
		}
		if p != Defaults() {
			t.Errorf("%s = %q was refused and changed %v", c.key, c.value, p.Changed())
		}
	}
}

func TestDecodeRefusesWhatIsNotOneCanonicalValueInRange(t *testing.T) {
	for key, bad := range map[string][]byte{
		"chain.id":            {0x18, 0x05},                // 5, not in its shortest form
		"chain.link_delay_ms": codec.Marshal(uint64(0)),    // below the range
		"chain.block_time_ms": codec.Marshal("1000"),       // text
		"chain.cheats":        codec.Marshal(uint64(1)),    // a number
		"cip3.min_basefee":    {0xc2, 0x42, 0x00, 0x01},    // a big number with a leading zero
		"cip5.fees":           codec.Marshal("gratis"),     // no such word
		"cip1.policy":         make([]byte, 100),           // too long
		"chain.call_depth":    {0x18, 0x20, 0x00},          // bytes after it
		"no.such":             codec.Marshal(uint64(1)),    // no key
		"chain.epoch_blocks":  codec.Marshal(int64(-5)),    // negative
		"chain.faucet_wei":    codec.Marshal([]byte{1, 2}), // bytes
		"cip3.cycles_dict":    {},                          // nothing
	} {
		p := Defaults()
		if err := p.Decode(key, bad); err == nil {
			t.Errorf("%s took %x as %v", key, bad, p.Changed())
		}
		if p != Defaults() {
			t.Errorf("%s refused %x and changed %v", key, bad, p.Changed())
		}
	}
}

func TestCheckFindsBrokenRulesBetweenParameters(t *testing.T) {
	for _, c := range []struct {
		spoil func(*Params)
		want  string
	}{
		{func(p *Params) { p.LaneUserCycles++ }, "the lanes' cycles add up to 20000001, more than cip3.block_cycles_limit, 20000000"},
		{func(p *Params) { p.LaneUserCycles = 1<<64 - 1 }, "the lanes' cycles add up to 18446744073709551615"},
		{func(p *Params) { p.MinGasLimit = p.MaxCyclesPerFire + 1 }, "cip1.min_gas_limit is 550001, more than cip5.max_cycles_per_fire, 550000"},
		{func(p *Params) { p.LaneTimerCycles = 999 }, "cip1.min_gas_limit is 1000, more than cip1.lane_timer_cycles, 999"},
		{func(p *Params) { p.CellsLimit = 500_000 }, "cip5.max_cells_per_fire is 550000, more than cip3.block_cells_limit, 500000"},
		{func(p *Params) { p.LaneTimerCycles = 200_000 },
			"cip1.max_cycles_per_fire_auction_phase is 250000, more than cip1.lane_timer_cycles, 200000"},
		{func(p *Params) { p.Policy, p.LaneTimerCycles = "fifo", 500_000 },
			"cip5.max_cycles_per_fire is 550000, more than cip1.lane_timer_cycles, 500000"},
		{func(p *Params) { p.MaxCyclesPerFire, p.LaneTimerCycles = 100_000, 99_999 },
			"cip5.max_cycles_per_fire is 100000, more than cip1.lane_timer_cycles, 99999"},
		{func(p *Params) { p.HeartbeatBlocks = 3 }, "cip11.heartbeat_blocks is 3, not below cip11.presence_timeout_blocks, 3"},
		{func(p *Params) { p.CostActorCall = 2000 }, "cip3.cycles_actor_call is 2000, more than cip1.min_gas_limit, 1000"},
		{func(p *Params) { p.GCCyclesPerTimer = p.GCCyclesPerBlock + 1 },
			"cip5.gc_cycles_per_timer is 5000001, more than cip5.gc_cycles_per_block, 5000000"},
		{func(p *Params) { p.Policy = "lottery" }, `cip1.policy: "lottery" is not one of fifo`},
		{func(p *Params) { p.LinkDelayMS = 0 }, `chain.link_delay_ms: "0" is not an integer`},
	} {
		p := Defaults()
		c.spoil(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestApplyIsAllOrNothingAndNamesEveryMistake(t *testing.T) {
	p := Defaults()
	err := p.Apply(Overrides{"chain.cheats": "false", "chain.idd": "5", "cip5.fees": "gratis"})
	if err == nil || !strings.Contains(err.Error(), "chain.idd") || !strings.Contains(err.Error(), "cip5.fees") {
		t.Errorf("got %v", err)
	}
	if err := p.Apply(Overrides{"chain.cheats": "false", "cip3.block_cycles_limit": "5"}); err == nil {
		t.Error("a block smaller than its lanes was taken")
	}
	if p != Defaults() {
		t.Errorf("refused overrides changed %v", p.Changed())
	}
	together := Overrides{"cip3.lane_user_cycles": "20000000", "cip3.block_cycles_limit": "30000000"}
	if err := p.Apply(together); err != nil {
		t.Errorf("values that fit only together: %v", err)
	}
}

// A block of the maximum size fits into a frame with its votes, the longest state
// key into the trie with an address and a prefix, and the longest timer into a
// record of a history.
func TestRangesStayWithinFixedLimits(t *testing.T) {
	block, _ := Lookup("chain.max_block_bytes")
	if max, _ := types.ParseWei(block.Max); types.WeiOf(types.MaxBlockBytes * 3 / 4).Less(max) {
		t.Errorf("chain.max_block_bytes may be %s, too near types.MaxBlockBytes", block.Max)
	}
	key, _ := Lookup("chain.max_state_key_bytes")
	if max, _ := types.ParseWei(key.Max); types.WeiOf(2048).Less(max) {
		t.Errorf("chain.max_state_key_bytes may be %s; half of trie.MaxKeyBytes is 2048", key.Max)
	}
	greatest := Defaults()
	for _, key := range []string{"cip5.max_payload_bytes", "cip5.max_handler_bytes", "chain.max_state_key_bytes"} {
		info, _ := Lookup(key)
		if err := greatest.Set(key, info.Max); err != nil {
			t.Fatal(err)
		}
	}
	const restOfTimer = 1024 // its other fields
	if n := greatest.MaxTimerPayload + greatest.MaxTimerHandler + greatest.MaxStateKeyBytes; n > types.MaxTransactionBytes+4096-restOfTimer {
		t.Errorf("payload, handler and watched key of a timer may have %d bytes; its record in a history has %d", n,
			types.MaxTransactionBytes+4096)
	}
}

// The table refuses what it cannot hold when the program starts.
func TestTagsAreReadAndCheckedAtStart(t *testing.T) {
	type fields struct {
		Amount   types.Wei    `param:"cip3.amount" class:"block" default:"7" min:"5" max:"9"`
		Cycles   types.Cycles `param:"cip3.cycles" class:"epoch" default:"7" min:"5"`
		NoKey    uint64       `class:"block" default:"7"`
		NoGroup  uint64       `param:"amount" class:"block" default:"7"`
		NoClass  uint64       `param:"cip3.x" default:"7"`
		Class    uint64       `param:"cip3.x" class:"hour" default:"7"`
		Signed   int64        `param:"cip3.x" class:"block" default:"7"`
		Bytes    []byte       `param:"cip3.x" class:"block" default:"7"`
		Backward uint64       `param:"cip3.x" class:"block" default:"7" min:"9" max:"5"`
		Wide     uint64       `param:"cip3.x" class:"block" default:"7" max:"18446744073709551616"`
		Spelt    uint64       `param:"cip3.x" class:"block" default:"7" max:"ten"`
	}
	all := reflect.TypeFor[fields]()
	amount := newEntry(all.Field(0), 0)
	for n, want := range map[uint64]bool{4: false, 5: true, 9: true, 10: false} {
		if amount.isWithin(types.WeiOf(n)) != want {
			t.Errorf("%d is %s: %v, want %v", n, amount.describeValues(), !want, want)
		}
	}
	if got := amount.describeValues(); got != "an amount in wei from 5 to 9" {
		t.Error(got)
	}
	if e := newEntry(all.Field(1), 1); e.Type != Integer || e.Class != NextEpoch || e.describeValues() != "an integer from 5 to 2^64-1" {
		t.Errorf("%v", e.Info)
	}
	for i := 2; i < all.NumField(); i++ {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the tag of %s was taken", all.Field(i).Name)
				}
			}()
			newEntry(all.Field(i), i)
		}()
	}
}

// An instruction's arguments are outside input.
func FuzzDecode(f *testing.F) {
	p := Defaults()
	for _, info := range Keys() {
		data, _ := p.Encode(info.Key)
		f.Add(info.Key, data)
	}
	f.Fuzz(func(t *testing.T, key string, data []byte) {
		p := Defaults()
		if err := p.Decode(key, data); err != nil {
			if p != Defaults() {
				t.Fatalf("%s refused %x and changed %v", key, data, p.Changed())
			}
			return
		}
		if again, err := p.Encode(key); err != nil || string(again) != string(data) {
			t.Fatalf("%s took %x and writes %x, %v", key, data, again, err)
		}
	})
}

// The cost for a block of reading its parameters, compared with copying those of
// the block before.
func BenchmarkLoad(b *testing.B) {
	p := Defaults()
	state := make(map[string][]byte)
	for _, info := range Keys() {
		state[StateKey(info.Key)], _ = p.Encode(info.Key)
	}
	b.Run("from state", func(b *testing.B) {
		for b.Loop() {
			if _, err := Load(func(k string) []byte { return state[k] }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			p = Defaults()
		}
	})
}

// CIP-11 §13: each constant of the draft is a parameter with the draft's value as
// default.
func TestCIP11Section13Defaults(t *testing.T) {
	p := Defaults()
	for _, c := range []struct {
		key  string
		want uint64
		got  uint64
	}{
		{"cip11.min_subset", 3, p.MinSubset}, {"cip11.max_subset", 8, p.MaxSubset}, {"cip11.subset_epoch_blocks", 8192, p.SubsetEpochBlocks},
		{"cip11.validator_churn_threshold_permille", 100, p.ChurnPermille}, {"cip11.overlap_blocks", 32, p.OverlapBlocks},
		{"cip11.heartbeat_blocks", 1, p.HeartbeatBlocks}, {"cip11.presence_timeout_blocks", 3, p.PresenceTimeoutBlocks},
		{"cip11.stale_heartbeat_blocks", 1024, p.StaleHeartbeatBlocks}, {"cip11.mru_ttl_blocks", 256, p.MRUTTLBlocks},
		{"cip11.mru_weight_multiplier", 4, p.MRUWeightMultiplier}, {"cip11.ack_timeout_blocks", 3, p.AckTimeoutBlocks},
	} {
		if !slices.ContainsFunc(Keys(), func(k Info) bool { return k.Key == c.key }) || c.got != c.want {
			t.Errorf("%s is %d, the draft has %d", c.key, c.got, c.want)
		}
	}
	if p.PresenceRule != "quorum" {
		t.Errorf("presence_threshold is by the rule %s, not by that of the draft", p.PresenceRule)
	}
}
