package control

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/simplex"
)

const secret = "0123456789abcdef"

// ruled is a server whose node takes rules and does nothing else.
func ruled(t *testing.T) (*server, *httptest.Server, *map[netip.AddrPort]lossy.Rule) {
	t.Helper()
	s := newSeat(secret, false)
	rules := new(map[netip.AddrPort]lossy.Rule)
	s.rules = func(r map[netip.AddrPort]lossy.Rule) { *rules = r }
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		server.Close()
	})
	return s, server, rules
}

func client(t *testing.T, server *httptest.Server, secret string) *Client {
	t.Helper()
	c := NewClient(func() string { return server.URL }, secret)
	t.Cleanup(c.Close)
	return c
}

// code is the code of a refusal.
func code(err error) string {
	var refused *refusal.Error
	if !errors.As(err, &refused) {
		return ""
	}
	return refused.Code
}

func TestWhoHasNoSecretIsToldNothing(t *testing.T) {
	s, server, rules := ruled(t)
	s.beginServing()
	for _, wrong := range []string{"", "0123456789abcde", "0123456789abcdeg"} {
		if err := client(t, server, wrong).SetRules(t.Context(), nil); code(err) != "not_the_driver" {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if *rules != nil {
		t.Error("rules were set")
	}
	if answer, err := http.Get(server.URL + Path + "heard?after=0"); err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stream: %v, %v", answer, err)
	}
}

func TestASeatAnswersOnceItsNodeIsThere(t *testing.T) {
	s, server, _ := ruled(t)
	c := client(t, server, secret)
	if err := c.SetRules(t.Context(), nil); code(err) != "starting" {
		t.Error(err)
	}
	s.beginServing()
	if err := c.SetRules(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestOrdersThatMakeNoSenseAreRefused(t *testing.T) {
	s, server, _ := ruled(t)
	s.beginServing()
	post := func(word, body string) string {
		r, err := http.NewRequest(http.MethodPost, server.URL+Path+word, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text := new(strings.Builder)
		if _, err := text.WriteString(answer.Status); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	for name, c := range map[string]struct{ word, body, want string }{
		"no JSON":            {"rules", "{", "400"},
		"another field":      {"rules", `{"rule": []}`, "400"},
		"two values":         {"rules", `{"rules": []} {}`, "400"},
		"too long":           {"rules", `{"rules": [` + strings.Repeat(" ", maxRequest) + `]}`, "400"},
		"no address":         {"rules", `{"rules": [{"to": "v1:4000"}]}`, "409"},
		"no loss":            {"rules", `{"rules": [{"to": "127.0.0.1:1", "link": {"Loss": 2}}]}`, "409"},
		"no fault":           {"rules", `{"rules": [{"to": "127.0.0.1:1", "cut_fault": -1}]}`, "409"},
		"an unknown request": {"nothing", `{}`, "404"},
	} {
		if got := post(c.word, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	many := make([]Rule, MaxRules+1)
	for i := range many {
		many[i].To = "127.0.0.1:1"
	}
	if err := client(t, server, secret).SetRules(t.Context(), many[:10]); err != nil {
		t.Error(err)
	}
	if err := s.setRules(many); err == nil {
		t.Error("more rules than there may be are taken")
	}
}

// The effect of a rule is counted under the number of its fault, and reported.
func TestEffectsAreCountedByTheDriversNumbers(t *testing.T) {
	s, server, rules := ruled(t)
	s.beginServing()
	c := client(t, server, secret)
	to := netip.MustParseAddrPort("127.0.0.1:4001")
	err := c.SetRules(t.Context(), []Rule{{To: to.String(), Link: fault.Link{Latency: time.Millisecond}, LinkFault: 3, CutFault: 7}})
	if err != nil {
		t.Fatal(err)
	}
	rule := (*rules)[to]
	if !rule.Cut || rule.Link.Latency != time.Millisecond {
		t.Fatalf("the rule is %+v", rule)
	}
	rule.CutCounts.Dropped.Add(5)
	rule.LinkCounts.Delayed.Add(2)
	all, err := c.Counts(t.Context())
	if err != nil || len(all) != 2 || all[0].Fault != 3 || all[1].Fault != 7 {
		t.Fatalf("%+v, %v", all, err)
	}
	var sum fault.Counts
	for _, one := range all {
		sum.Grow([fault.Effects]int64{}, one.Figures)
	}
	if text := sum.Text(fault.SetLink, fault.Live); text != "5 packets dropped, 2 packets delayed" {
		t.Error(text)
	}
	sum.Grow(all[1].Figures, all[1].Figures)
	if text := sum.Text(fault.SetLink, fault.Live); text != "5 packets dropped, 2 packets delayed" {
		t.Errorf("what was counted is counted again: %s", text)
	}
}

func TestWhatIsHeardIsKeptUntilItIsRead(t *testing.T) {
	h := newReports()
	vote := []byte{mesh.Vote, 1}
	h.recordVote(vote)
	h.recordVote(vote) // to the next peer
	h.recordVote([]byte{mesh.Proposal, 1})
	h.recordVote(nil)
	leader, runner := types.Address{1}, types.Address{2}
	for _, report := range []simplex.Report{simplex.Entered{View: 3, Leader: leader},
		simplex.GaveUp{View: 3, Leader: leader, Detail: "late"}, simplex.Behind{}} {
		if one, is := consensusReport(report); is {
			h.addReport(one)
		}
	}
	words := "half"
	for _, report := range []gateway.Report{gateway.Arrived{Runner: runner}, gateway.Progressed{Runner: runner, Fraction: 50, Detail: &words},
		gateway.Left{Runner: runner, Reason: "gone"}} {
		if one, is := gatewayReport(report); is {
			h.addReport(one)
		}
	}
	all, more := h.listAfter(0)
	if len(all) != 6 || all[0].Vote() == nil || all[5].Seq != 6 || h.latestNumber().Missed {
		t.Fatalf("%+v", all)
	}
	if r, is := all[2].Consensus().(simplex.GaveUp); !is || r.Detail != "late" || r.Leader != leader {
		t.Errorf("%+v", all[2].Consensus())
	}
	if r, is := all[4].Gateway().(gateway.Progressed); !is || r.Fraction != 50 || *r.Detail != words {
		t.Errorf("%+v", all[4].Gateway())
	}
	select {
	case <-more:
		t.Error("there is more")
	default:
	}
	h.addReport(Report{Kind: heardDropped})
	<-more
	if rest, _ := h.listAfter(6); len(rest) != 1 || rest[0].Seq != 7 || len(h.kept) != 1 {
		t.Errorf("%+v", rest)
	}
	for range maxHeard {
		h.addReport(Report{Kind: heardEntered})
	}
	if len(h.kept) != maxHeard || !h.latestNumber().Missed {
		t.Errorf("%d are kept, missed %v", len(h.kept), h.latestNumber().Missed)
	}
}

func TestANodeThatIsToBeKilledFallsSilent(t *testing.T) {
	s, server, _ := ruled(t)
	muted := 0
	s.mute = func() { muted++ }
	s.beginServing()
	if err := client(t, server, secret).Mute(t.Context()); err != nil || muted != 1 {
		t.Errorf("muted %d times: %v", muted, err)
	}
}

func TestASocketOfAllAddressesIsReachedAtOne(t *testing.T) {
	at := netip.MustParseAddrPort("127.0.0.1:4000")
	if reachableAddress(at) != at {
		t.Error(reachableAddress(at))
	}
	if all := reachableAddress(netip.MustParseAddrPort("[::]:4000")); all.Addr().IsUnspecified() || all.Port() != 4000 {
		t.Error(all)
	}
}

func TestAStreamEndsWithItsSeat(t *testing.T) {
	s := NewValidatorServer(secret, false)
	server := httptest.NewServer(s)
	defer server.Close()
	s.beginServing()
	s.hearing.addReport(Report{Kind: heardEntered, View: 9})
	c := client(t, server, secret)
	var seen []uint64
	err := c.Reports(context.Background(), 0, func(h *Report) error {
		seen = append(seen, h.Seq)
		s.Close()
		return nil
	})
	if len(seen) != 1 || err == nil {
		t.Errorf("%v, %v", seen, err)
	}
}
