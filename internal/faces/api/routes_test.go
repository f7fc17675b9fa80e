package api

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/validators/history"
)

// TestFieldsAreThoseThatScriptsRead holds the JSON names against the list that
// scripts rely on: it is kept here, and a name that leaves it breaks them.
func TestFieldsAreThoseThatScriptsRead(t *testing.T) {
	w := newWorld(t)
	ping := w.deploy("ping")
	id := w.chain.addTimer(ping.Address, 9, types.TimerPending)
	for path, fields := range map[string]string{
		"/block/latest": "height, view, epoch, hash, parent, proposer, timestamp_ms, transactions, cycles_used, cells_used, basefee_cycle, " +
			"basefee_cell, basefee_lane_timer, timer_cycles_used, timers_fired, timers_deferred, timers_expired, timers_insufficient, " +
			"passed, burned, tips, state_root, subset_epoch, skipped, votes",
		"/transaction/" + ping.Receipt.Hash.String() + "/receipt": "hash, height, status, cycles, cells, fee, events, error, output, " +
			"cycles_used, cells_used",
		"/timer/" + id.String(): "id, actor, height, handler, payload, fee_payer, sponsor, gas_limit, expires_at, max_fee_per_cycle, " +
			"max_priority_fee_per_cycle, bid, gba, " +
			"status, tier, scheduled_at, ended_at, deferrals, reason, priority, weight, cycles_used, cells_used, fee_paid, tip_paid",
		"/account/alice": "address, nonce, balance",
		"/height":        "height",
	} {
		got := get[map[string]any](w, path)
		for _, field := range strings.Split(fields, ", ") {
			if _, there := got[field]; !there {
				t.Errorf("GET %s has no field %s: it has %v", path, field, keys(got))
			}
		}
	}
	validator := get[[]map[string]any](w, "/validators")[0]
	for _, field := range strings.Split("index, name, address, public_key, quic_address, height, state_root, status, running, connections",
		", ") {
		if _, there := validator[field]; !there {
			t.Errorf("GET /validators has no field %s", field)
		}
	}
}

func keys(m map[string]any) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func TestAmountsAreDecimalStringsAndBytesHex(t *testing.T) {
	w := newWorld(t)
	got := get[map[string]any](w, "/account/alice")
	if got["balance"] != "1000000000000000" || !strings.HasPrefix(got["address"].(string), "0x") {
		t.Fatalf("%v", got)
	}
}

func TestBlocksAreFoundByHeightHashAndLatest(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		w.chain.mine()
	}
	third := get[model.Block](w, "/block/3")
	if again := get[model.Block](w, "/block/"+third.Hash.String()); again.Height != 3 || again.Hash != third.Hash {
		t.Fatalf("%+v", again)
	}
	if latest := get[model.Block](w, "/block/latest"); latest.Height != 5 || len(latest.Votes) != 1 {
		t.Fatalf("%+v", latest)
	}
	for query, want := range map[string][]types.Height{"": {1, 2, 3, 4, 5}, "?limit=2": {4, 5}, "?from=2&limit=2": {2, 3},
		"?from=0": {0, 1, 2, 3, 4, 5}, "?from=9": {}} {
		got := []types.Height{}
		for _, b := range get[[]model.Block](w, "/blocks"+query) {
			got = append(got, b.Height)
		}
		if !slices.Equal(got, want) {
			t.Errorf("/blocks%s lists %v, want %v", query, got, want)
		}
	}
}

func TestBlocksSayWhatBecameOfTimers(t *testing.T) {
	w := newWorld(t)
	id := func(n byte) types.Hash { return types.Hash{n} }
	w.chain.mine(history.TimerMark{ID: id(1), Status: types.TimerPending}, history.TimerMark{ID: id(2), Status: types.TimerFired},
		history.TimerMark{ID: id(3), Status: types.TimerPending, Reason: "lane_full"}, history.TimerMark{ID: id(4), Status: types.TimerExpired},
		history.TimerMark{ID: id(5), Status: types.TimerInsufficientFunds}, history.TimerMark{ID: id(6), Status: types.TimerFired},
		history.TimerMark{ID: id(7), Status: types.TimerCancelled})
	b := get[model.Block](w, "/block/1")
	for _, c := range []struct {
		name      string
		got, want []types.Hash
	}{{"fired", b.TimersFired, []types.Hash{id(2), id(6)}}, {"deferred", b.TimersDeferred, []types.Hash{id(3)}},
		{"expired", b.TimersExpired, []types.Hash{id(4)}}, {"insufficient", b.TimersInsufficient, []types.Hash{id(5)}}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// Decision C18: a block lists its proposer's skipped items by name, and the number
// that it did not reach.
func TestABlockTellsWhatWasPassedOver(t *testing.T) {
	two := uint64(2)
	p := &types.Passed{
		Fires:     types.PassedFires{Failed: []types.TimerID{{1}, {2}}, Begun: &two},
		Messages:  types.PassedMessages{Failed: []types.Seq{7}},
		Questions: types.PassedQuestions{Failed: []types.AgentQuestion{{Bidder: types.Address{3}, Actor: types.Address{4}, Trigger: 5}}},
	}
	got := answers.ShowBlock(&answers.Block{Stored: history.Stored{Block: &types.Block{Passed: p}}}).Passed
	if !slices.Equal(got.Timers, []types.TimerID{{1}, {2}}) || !slices.Equal(got.Messages, []types.Seq{7}) ||
		!slices.Equal(got.Agents, []model.Asked{{Bidder: types.Address{3}, Actor: types.Address{4}, TriggerHeight: 5}}) ||
		!slices.Equal(got.Stopped, []string{"timers"}) {
		t.Errorf("%+v", got)
	}
	if none := answers.ShowBlock(&answers.Block{Stored: history.Stored{Block: &types.Block{}}}).Passed; none.Timers == nil ||
		none.Messages == nil || none.Agents == nil || len(none.Stopped) != 0 {
		t.Errorf("a block that skipped nothing: %+v", none)
	}
}

func TestATransactionMayBeSubmittedInBothForms(t *testing.T) {
	w := newWorld(t)
	sign := func() []byte {
		key := w.chain.keys["bob"]
		to := w.chain.keys["alice"].Address()
		d := wallet.Draft{To: &to, Value: types.WeiOf(5), Payload: types.Transfer{Kind: types.KindTransfer}}
		return d.Sign(feeOffer(testChain, answers.Head{}), key, w.chain.NextNonce(key.Address())).Encode()
	}
	raw := sign()
	status, data := w.call("POST", "/submit", raw, "Content-Type", "application/cbor")
	if s := decode[model.Submitted](w, "/submit", status, data); s.Hash != types.Keccak(raw) {
		t.Fatalf("%s is not the hash of the transaction", s.Hash)
	}
	r := post[model.Receipt](w, "/submit_wait", model.SubmitRequest{Tx: sign()})
	if r.Status != "ok" || r.Height != 2 {
		t.Fatalf("%+v", r)
	}
	status, data = w.call("POST", "/submit_wait", sign(), "Content-Type", "text/plain")
	decode[model.Receipt](w, "/submit_wait", status, data)
	tx := get[model.Transaction](w, "/transaction/"+types.Keccak(raw).String())
	if tx.Status != "final" || *tx.Height != 1 || tx.Sender != w.chain.keys["bob"].Address() || tx.Value != types.WeiOf(5) ||
		tx.Kind != "transfer" {
		t.Fatalf("%+v", tx)
	}
	w.refused(409, refusal.CodeNonceTooLow, "POST", "/submit", raw)
}

func TestActorsAreFoundByNameAndShowWhatTheyAre(t *testing.T) {
	w := newWorld(t)
	fund := types.WeiOf(12)
	d := post[model.Deployed](w, "/devnet/deploy", model.DeployRequest{From: "alice", Code: "0x78", Name: "ping", Fund: &fund})
	w.deploy("pong")
	w.chain.addTimer(d.Address, 30, types.TimerPending)
	w.chain.addTimer(d.Address, 10, types.TimerFired)
	a := get[model.Actor](w, "/actor/ping")
	if a.Address != d.Address || a.Balance != fund || a.Owner != w.chain.keys["alice"].Address() || a.CodeHash != types.Keccak([]byte("x")) ||
		len(a.Handlers) != 1 || a.Timers.NextDue == nil || *a.Timers.NextDue != 30 {
		t.Fatalf("%+v", a)
	}
	if byAddress := get[model.Actor](w, "/actor/"+d.Address.String()); byAddress.Name != "ping" {
		t.Fatalf("%+v", byAddress)
	}
	if all := get[[]model.Actor](w, "/actors?limit=1&offset=1"); len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	if account := get[model.Account](w, "/account/ping"); account.Name != "ping" || account.Balance != fund {
		t.Fatalf("%+v", account)
	}
	r := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: w.chain.keys["bob"].Address().String(), To: "ping", Handler: "set",
		Payload: "a=1"})
	post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "bob", To: "ping", Handler: "set", Payload: "0x623d32"})
	if r.Sender != w.chain.keys["bob"].Address() {
		t.Fatalf("%+v", r)
	}
	state := get[[]model.StateEntry](w, "/actor/ping/state")
	if len(state) != 2 || string(state[0].Key) != "a" || state[1].Text != "2" {
		t.Fatalf("%+v", state)
	}
	if some := get[[]model.StateEntry](w, "/actor/ping/state?prefix=b"); len(some) != 1 {
		t.Fatalf("%+v", some)
	}
	if logs := get[[]model.LogLine](w, "/actor/ping/logs"); len(logs) != 2 || logs[0].Line != "ran set" || logs[0].Actor != d.Address {
		t.Fatalf("%+v", logs)
	}
}

func TestAHandlerThatFailsIsAReceiptAndNoError(t *testing.T) {
	w := newWorld(t)
	w.deploy("ping")
	r := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "ping", Handler: "fail"})
	if r.Status != "reverted" || r.Error == nil || r.Error.Code != "raised" {
		t.Fatalf("%+v", r)
	}
	read := post[model.ReadResult](w, "/actor/read", model.ReadRequest{Actor: "ping", Handler: "fail"})
	if read.Status != "reverted" || read.Error == nil {
		t.Fatalf("%+v", read)
	}
	read = post[model.ReadResult](w, "/actor/read?node=v1", model.ReadRequest{Actor: "ping", Handler: "echo", Payload: "héllo", From: "bob"})
	if read.Text != "héllo" || read.Logs[0] != "read" {
		t.Fatalf("%+v", read)
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.deploy("ping")
	r := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "ping", Handler: "set", Payload: "a=1", DryRun: true})
	if r.Cycles != 42 || w.chain.submits != 1 {
		t.Fatalf("%+v after %d submits", r, w.chain.submits)
	}
}

func TestLimitsOfASendAreThoseAskedFor(t *testing.T) {
	w := newWorld(t)
	cycles, cells, amount := types.Cycles(5000), types.Cells(700), types.WeiOf(9)
	r := post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "bob", Value: &amount, CyclesLimit: &cycles,
		CellsLimit: &cells})
	tx := get[model.Transaction](w, "/transaction/"+r.Hash.String())
	if tx.CyclesLimit != 5000 || tx.CellsLimit != 700 || tx.Value != amount || tx.MaxFeePerCycle != types.WeiOf(2000) {
		t.Fatalf("%+v", tx)
	}
	r = post[model.Receipt](w, "/devnet/send", model.SendRequest{From: "alice", To: "bob"})
	if tx := get[model.Transaction](w, "/transaction/"+r.Hash.String()); tx.CyclesLimit != wallet.DefaultCycles ||
		tx.CellsLimit < wallet.DefaultCells {
		t.Fatalf("%+v", tx)
	}
}

func TestTheFaucetGives5000CBY(t *testing.T) {
	w := newWorld(t)
	stranger := types.Address{7, 7}
	f := post[model.Faucet](w, "/faucet", model.FaucetRequest{Address: stranger.String()})
	if a := get[model.Account](w, "/account/"+stranger.String()); a.Balance != types.WeiOf(5000*types.CBY) || f.Amount != a.Balance {
		t.Fatalf("%+v %+v", f, a)
	}
}

func TestOneCodeMayBeDeployedManyTimes(t *testing.T) {
	w := newWorld(t)
	a := post[model.Deployed](w, "/devnet/deploy", model.DeployRequest{From: "alice", Code: "x"})
	b := post[model.Deployed](w, "/devnet/deploy", model.DeployRequest{From: "alice", Code: "x"})
	if a.Address == b.Address {
		t.Fatal("two deploys have one address")
	}
}

func TestTimersAreFilteredAndShowTheReceiptOfTheirFire(t *testing.T) {
	w := newWorld(t)
	actor := w.deploy("ping").Address
	pending, fired := w.chain.addTimer(actor, 30, types.TimerPending), w.chain.addTimer(actor, 10, types.TimerFired)
	w.chain.addTimer(types.Address{3}, 20, types.TimerPending)
	w.chain.mine(history.TimerMark{ID: fired, Actor: actor, Status: types.TimerFired})
	for query, want := range map[string]int{"": 3, "?actor=ping": 2, "?actor=ping&status=pending": 1, "?due_by=20": 2, "?due_by=0": 0,
		"?limit=1&offset=2": 1} {
		if got := get[[]model.Timer](w, "/timers"+query); len(got) != want {
			t.Errorf("/timers%s lists %d, want %d", query, len(got), want)
		}
	}
	if d := get[model.TimerDetail](w, "/timer/"+fired.String()); d.Receipt == nil || d.Receipt.Origin != "timer" || d.EndedAt == nil {
		t.Fatalf("%+v", d)
	}
	if d := get[model.TimerDetail](w, "/timer/"+pending.String()); d.Receipt != nil || d.EndedAt != nil || d.Tier != nil {
		t.Fatalf("%+v", d)
	}
}

func TestReadyTellsPerNodeWhatIsMissing(t *testing.T) {
	w := newWorld(t)
	status, data := w.call("GET", "/ready", nil)
	var ready model.Ready
	if err := json.Unmarshal(data, &ready); err != nil || status != 503 || ready.Ready || ready.Error.Code != "not_ready" ||
		ready.Nodes[0].Missing[0] != "no block is final yet" {
		t.Fatalf("%d %s", status, data)
	}
	w.chain.mine()
	if r := get[model.Ready](w, "/ready"); !r.Ready || r.ChainID != testChain || r.Height != 1 || r.Error != nil {
		t.Fatalf("%+v", r)
	}
	w.chain.nodes[0].Running, w.chain.nodes[1].Running = false, false
	if status, data = w.call("GET", "/ready", nil); status != 503 || json.Unmarshal(data, &ready) != nil || ready.Height != 1 {
		t.Errorf("a network without a running validator has lost its height: %d %s", status, data)
	}
	w.chain.nodes[0].Running = true
	status, data = w.call("GET", "/ready", nil)
	ready = model.Ready{}
	if err := json.Unmarshal(data, &ready); err != nil || status != 503 || !ready.Nodes[0].Ready || ready.Nodes[1].Ready ||
		ready.Error.Message != "v1: the node is stopped" || ready.Height != 1 {
		t.Fatalf("%d %s", status, data)
	}
}

func TestValidatorsAreSortedByAddress(t *testing.T) {
	w := newWorld(t)
	got := get[[]model.Validator](w, "/validators")
	if len(got) != 2 || got[0].Index != 0 || got[1].Index != 1 || got[0].Address.Compare(got[1].Address) >= 0 {
		t.Fatalf("%+v", got)
	}
}

func TestMetricsTellOfNodesBlocksAndTimers(t *testing.T) {
	w := newWorld(t)
	w.deploy("ping")
	w.chain.mine(history.TimerMark{ID: types.Hash{1}, Status: types.TimerFired},
		history.TimerMark{ID: types.Hash{2}, Status: types.TimerPending, Reason: "late"},
		history.TimerMark{ID: types.Hash{3}, Status: types.TimerPending, Reason: "extended"})
	w.server.feed.reach(t, 2)
	status, data := w.call("GET", "/metrics", nil)
	for _, line := range []string{`devnet_height{node="v0"} 2`, `devnet_timers_total{outcome="fired"} 1`, `devnet_timers_total{outcome="deferred"} 1`, `devnet_timers_total{outcome="extended"} 1`,
		`devnet_lane_budget_cycles 2000`, `devnet_lane_cycles{use="fires"} 500`, `devnet_lane_utilisation_ratio 0.25`, `devnet_basefee_wei{resource="lane_timer"} 1000`,
		`devnet_timer_cycles_total 0`,
		`devnet_views_nullified_total 0`, `devnet_views_given_up_total{cause="no_proposal",node="v0"} 3`, `devnet_refused_total{node="v0",what="peers"} 2`,
		`devnet_runners_total{node="v0",what="hard_failure"} 4`, `devnet_runners_refused_total{node="v0",reason="not_in_subset"} 5`,
		`devnet_blocks_total 2`, `devnet_block_seconds_sum 1`, `devnet_basefee_wei{resource="cycle"} 1000`, `devnet_mempool_transactions{node="v1"} 0`,
		`devnet_receipts_total{origin="transaction",status="ok"} 1`} {
		if status != 200 || !strings.Contains(string(data), line+"\n") {
			t.Errorf("no line %q in %s", line, data)
		}
	}
}

func TestMetricsTellOfTheProcessAndHowOldTheLastBlockIs(t *testing.T) {
	w := newWorld(t)
	_, data := w.call("GET", "/metrics", nil)
	for _, name := range []string{"devnet_last_block_age_seconds", "go_goroutines", "process_open_fds"} {
		if !strings.Contains(string(data), "\n"+name+" ") {
			t.Errorf("no figure %s in %s", name, data)
		}
	}
}

func TestViewsThatMadeNoBlockAreCounted(t *testing.T) {
	w := newWorld(t)
	for _, header := range []types.Header{{View: 3}, {View: 4}, {View: 9}, {View: 2, Epoch: 1}} {
		w.server.metrics.observeBlock(&answers.Block{Stored: history.Stored{Block: &types.Block{Header: types.Header{View: header.View,
			Epoch:     header.Epoch,
			Timestamp: 1}}}})
	}
	if _, data := w.call("GET", "/metrics", nil); !strings.Contains(string(data), "\ndevnet_views_nullified_total 4\n") {
		t.Errorf("%s", data)
	}
}

func TestAFormIsRefusedWhateverIsInIt(t *testing.T) {
	w := newWorld(t)
	w.refused(415, "unsupported_media_type", "POST", "/devnet/send", `{"from":"alice","to":"bob","value":"5"}`,
		"Content-Type", "application/x-www-form-urlencoded")
	w.refused(415, "unsupported_media_type", "POST", "/devnet/send", "from=alice&to=bob", "Content-Type", "application/x-www-form-urlencoded")
}

func TestAStoryNamesTheProposerAndSaysWhereItGoesOn(t *testing.T) {
	w := newWorld(t)
	id := w.chain.addTimer(types.Address{1}, 5, types.TimerFired)
	s := get[model.TimerStory](w, "/timer/"+id.String()+"/story")
	if len(s.Story) != 2 || s.Story[1].Paid.ProposerName != "v1" || s.Timer.ID != id || s.Next != nil {
		t.Errorf("%+v", s)
	}
	if s = get[model.TimerStory](w, "/timer/"+id.String()+"/story?from=6&limit=3"); s.Next == nil || *s.Next != 9 {
		t.Errorf("%+v", s)
	}
	w.refused(404, "unknown_timer", "GET", "/timer/"+types.Hash{9}.String()+"/story", "")
	w.refused(400, "invalid_hash", "GET", "/timer/9/story", "")
	w.refused(422, "invalid_request", "GET", "/timer/"+id.String()+"/story?limit=10001", "")
}

func TestTheLaneListsTheLastBlocks(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.chain.mine()
	}
	if lane := get[[]model.LaneBlock](w, "/timers/lane?last=2"); len(lane) != 2 || lane[0].Height != 2 || lane[1].Height != 3 {
		t.Errorf("%+v", lane)
	}
	if lane := get[[]model.LaneBlock](w, "/timers/lane"); len(lane) != 3 {
		t.Errorf("%+v", lane)
	}
	w.refused(422, "invalid_request", "GET", "/timers/lane?last=1001", "")
}
