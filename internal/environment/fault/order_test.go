package fault

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// sample is an order of each verb, as it may be.
var sample = map[string]Order{
	"crash": {Node: "v0"}, "restart": {Node: "v0"}, "freeze": {Node: "v0"}, "thaw": {Node: "v0"}, "wipe": {Node: "v0"},
	"disk_slow": {Node: "v0", Delay: time.Second}, "cpu_slow": {Node: "v0", Delay: time.Millisecond}, "sync_lies": {Node: "v0", On: true},
	"crash_amid": {Node: "v0", Instant: AfterAppend, Times: 3},
	"panic":      {Node: "v0", Role: "consensus"}, "hang": {Node: "v0", Contract: "dispatcher", Delay: time.Second},
	"disk_fail": {Node: "v0", On: true}, "host_fail": {Node: "v0", Actor: types.Address{7}, How: HostHangs},
	"clock_skew": {Node: "v0", Skew: -time.Second}, "misbehave": {Node: "v0", Kind: "forge"},
	"partition": {Groups: [][]string{{"v0", "v1"}, {"v2"}}}, "bridge": {Node: "v0", Left: []string{"v1"}, Right: []string{"v2", "v3"}},
	"link": {A: "v0", B: "v1", Link: Link{Loss: 0.5, OneWay: true}}, "heal": {},
	"capability": {Node: "r0", Add: []string{"model:small"}, Remove: []string{"llm", "entitlement:eu"}},
	"drop":       {Node: "r0"}, "blackhole": {Node: "r0", On: true}, "slow": {Node: "r0", Delay: time.Second},
	"saturate": {Node: "r0", On: true}, "twin": {Node: "v0", On: true},
	"flap": {Node: "r0", Up: 2 * time.Second, Down: time.Second, Times: 5}, "rejoin": {Node: "r0", AfterBlocks: 1, NewIdentity: true},
}

// Each verb's order is sound, and its text has its nodes and details.
func TestOrdersAreToldAsReceiptsHaveThem(t *testing.T) {
	for verb, want := range map[string]string{
		"crash": "crash v0", "restart": "restart v0", "freeze": "freeze v0", "thaw": "thaw v0", "wipe": "wipe v0", "disk_fail": "disk_fail v0",
		"disk_slow": "disk_slow v0 1s", "cpu_slow": "cpu_slow v0 1ms", "sync_lies": "sync_lies v0", "twin": "twin v0",
		"crash_amid": "crash_amid v0 after append 3",
		"host_fail":  "host_fail v0 hang over 0x0700000000000000000000000000000000000000",
		"clock_skew": "clock_skew v0 -1s", "misbehave": "misbehave v0 forge", "partition": "partition v0,v1 / v2",
		"bridge": "bridge v0 v1 / v2,v3",
		"link":   "link v0 v1 loss 0.5, one way", "heal": "heal",
		"panic": "panic v0 role consensus", "hang": "hang v0 1s contract dispatcher",
		"drop": "drop r0", "blackhole": "blackhole r0", "slow": "slow r0 1s", "saturate": "saturate r0",
		"capability": "capability r0 +model:small -llm -entitlement:eu",
		"flap":       "flap r0 2s up, 1s down, 5 times", "rejoin": "rejoin r0 1 block later, under another key",
	} {
		o := sample[verb]
		o.Verb = Lookup(verb)
		if err := o.Check(); err != nil || o.String() != want {
			t.Errorf("%s: %q, %v", verb, o.String(), err)
		}
	}
	for _, v := range Verbs() {
		if _, told := sample[v.Name]; !told {
			t.Errorf("there is no order of %s", v.Name)
		}
	}
	bridge := sample["bridge"]
	bridge.Verb = Bridge
	if got := strings.Join(bridge.Nodes(), " "); got != "v0 v1 v2 v3" {
		t.Errorf("a bridge names %s", got)
	}
}

func TestAnOrderThatNoNetworkTakesIsInvalid(t *testing.T) {
	for _, c := range []struct {
		order             Order
		code, field, want string
	}{
		{Order{Verb: Misbehave, Kind: "melt"}, CodeUnknownKind, "kind", `no misbehaviour "melt": they are equivocate, `},
		{Order{Verb: Misbehave}, CodeUnknownKind, "kind", `""`},
		{Order{Verb: HostFail, How: "melts"}, CodeUnknownKind, "how", `"melts"`},
		{Order{Verb: Partition, Groups: [][]string{{"v0"}, {"v1", "v0"}}}, CodeInvalid, "", "v0 is named twice"},
		{Order{Verb: Partition}, CodeInvalid, "groups", "names no node"},
		{Order{Verb: Partition, Groups: [][]string{{}, {}}}, CodeInvalid, "groups", "names no node"},
		{Order{Verb: Partition, Groups: [][]string{{"v0", "v1", "v2"}}}, CodeInvalid, "groups", "v0,v1,v2 alone does not say its other side"},
		{Order{Verb: Partition, Groups: [][]string{{"v0"}, {}, {"v1"}}}, CodeInvalid, "groups", "only the last may be"},
		{Order{Verb: Bridge, Node: "v0", Left: []string{"v0"}}, CodeInvalid, "", "v0 is named twice"},
		{Order{Verb: Bridge, Node: "v0", Left: []string{"v1"}, Right: []string{"v1"}}, CodeInvalid, "", "v1 is named twice"},
		{Order{Verb: SetLink, A: "v0", B: "v0"}, CodeInvalid, "b", "v0 has no link to itself"},
		{Order{Verb: Panic, Node: "v0"}, CodeInvalid, "role", "a role or a contract: one of them"},
		{Order{Verb: Panic, Node: "v0", Role: "intake", Contract: "registry"}, CodeInvalid, "role", "a role or a contract: one of them"},
		{Order{Verb: Panic, Node: "v0", Role: "cook"}, CodeInvalid, "role", `no role "cook" of validators: they are archive, `},
		{Order{Verb: Panic, Node: "v0", Contract: "bank"}, CodeInvalid, "contract", `no contract "bank": they are dispatcher, `},
		{Order{Verb: Hang, Node: "v0", Role: "intake"}, CodeInvalid, "delay", "is not within 1ms and 1m0s"},
		{Order{Verb: Hang, Node: "v0", Role: "intake", Delay: time.Hour}, CodeInvalid, "delay", "is not within 0s and 1m0s"},
		{Order{Verb: Slow, Node: "r0", Delay: -1}, CodeInvalid, "delay", "is not within 0s and 1m0s"},
		{Order{Verb: Flap, Node: "r0", Down: 1, Up: time.Second, Times: 1}, CodeInvalid, "down", "is not within 1ms and 1m0s"},
		{Order{Verb: Flap, Node: "r0", Down: time.Second, Up: time.Hour, Times: 1}, CodeInvalid, "up", "is not within 1ms and 1m0s"},
		{Order{Verb: Flap, Node: "r0", Down: time.Second, Up: time.Second}, CodeInvalid, "times", "is not within 1 and 1000"},
		{Order{Verb: Rejoin, Node: "r0", AfterBlocks: MaxRejoinAfter + 1}, CodeInvalid, "after_blocks", "is above 1000000"},
		{Order{Verb: CrashAmid, Node: "v0", Instant: "noon", Times: 1}, CodeInvalid, "instant", `no instant "noon": they are before append`},
		{Order{Verb: CrashAmid, Node: "v0", Instant: AfterSend}, CodeInvalid, "times", "times 0 is not within 1 and 100000"},
		{Order{Verb: Capability, Node: "r0"}, CodeInvalid, "add", "0 capabilities"},
		{Order{Verb: Capability, Node: "r0", Add: make([]string, MaxOffers+1)}, CodeInvalid, "add", "65 capabilities"},
		{Order{Verb: Capability, Node: "r0", Add: []string{""}}, CodeInvalid, "add", `the capability ""`},
		{Order{Verb: Capability, Node: "r0", Remove: []string{"a b"}}, CodeInvalid, "remove", `the capability "a b"`},
		{Order{Verb: Capability, Node: "r0", Remove: []string{PoolPrefix}}, CodeInvalid, "remove", `the capability "entitlement:"`},
		{Order{Verb: Capability, Node: "r0", Add: []string{"llm"}, Remove: []string{"llm"}}, CodeInvalid, "remove", "named twice"},
		{Order{Verb: Capability, Node: "r0", Add: []string{strings.Repeat("x", MaxOffer+1)}}, CodeInvalid, "add", "printable"},
		{Order{Verb: SetLink, A: "v0", B: "v1", Link: Link{Loss: 2}}, CodeInvalid, "", "link v0 v1: loss 2 is not within 0 and 1"},
	} {
		var invalid *refusal.Error
		if err := c.order.Check(); !errors.As(err, &invalid) || invalid.Code != c.code || invalid.Field != c.field ||
			!strings.Contains(invalid.Message, c.want) {
			t.Errorf("%+v: %v", c.order, err)
		}
	}
}

// An order is stored and sent with the name of its verb, and read again as it was. A name that the table does not have is refused.
func TestAnOrderIsReadAsItWasWritten(t *testing.T) {
	for name, o := range sample {
		o.Verb = Lookup(name)
		written, err := json.Marshal(o)
		if err != nil || !strings.HasPrefix(string(written), `{"Verb":"`+name+`","Node":"`) {
			t.Errorf("%s: %s, %v", name, written, err)
		}
		var read Order
		if err := json.Unmarshal(written, &read); err != nil || !reflect.DeepEqual(read, o) {
			t.Errorf("%s: %+v, want %+v: %v", name, read, o, err)
		}
	}
	for written, want := range map[string]string{
		`{"Verb": "explode"}`: `there is no fault "explode"`, `{"Verb": ""}`: `there is no fault ""`, `{}`: `there is no fault ""`,
		`{"Verb": "` + strings.Repeat("x", 1000) + `"}`: `there is no fault "` + strings.Repeat("x", maxShown) + `"`,
	} {
		var read Order
		err := json.Unmarshal([]byte(written), &read)
		if invalid, is := errors.AsType[*refusal.Error](err); !is || invalid.Code != CodeUnknownVerb || invalid.Field != "verb" ||
			invalid.Message != want {
			t.Errorf("%.40s: %v", written, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Verb": "crash", "Whose": "v0"}`), new(Order)); err == nil {
		t.Error("an order with an unknown field is read")
	}
}

// Verbs, and kinds of misbehaviour, apply to validators, to runners, or to both.
func TestWhatLastsIsEndedByAnOrder(t *testing.T) {
	lasting := map[string]string{"crash": "restart", "drop": "restart", "freeze": "thaw", "partition": "heal", "bridge": "heal",
		"link": "heal", "misbehave": "misbehave", "host_fail": "host_fail", "disk_slow": "disk_slow", "cpu_slow": "cpu_slow", "slow": "slow",
		"clock_skew": "clock_skew", "disk_fail": "disk_fail", "sync_lies": "sync_lies", "blackhole": "blackhole", "saturate": "saturate",
		"twin": "twin"}
	for _, v := range Verbs() {
		o := sample[v.Name]
		o.Verb, o.Node = v, "n0"
		end := o.EndedBy()
		switch want := lasting[v.Name]; {
		case end == nil && want != "" || end != nil && end.Verb.Name != want:
			t.Errorf("%s is ended by %v, want %q", v.Name, end, want)
		case end != nil && end.Verb.OfNode() && end.Node != "n0":
			t.Errorf("the end of %s is of %q", v.Name, end.Node)
		case end != nil && end.Check() != nil:
			t.Errorf("the end of %s is no order: %v", v.Name, end.Check())
		case slices.Contains(v.Takes, On) && (end == nil || end.On):
			t.Errorf("%s takes True and False, and is ended by %v", v.Name, end)
		}
	}
}

func TestAnOrderIsOfTheKindOfItsNode(t *testing.T) {
	for _, c := range []struct {
		order Order
		kind  Whose
		code  string // "": it is fine
	}{
		{Order{Verb: Restart}, Validators, ""}, {Order{Verb: Restart}, Runners, ""},
		{Order{Verb: Crash}, Validators, ""}, {Order{Verb: Crash}, Runners, CodeInvalid},
		{Order{Verb: Drop}, Validators, CodeInvalid}, {Order{Verb: Drop}, Runners, ""},
		{Order{Verb: Misbehave, Kind: "forge"}, Validators, ""}, {Order{Verb: Misbehave, Kind: "forge"}, Runners, CodeUnknownKind},
		{Order{Verb: Misbehave, Kind: "reject"}, Validators, CodeUnknownKind}, {Order{Verb: Misbehave, Kind: "reject"}, Runners, ""},
		{Order{Verb: Misbehave, Kind: Honest}, Validators, ""}, {Order{Verb: Misbehave, Kind: Honest}, Runners, ""},
		{Order{Verb: Bridge}, Runners, ""},
		{Order{Verb: Panic, Role: "intake"}, Validators, ""}, {Order{Verb: Panic, Role: "intake"}, Runners, CodeInvalid},
		{Order{Verb: Hang, Role: "runner"}, Validators, CodeInvalid}, {Order{Verb: Hang, Role: "runner"}, Runners, ""},
		{Order{Verb: Panic, Role: Parent}, Validators, ""}, {Order{Verb: Panic, Role: Parent}, Runners, ""},
		{Order{Verb: Panic, Contract: "registry"}, Validators, ""}, {Order{Verb: Panic, Contract: "registry"}, Runners, CodeInvalid},
	} {
		var invalid *refusal.Error
		if err := c.order.CheckOf(c.kind); (c.code == "") != (err == nil) || err != nil && (!errors.As(err, &invalid) || invalid.Code != c.code) {
			t.Errorf("%+v of %v: %v", c.order, c.kind, err)
		}
	}
}

// Arguments that a verb does not take are neither judged nor shown.
func TestWhatAVerbDoesNotTakeIsNotRead(t *testing.T) {
	o := Order{Verb: Crash, Node: "v0", A: "v1", B: "v1", Kind: "melt", Link: Link{Loss: 9}, Groups: [][]string{{"v0", "v0"}}}
	if err := o.Check(); err != nil || o.String() != "crash v0" || len(o.Nodes()) != 1 {
		t.Errorf("%q, %v", o.String(), err)
	}
}

// Every face finds its texts of a verb, and lists of kinds are complete.
func TestVerbsAreDescribed(t *testing.T) {
	for _, v := range Verbs() {
		if v.Script == "" || v.OfNode() && (len(v.Takes) == 0 || v.Takes[0] != Node) || (v.Command == "") != (v.Example == "") {
			t.Errorf("%s lacks a sentence, its validator or an example", v.Name)
		}
	}
	misbehave := Misbehave
	for _, kind := range KindsOf(Validators) {
		if !slices.Contains(misbehave.Words, kind) || !strings.Contains(misbehave.Script, kind) {
			t.Errorf("scripts do not have %s", kind)
		}
		if !strings.Contains(misbehave.Note, kind) {
			t.Errorf("the command line does not have %s", kind)
		}
	}
	for _, kind := range kindsOfRunners {
		if !strings.Contains(misbehave.Note, kind) {
			t.Errorf("the command line does not have %s", kind)
		}
	}
	if len(misbehave.Words) != len(kinds) {
		t.Error("scripts have unknown kinds")
	}
	for _, how := range HostFail.Words {
		if err := CheckHost(how); err != nil {
			t.Error(err)
		}
	}
}

// A partition of validators leaves the runners where they were. One that names a runner
// divides them too, and who joins later is of the rest.
func TestAPartitionOfValidatorsLeavesRunnersWhereTheyWere(t *testing.T) {
	isRunner := func(name string) bool { return strings.HasPrefix(name, "r") }
	for _, c := range []struct {
		groups [][]string
		apart  string
	}{
		{[][]string{{"v0", "v1"}, {"v2", "v3"}}, "v0-v2 v0-v3 v0-v4 v1-v2 v1-v3 v1-v4 v2-v4 v3-v4"},
		{[][]string{{"v0", "v1", "v2"}, {}}, "v0-v3 v0-v4 v1-v3 v1-v4 v2-v3 v2-v4"},
		{[][]string{{"r0"}, {}}, "r0-r1 v0-r0 v1-r0 v2-r0 v3-r0 v4-r0"},
		{[][]string{{"v0", "v1", "v2", "v4", "r0"}, {"v3"}}, "r0-r1 v0-r1 v0-v3 v1-r1 v1-v3 v2-r1 v2-v3 v3-r0 v3-r1 v3-v4 v4-r1"},
	} {
		separated := Separated(isRunner, c.groups...)
		var apart []string
		nodes := []string{"v0", "v1", "v2", "v3", "v4", "r0", "r1"}
		for i, a := range nodes {
			for _, b := range nodes[i+1:] {
				if separated(a, b) != separated(b, a) {
					t.Errorf("%v: %s and %s are apart in one direction", c.groups, a, b)
				}
				if separated(a, b) {
					apart = append(apart, a+"-"+b)
				}
			}
		}
		slices.Sort(apart)
		if got := strings.Join(apart, " "); got != c.apart {
			t.Errorf("%v separates %s, want %s", c.groups, got, c.apart)
		}
	}
}

// The sentence of misbehave names the ways of the kind of node that it is of.
func TestEachKindOfNodeHasItsOwnWaysToMisbehave(t *testing.T) {
	ofValidators, ofRunners := Misbehave.ScriptOf(Validators), Misbehave.ScriptOf(Runners)
	if !strings.Contains(ofValidators, "equivocate") || strings.Contains(ofRunners, "equivocate") ||
		!strings.Contains(ofRunners, "late_result") || strings.Contains(ofValidators, "late_result") {
		t.Errorf("%s\n%s", ofValidators, ofRunners)
	}
}
