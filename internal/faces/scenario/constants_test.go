package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func checkText(t *testing.T, text string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "first.star")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Check(path)
}

// Constants are judged before anything runs.
func TestCheckJudgesConstants(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`net.validator("v9").crash()`, `net.validator: name names "v9", and there is no such validator; the validators are v0, v1, v2, v3`},
		{`net.validator("r0")`, `net.validator: name names "r0", and there is no such validator; the validators are v0, v1, v2, v3`},
		{`net.leave_validator("v9")`, `net.leave_validator: node names "v9", and there is no such node; the nodes are v0, v1, v2, v3`},
		{`net.partition([["v0", "v1"], ["v2", "v4"]])`, `names "v4"`},
		{`net.bridge("v0", ["v1"], ["w2"])`, `right names "w2"`},
		{`net.deploy("actors/hartbeat.py")`, "file names nothing to deploy: actors/hartbeat.py cannot be read: "},
		{`net.deploy("go:countr")`, "file names nothing to deploy"},
		{`net.submit_job(kind = "custom", sender = "alise")`, `sender names "alise", and no account is called so; did you mean alice?`},
		{`net.run(until = net.height > 5)`, "until is a function without arguments"},
		{`net.run(until = not net.height)`, "write lambda: before it"},
		{`print(net.validators["v3"])`, `by name it is net.validator("v3")`},
		{`print(net.validators[4])`, "there is no validator 4: the first of 4 is 0"},
		{`net.set_param("cip1.polizy", "fifo")`, "key names no parameter"},
		{`net.run(-1)`, "blocks is a whole number, 0 or more; got int -1"},
		{`net.link("v0", "v1", latency = "500")`, "latency is a time with its unit"},
		{`net.timer("0x12")`, "id is a hash or id"},
	} {
		err := checkText(t, "net = network()\n"+c.line+"\n")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "first.star:2:") {
			t.Errorf("%s\n%v\nwant %s", c.line, err, c.want)
		}
	}
	for _, c := range []struct{ made, want string }{
		{`block_time = "500"`, "block_time is a time in whole milliseconds"},
		{`params = {"cip1.nothing": 5}`, "params cannot be: "},
		{`params = {"cip1.policy": "fofo"}`, "params cannot be: "},
		{`policy = "fofo"`, "policy cannot be: "},
		{`validators = -4`, "validators is a whole number"},
	} {
		err := checkText(t, "net = network("+c.made+")\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v\nwant %s", c.made, err, c.want)
		}
	}
}

// Values that only the run can know are left to it.
func TestCheckLeavesToTheRunWhatItCannotKnow(t *testing.T) {
	for _, text := range []string{
		"net = network(validators = 7)\nnet.leave_validator(\"v6\")\nprint(net.validators[6], net.validators[-7])\n",
		"n = 9\nnet = network(validators = n)\nnet.leave_validator(\"v8\")\nprint(net.validators[8])\n",
		"net = network()\nnet.join_validator(name = \"late\")\nnet.leave_validator(\"late\")\nnet.validator(\"late\")\n",
		"net = network(runners = 1)\nnet.validator(net.block().proposer)\nnet.validator(\"0x1234\")\nnet.runner(\"r0\")\n",
		"net = network()\nnet.close()\nnet = network(validators = 7)\nnet.leave_validator(\"v6\")\n",
		"net = network(**{\"validators\": 9})\nnet.leave_validator(\"v8\")\n",
		"net = network(params = {\"cip1.policy\": \"fifo\" if random(2) else \"gba\"})\n",
		"net = network()\nTrue = lambda: net.height > 5\nnet.run(until = True)\nnet.run(until = None, blocks = 2)\n",
		"net = network()\nname = \"heart\"\nnet.deploy(\"actors/heartbeat.py\", name = name)\nnet.balance(name)\nnet.balance(\"whoever\")\n",
		"net = network(policy = \"gba\", block_time = \"auto\", params = {\"cip1.gba_window_blocks\": 64} if False else {})\n",
	} {
		if err := checkText(t, text); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}
