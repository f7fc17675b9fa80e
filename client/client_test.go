package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// answering is a client of a server that answers what a function says.
func answering(t *testing.T, answer func(r *http.Request) any) *Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(answer(r))
	}))
	t.Cleanup(server.Close)
	return New(server.URL, nil)
}

func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.URL.Query().Get(name))
	return n
}

func TestListsAreReadWhole(t *testing.T) {
	const there = 2*pageSize + 3
	c := answering(t, func(r *http.Request) any {
		jobs := []Job{}
		for i := number(r, "offset"); i < min(there, number(r, "offset")+number(r, "limit")); i++ {
			jobs = append(jobs, Job{Attempts: uint32(i)})
		}
		return jobs
	})
	all, err := c.Jobs(t.Context(), JobFilter{})
	if err != nil || len(all) != there || all[there-1].Attempts != there-1 {
		t.Errorf("%d jobs of %d, %v", len(all), there, err)
	}
}

// Each answer has all entries other than deferrals, and a part of the deferrals.
func TestAStoryOfManyPartsIsToldOnceInOrder(t *testing.T) {
	entry := func(kind string, at Height) StoryEntry { return StoryEntry{Kind: kind, From: at, To: at, Blocks: 1} }
	parts := map[int][]StoryEntry{0: {entry(model.StoryDeferred, 2)}, 3: {entry(model.StoryDeferred, 3)}, 5: {entry(model.StoryDeferred, 6)}}
	next := map[int]Height{0: 3, 3: 5}
	c := answering(t, func(r *http.Request) any {
		from := number(r, "from")
		s := TimerStory{Story: append([]StoryEntry{entry(model.StoryScheduled, 1)}, parts[from]...)}
		if from < 5 {
			s.Story = append(s.Story, entry(model.StoryExtended, 4))
		} else {
			s.Story = []StoryEntry{entry(model.StoryScheduled, 1), entry(model.StoryExtended, 4), parts[from][0]}
		}
		s.Story = append(s.Story, entry(model.StoryFired, 7))
		if at, more := next[from]; more {
			s.Next = &at
		}
		return s
	})
	told, err := c.TimerStory(t.Context(), TimerID{})
	heights := ""
	for _, e := range told.Story {
		heights += strconv.Itoa(int(e.From))
	}
	if err != nil || heights != "123467" || told.Next != nil {
		t.Errorf("it is told as %s, %v", heights, err)
	}
}

// A network that always names a next part is left.
func TestAStoryThatDoesNotGoOnIsAnError(t *testing.T) {
	c := answering(t, func(r *http.Request) any {
		if strings.HasPrefix(r.URL.Path, "/job/") {
			return JobStory{Next: new(5)}
		}
		return TimerStory{Next: new(Height(5))}
	})
	if _, err := c.TimerStory(t.Context(), TimerID{}); !errors.Is(err, errNoProgress) {
		t.Errorf("a timer's: %v", err)
	}
	if _, err := c.JobStory(t.Context(), Hash{}); !errors.Is(err, errNoProgress) {
		t.Errorf("a job's: %v", err)
	}
}

func TestErrorsSayWhatWhereAndWhy(t *testing.T) {
	for want, err := range map[string]error{
		"add at 0x0000000000000000000000000000000000000000 failed in block 7: reverted: no": &ExecutionError{Receipt{Handler: "add", Height: 7,
			Status: "reverted", Error: &Fault{Code: "x", Message: "no"}}},
		"the transaction to 0x0000000000000000000000000000000000000000 failed in block 7: failed": &ExecutionError{Receipt{Height: 7,
			Status: "failed"}},
		"failed after 2 draws: timeout: nobody answered": &JobError{Job{Attempts: 2,
			Error: &Fault{Code: "timeout", Message: "nobody answered"}}},
		"it did not come true within 5 blocks; the network is at height 9": &WithinError{5, 9},
		"the network at http://x is not ready: gone: v1: the node is stopped": &NotReadyError{"http://x",
			Ready{Error: &ErrorBody{Message: "v1: the node is stopped"}}, errors.New("gone")},
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestWordsAreReadAsTheyAreWritten(t *testing.T) {
	a, err := ParseAddress("0x" + strings.Repeat("0a", 20))
	if err != nil || a.String() != "0x"+strings.Repeat("0a", 20) {
		t.Errorf("%s, %v", a, err)
	}
	h, err := ParseHash("0x" + strings.Repeat("0a", 32))
	if err != nil || h.String() != "0x"+strings.Repeat("0a", 32) {
		t.Errorf("%s, %v", h, err)
	}
	if w, err := ParseWei("2000000000"); err != nil || w.Cmp(CBY(2)) != 0 {
		t.Errorf("%s, %v", w, err)
	}
	for _, wrong := range []string{"", "0x12", "x"} {
		if _, err := ParseAddress(wrong); err == nil {
			t.Errorf("%q is an address", wrong)
		}
	}
}

// What up takes as an address of this machine is found by the same words.
func TestAnAddressWithoutAHostIsOfThisMachine(t *testing.T) {
	for address, want := range map[string]string{":4000": "http://127.0.0.1:4000", "4000": "http://127.0.0.1:4000", "host:1": "http://host:1",
		"[::1]:9": "http://[::1]:9", "https://x/": "https://x"} {
		if got := NewAPI(address).URL(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
