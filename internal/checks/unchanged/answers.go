package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strings"
)

// skipped lists the paths whose answers depend on the process, not on the home: a
// stream, counters, current faults.
var skipped = map[string]bool{"/events": true, "/metrics": true, "/devnet/faults": true}

// volatile are the pieces of an answer that two starts of one command differ in:
// ports, the view, and how long ago a block was made.
var volatile = regexp.MustCompile(`127\.0\.0\.1:\d+|"(since_block_ms|view|connections)":\d+`)

// path is one of the HTTP API's, with its parameters as OpenAPI tells them.
type path struct {
	Get *struct {
		Parameters []struct{ Name, In string }
	}
}

// compareAnswers records a home with the base's command and compares what each side's
// command answers over a copy of it.
func (c *comparison) compareAnswers() (int, error) {
	home := c.dir + "/home"
	if err := recordHome(c.before, home, c.before.tree); err != nil {
		return 0, fmt.Errorf("recording: %w", err)
	}
	if err := reopenHome(c.before, home); err != nil {
		return 0, fmt.Errorf("opening what was recorded: %w", err)
	}
	before, err := askAll(c.before, home, c.dir+"/home-before")
	if err != nil {
		return 0, err
	}
	after, err := askAll(c.after, home, c.dir+"/home-after")
	if err != nil {
		return 0, err
	}
	for _, question := range sortedKeys(before, after) {
		if before[question] != after[question] {
			c.tellDifference("GET "+question, before[question], after[question])
		}
	}
	return len(before), nil
}

// reopenHome lets a home come to rest again: transactions that were pending at its stop
// become a block at the next start, and would differ between the sides.
func reopenHome(s side, home string) error {
	up, err := startNetwork(s, home)
	if err != nil {
		return err
	}
	if err := up.atRest(); err != nil {
		up.stopNetwork()
		return err
	}
	return up.stopNetwork()
}

// askAll starts a command on a copy of a home and asks all that the home can answer.
func askAll(s side, home, copied string) (map[string]string, error) {
	if err := os.CopyFS(copied, os.DirFS(home)); err != nil {
		return nil, err
	}
	up, err := startNetwork(s, copied)
	if err != nil {
		return nil, err
	}
	defer up.stopNetwork()
	if err := up.atRest(); err != nil {
		return nil, err
	}
	var api struct{ Paths map[string]path }
	if err := up.getJSON("/openapi.json", &api); err != nil {
		return nil, err
	}
	ids, err := up.listedIDs()
	if err != nil {
		return nil, err
	}
	answers := map[string]string{}
	for p, of := range api.Paths {
		if of.Get == nil || skipped[p] {
			continue
		}
		for _, q := range questionPaths(p, ids) {
			status, text, err := up.fetchPath(q)
			if err != nil {
				return nil, err
			}
			answers[q] = fmt.Sprintf("%d %s", status, volatile.ReplaceAllString(text, "~"))
		}
	}
	return answers, nil
}

// questionPaths are a path with each id that its place takes, and with an unknown one.
func questionPaths(p string, ids map[string][]string) (all []string) {
	open, end := strings.Index(p, "{"), strings.Index(p, "}")
	if open < 0 {
		return []string{p, p + "?offset=1&limit=2", p + "?limit=x", p + "?node=v2"}
	}
	kind := strings.Split(p, "/")[1]
	for _, id := range append(ids[kind], "0x"+strings.Repeat("7", 40), "0x"+strings.Repeat("7", 64), "nobody") {
		all = append(all, p[:open]+id+p[end+1:])
	}
	return all
}

// listedIDs are what the lists of the network name, by the first word of the paths
// that take them.
func (u *network) listedIDs() (map[string][]string, error) {
	ids := map[string][]string{"block": {"latest", "0"}}
	for _, list := range []struct{ path, kind, field string }{
		{"/devnet/accounts", "account", "address"}, {"/actors?limit=1000", "actor", "address"},
		{"/timers?limit=1000", "timer", "id"}, {"/blocks?limit=1000", "block", "hash"}, {"/blocks?limit=1000", "presence", "height"},
		{"/jobs?limit=1000", "job", "id"}, {"/runners?limit=1000", "runner", "address"},
	} {
		status, text, err := u.fetchPath(list.path)
		if err != nil {
			return nil, err
		}
		if status == http.StatusNotFound {
			continue // of a base from before there was such a thing
		}
		var rows []map[string]any
		if err := json.Unmarshal([]byte(text), &rows); err != nil {
			return nil, fmt.Errorf("GET %s: %d %s", list.path, status, text)
		}
		for _, row := range rows {
			ids[list.kind] = append(ids[list.kind], fmt.Sprint(row[list.field]))
		}
	}
	for _, block := range ids["block"] {
		var rows []map[string]any
		if err := u.getJSON("/block/"+block+"/receipts", &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			ids["transaction"] = append(ids["transaction"], fmt.Sprint(row["hash"]))
		}
	}
	return ids, nil
}

// fetchPath gets a path as it is answered.
func (u *network) fetchPath(path string) (status int, text string, err error) {
	answer, err := http.Get(u.http + path)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(bytes.TrimSpace(body)), err
}

// getJSON reads an answer that must be one of success.
func (u *network) getJSON(path string, into any) error {
	status, text, err := u.fetchPath(path)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s: %d %s", path, status, text)
	}
	return json.Unmarshal([]byte(text), into)
}

// sortedKeys returns the keys of all maps, sorted.
func sortedKeys(maps ...map[string]string) (all []string) {
	seen := map[string]bool{}
	for _, m := range maps {
		for k := range m {
			if !seen[k] {
				seen[k] = true
				all = append(all, k)
			}
		}
	}
	sort.Strings(all)
	return all
}
