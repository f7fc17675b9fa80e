package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func never() (Response, error) { panic("the network was asked") }

func asking(answer string) func() (Response, error) {
	return func() (Response, error) { return Response{200, []byte(answer)}, nil }
}

var requests = []Request{
	{"POST", "http://b.test/x", [][2]string{{"A", "b"}}, []byte("body")}, {"GET", "http://a.test/?<&>", nil, nil},
	{"GET", "http://a.test", [][2]string{}, []byte{}},
}

func TestWhatIsRecordedIsReplayed(t *testing.T) {
	var files [][]byte
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0, 1}} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		c, err := Open(path, Record)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range order {
			if r, err := c.Do(requests[i], asking(fmt.Sprint("answer ", i))); err != nil || string(r.Body) != fmt.Sprint("answer ", i) {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, text)
		replay, err := Open(path, Replay)
		if err != nil {
			t.Fatal(err)
		}
		for i, request := range requests {
			if r, err := replay.Do(request, never); err != nil || string(r.Body) != fmt.Sprint("answer ", i) || r.Status != 200 {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("left behind: %v", left)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("the file depends on the order of recording:\n%s\n%s", files[0], files[1])
	}
	const want = `{"cassette":1}
{"request":{"method":"GET","url":"http://a.test","headers":[],"body":""},"response":{"status":200,"body":"YW5zd2VyIDI="}}
`
	if !strings.HasPrefix(string(files[0]), want) {
		t.Errorf("the form of the file changed:\n%s", files[0])
	}
}

func TestAMissNamesTheRequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	os.WriteFile(path, []byte(heading+"\n"), 0o600)
	c, err := Open(path, Replay)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(requests[0], never)
	if missing := (*MissingError)(nil); !errors.As(err, &missing) || !strings.Contains(err.Error(), "POST http://b.test/x") {
		t.Errorf("%v", err)
	}
}

func TestAFailureIsNotRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	c, _ := Open(path, Record)
	if _, err := c.Do(requests[0], func() (Response, error) { return Response{}, errors.New("no") }); err == nil {
		t.Error("a failure was an answer")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failure was recorded")
	}
	var none *Cassette
	if r, err := none.Do(requests[0], asking("x")); err != nil || string(r.Body) != "x" {
		t.Error("no cassette asks")
	}
}

func TestManyRecordAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	c, _ := Open(path, Record)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { c.Do(Request{Method: "GET", URL: fmt.Sprint("http://a.test/", i)}, asking("x")) })
	}
	all.Wait()
	if again, err := Open(path, Replay); err != nil || len(again.exchanges) != 20 {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoCassette(t *testing.T) {
	line := `{"request":{"method":"GET","url":"http://a.test","headers":[],"body":""},"response":{"status":200,"body":""}}`
	for text, want := range map[string]string{
		"": "line 1", "{}\n": "line 1", heading + "\nx\n": "line 2",
		heading + "\n" + line + "\n" + line + "\n": "line 3", heading + "\n{\"x\":1}\n": "line 2",
		heading + "\n" + line + line + "\n": "line 2", heading + strings.Repeat("\n", MaxExchanges+3): "more than 4096",
	} {
		path := filepath.Join(t.TempDir(), "c.jsonl")
		os.WriteFile(path, []byte(text), 0o600)
		for _, mode := range []Mode{Replay, Record} {
			if _, err := Open(path, mode); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q: %v", text, err)
			}
		}
	}
	for path, mode := range map[string]Mode{filepath.Join(t.TempDir(), "none"): Replay, os.DevNull: "rewind"} {
		if _, err := Open(path, mode); err == nil {
			t.Errorf("%s was opened to %s", path, mode)
		}
	}
	full := filepath.Join(t.TempDir(), "full")
	f, _ := os.Create(full)
	f.Truncate(MaxFile + 1)
	f.Close()
	if _, err := Open(full, Replay); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
}

func TestAFullCassetteTakesNoMore(t *testing.T) {
	c, _ := Open(filepath.Join(t.TempDir(), "c.jsonl"), Record)
	for i := range MaxExchanges {
		c.exchanges = append(c.exchanges, exchange{Request: Request{Method: "GET", URL: fmt.Sprintf("http://a.test/%04d", i)}})
	}
	if _, err := c.Do(Request{Method: "GET", URL: "http://b.test"}, asking("")); err == nil ||
		!strings.Contains(err.Error(), "full") || len(c.exchanges) != MaxExchanges {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(heading + "\n"))
	f.Add([]byte(heading + `
{"request":{"method":"GET","url":"http://a.test","headers":[["a","b"]],"body":"AA=="},"response":{"status":200,"body":null}}
`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &Cassette{mode: Replay}
		if c.parseText(text) != nil {
			return
		}
		for _, e := range c.exchanges {
			if r, err := c.Do(e.Request, never); err != nil || !bytes.Equal(r.Body, e.Response.Body) {
				t.Fatalf("%+v: %+v, %v", e, r, err)
			}
		}
	})
}
