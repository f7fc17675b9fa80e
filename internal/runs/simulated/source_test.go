package simulated

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// Where an actor in Python fails, the run shows the line of its file.
func TestTheLineOfAnActorIsShownUnderItsError(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("shop.py", "def buy(payload):\n    prices = {}\n    return prices[payload]\n\ndef spin(payload):\n    while True:\n        "+
		"payload = payload + b'x'\n")
	write("bad.py", "def f(p):\n    return 1.5\n")
	report, err := scenario.Run(write("a.star", `net = network()
shop = net.deploy("shop.py", name = "shop")
net.call(shop, "buy", bytes("tea"))
net.call(shop, "spin", bytes("x"), cycles = 50000)
`), scenario.Options{Open: Open})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(report.Unread, "\n")
	for _, want := range []string{`a.star:3 net.call(shop, "buy", bytes("tea"))`, "a call of buy at shop failed: key_error", "        return prices[payload]",
		"line 7, in spin:", "the limit of 50000 cycles is used up", "        payload = payload + b'x'"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	_, err = scenario.Run(write("b.star", "net = network()\nnet.deploy(\"bad.py\")\n"), scenario.Options{Open: Open})
	if err == nil || !strings.Contains(err.Error(), "\n    return 1.5") {
		t.Errorf("%v", err)
	}
}
