package scenario

import (
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// FuzzCheck: any text is either fine or Mistakes with a place; nothing panics.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"net = network(validators = 4)\nnet.run(blocks = 3)\n",
		"net = network(*[1], **{})\nnet.call(*x)\n",
		"load(\"first.star\", y = \"z\")\ndef f(a, *b, c = 1, **d): return lambda: a\n",
		"net = network()\nnet.rum(1, 2, 3)\nnet.run(1.5, until = b\"x\")\ncheck(1)\n",
		"a.b[0], (c, d.e) = 1, 2\nnet += network()\nexpect(x = expect(y = 1))\n", "\xff", "(((((",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		path := filepath.Join(dir, "first.star")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Skip()
		}
		err := Check(path)
		var wrong *Mistake
		if err != nil && (!errors.As(err, &wrong) || wrong.At.File == "") {
			t.Fatalf("%T %v", err, err)
		}
	})
}

// A name that is also bound to something other than network(…) may not be a
// network, so no mistake is claimed.
func TestCheckClaimsNothingItCannotKnow(t *testing.T) {
	for _, text := range []string{
		"net = network()\nnet = 5\nnet.foo()\n",
		"def f(net):\n    net.foo()\nnet = network()\n",
		"net = network()\nx = [net.foo for net in []]\n",
		"def expect(a): pass\nexpect(b = 3)\n",
		"a = {}\nnet = network(**a)\nnet.call(*a)\n",
	} {
		path := filepath.Join(t.TempDir(), "first.star")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Check(path); err != nil && strings.Contains(err.Error(), "foo") {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// A symbolic link out of the folder does not lead out of it.
func TestAScriptCannotLeaveItsFolder(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.star")
	if err := os.WriteFile(secret, []byte("key = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(inside, "lib.star")); err != nil {
		t.Skip("no symbolic links here")
	}
	path := filepath.Join(inside, "first.star")
	if err := os.WriteFile(path, []byte("load(\"lib.star\", \"key\")\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(path, Options{}); err == nil || !strings.Contains(err.Error(), "lib.star") {
		t.Errorf("it read %s: %v", secret, err)
	}
}

// A thousand steps more do not pass: the limit is exact.
func TestTheStepLimitIsExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "first.star")
	if err := os.WriteFile(path, []byte("x = 0\nfor i in range(1000):\n    x += i\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	report, err := Run(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(path, Options{Steps: report.Steps + 1}); err != nil {
		t.Errorf("with one step more than the %d it takes: %v", report.Steps, err)
	}
	var wrong *Mistake
	if _, err := Run(path, Options{Steps: report.Steps - 1}); !errors.As(err, &wrong) || wrong.What != tooManySteps {
		t.Errorf("with one step less: %v", err)
	}
}

func TestNearestNames(t *testing.T) {
	for name, want := range map[string][]string{ // order: each is judged separately
		"depoly": {"deploy"}, "rnu": {"run"}, "validator": {"validator", "validators"}, "hight": {"height"},
		"quux": nil, "x": nil, "blok": {"block", "blocks"}, "time": {"time_ms", "timer", "timers"},
	} {
		if got := nearestNames(name, attributeNames(tables().network, tables().networkFields)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// An amount in CBY equals the amount in wei, a billion times.
func TestLawAmountsReadInEitherUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetUint64(rapid.Uint64().Draw(t, "wei"))
		inWei, err := ParseAmount(n.String() + " wei")
		if err != nil || inWei.Big().Cmp(n) != 0 {
			t.Fatal(inWei, err)
		}
		again, err := ParseAmount(inCBY(n))
		if err != nil || again.Big().Cmp(n) != 0 {
			t.Fatalf("%s is %s: %v %v", n, inCBY(n), again, err)
		}
	})
	for _, bad := range []string{"", "5", "CBY", "5CBY", "-5 CBY", "5 cby", ". CBY", "1.0000000001 CBY", "1.5 wei", "1e9 wei", "1 2 CBY",
		strings.Repeat("9", 80) + " CBY", strings.Repeat("9", 1000) + " wei"} {
		if w, err := ParseAmount(bad); err == nil {
			t.Errorf("%q is %s", bad, w)
		}
	}
}

func TestPaces(t *testing.T) {
	for text, want := range map[string]Pace{ // order: each is judged separately
		"100ms": {BlockTime: 100 * time.Millisecond}, "1.5s": {BlockTime: 1500 * time.Millisecond}, "0s": {}, "1h": {BlockTime: time.Hour},
		"auto": {BlockTime: time.Second, Auto: true},
	} {
		if got, err := ParsePace(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "-1s", "61m", "1.5ms", "100us", "AUTO"} {
		if got, err := ParsePace(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
}
