package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	patience = time.Minute // that a network has to answer, or to come to rest
	rest     = 3 * time.Second
)

// network is a devnet up that runs.
type network struct {
	cmd  *exec.Cmd
	http string
}

// startNetwork runs devnet up on a home, with blocks on demand only, so that a home at
// rest stays what it is, and waits for its address.
func startNetwork(s side, home string, more ...string) (*network, error) {
	cmd := exec.Command(s.binary, append([]string{"up", "--home", home, "--seed", "1", "--block-time", "auto",
		"--http", "127.0.0.1:0", "--json"}, more...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	var up struct{ HTTP string }
	if err == nil {
		err = json.Unmarshal(line, &up)
	}
	if err != nil {
		cmd.Process.Kill()
		return nil, fmt.Errorf("devnet up of %s: %w", s.name, err)
	}
	go io.Copy(io.Discard, lines)
	return &network{cmd, up.HTTP}, nil
}

func (u *network) stopNetwork() error {
	u.cmd.Process.Signal(os.Interrupt)
	return u.cmd.Wait()
}

// atRest waits until the network answers and its height stands still.
func (u *network) atRest() error {
	last, since := "", time.Now()
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(rest / 10) {
		status, text, err := u.fetchPath("/height")
		if err != nil || status != http.StatusOK || text != last {
			last, since = text, time.Now()
		}
		if time.Since(since) > rest {
			return nil
		}
	}
	return fmt.Errorf("blocks are still made after %v: %s", patience, last)
}

// recordHome makes a home in which something of every kind happened.
func recordHome(s side, home, tree string) error {
	up, err := startNetwork(s, home)
	if err != nil {
		return err
	}
	defer up.stopNetwork()
	for _, name := range []string{"counter", "vesting", "storm", "vault"} {
		code, err := os.ReadFile(tree + "/fixtures/actors/" + name + ".py")
		if err != nil {
			return err
		}
		if _, err := up.postOrder("/devnet/deploy", map[string]any{"from": "alice", "code": string(code), "name": name,
			"fund": "100000000000"}); err != nil {
			return err
		}
	}
	grant := `{"to": "0x0833c8cd7d44db333d066973c5aefdd55bc15b88", "parts": 4, "every": 100000, "amount": "1000"}`
	for _, o := range []struct {
		path  string
		order map[string]any
	}{
		{"/devnet/send", map[string]any{"from": "alice", "to": "bob", "value": "5"}},
		{"/devnet/send", map[string]any{"from": "bob", "to": "vesting", "handler": "grant", "payload": grant, "sponsor": "1"}},
		{"/devnet/send", map[string]any{"from": "alice", "to": "vesting", "handler": "grant", "payload": grant, "sponsor": "2000000000"}},
		{"/devnet/send", map[string]any{"from": "carol", "to": "storm", "handler": "make",
			"payload": `{"count": 30, "in": 5, "gas_limit": 100000, "priority": 5, "max_fee": 5000, "use": 60000}`, "cells_limit": 300000}},
		{"/devnet/advance", map[string]any{"blocks": 20}},
		{"/devnet/send", map[string]any{"from": "dave", "to": "counter", "handler": "nothing", "payload": "x"}},
		{"/devnet/params", map[string]any{"key": "cip5.max_ttl_blocks", "value": "2000000"}},
		{"/devnet/fault", map[string]any{"verb": "crash", "node": "v3"}},
		{"/devnet/send", map[string]any{"from": "erin", "to": "frank", "value": "7"}},
		{"/devnet/fault", map[string]any{"verb": "restart", "node": "v3"}},
	} {
		if _, err := up.postOrder(o.path, o.order); err != nil {
			return err
		}
	}
	if err := up.runJobs(); err != nil {
		return err
	}
	return up.atRest()
}

// runJobs has runners do a job, and cancels one that waits for a person's answer. A base
// from before there were jobs has none.
func (u *network) runJobs() error {
	if status, _, err := u.fetchPath("/jobs"); err != nil || status == http.StatusNotFound {
		return err
	}
	done, err := u.postOrder("/devnet/job/submit", map[string]any{"kind": "custom", "executor": "echo", "params": "0x6869", "runners": 3,
		"mode": "majority_vote"})
	if err == nil {
		err = u.awaitJobEnd(done)
	}
	if err != nil {
		return err
	}
	waits, err := u.postOrder("/devnet/job/submit", map[string]any{"kind": "custom", "executor": "manual", "from": "bob"})
	if err != nil {
		return err
	}
	var job struct{ ID string }
	if err := json.Unmarshal(waits, &job); err != nil {
		return err
	}
	if _, err = u.postOrder("/devnet/job/cancel", map[string]any{"id": job.ID}); err != nil {
		return err
	}
	return u.awaitJobEnd(waits)
}

// awaitJobEnd waits until a job that was submitted has come to its end.
func (u *network) awaitJobEnd(submitted []byte) error {
	var job struct {
		ID          string  `json:"id"`
		CompletedAt *uint64 `json:"completed_at"`
	}
	err := json.Unmarshal(submitted, &job)
	for begun := time.Now(); err == nil && time.Since(begun) < patience; time.Sleep(rest / 10) {
		if err = u.getJSON("/job/"+job.ID, &job); err == nil && job.CompletedAt != nil {
			return nil
		}
	}
	if err == nil {
		err = fmt.Errorf("job %s has not ended after %v", job.ID, patience)
	}
	return err
}

// postOrder posts one order. That it is refused, or fails on the chain, is recorded
// like what succeeds; that it is malformed is a fault of this program.
func (u *network) postOrder(path string, order map[string]any) ([]byte, error) {
	body, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	answer, err := http.Post(u.http+path, "application/json", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST %s %s: %d %s", path, body, answer.StatusCode, text)
	}
	return text, err
}
