package box

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// unpackHome puts the home that an earlier version made into a folder of the test.
func unpackHome(t *testing.T, format int) (dir string) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("../../../fixtures/homes/format%d.tar.gz", format))
	if err != nil {
		t.Fatalf("%v: fixtures/homes/README.md says how a home of a format is kept", err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for files := tar.NewReader(zipped); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, head.Name)
		if head.Typeflag == tar.TypeDir {
			err = os.MkdirAll(at, 0o700)
		} else if data, wrong := io.ReadAll(files); wrong != nil {
			err = wrong
		} else {
			err = os.WriteFile(at, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// C12: a home of each format that this version reads starts, with the timer that waits in it,
// goes on, and has a clean audit. So it does after parameters were added.
func TestC12AHomeOfEachFormatStarts(t *testing.T) {
	for format := home.OldestFormat; format <= home.Format; format++ {
		dir := unpackHome(t, format)
		n := up(t, Config{Home: dir})
		at := n.Best().finalHeight()
		if due, pending := n.Best().Validator().Head().State.NextTimer(); at < 100 || !pending {
			t.Fatalf("a home of format %d begins at height %d, a timer is due at %d", format, at, due)
		}
		land(t, n, newPayer(n, "alice").transfer(n.addressOf("bob"), 1))
		await(t, n, at+3)
		auditAll(t, n, dir)
	}
}

// addable are parameters of each class and type, on which little depends.
var addable = []string{"chain.upgrades", "chain.max_validators", "cip5.bias_reserve_price", "cip11.goodbye_grace_ms", "cip1.tie_break"}

// C12: a home whose version lacked parameters starts with a version that has them: they have their
// defaults, and can be set. State roots of old heights stay, as the audit executes them again.
func TestC12ANewParameterMakesNoHomeUnreadable(t *testing.T) {
	addition := params.BeforeAdding(addable...)
	defer addition.Undo()
	dir := t.TempDir()
	older, err := Up(t.Context(), Config{Plan: setup.Plan{BlockTime: 50 * time.Millisecond, Seed: testSeed(),
		Params: map[string]string{"chain.epoch_blocks": "8"}}, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	await(t, older, 3)
	alice := newPayer(older, "alice")
	heart := deploySample(t, alice, "heartbeat", "heart", 900_000_000_000)
	land(t, older, alice.execute(heart, "start", samples.Number(2)))
	if _, err := older.SetParam(within(t), "cip11.goodbye_grace_ms", "70", 0); err == nil {
		t.Fatal("the older version has the parameter already")
	}
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	addition.Add()
	newer, err := Up(t.Context(), Config{Home: dir})
	if err != nil {
		t.Fatalf("the home cannot be read any more: %v", err)
	}
	if at := newer.Best().finalHeight(); at < 3 {
		t.Errorf("it begins at height %d", at)
	}
	if got := newer.Best().Validator().Head().State.Params(); got.GoodbyeGraceMS != params.Defaults().GoodbyeGraceMS || !got.Upgrades {
		t.Errorf("a parameter that the genesis lacks has not its default: %+v", got)
	}
	change, err := newer.SetParam(within(t), "cip11.goodbye_grace_ms", "70", 0)
	if err != nil {
		t.Fatal(err)
	}
	await(t, newer, change.Height+1)
	if got := newer.Best().Validator().Head().State.Params().GoodbyeGraceMS; got != 70 {
		t.Errorf("it was set to 70, and is %d", got)
	}
	auditAll(t, newer, dir)
}

// A home that a later version made may state a parameter that this one lacks.
func TestAParameterOfALaterVersionIsNamed(t *testing.T) {
	dir := t.TempDir()
	n, err := Up(t.Context(), Config{Plan: setup.Plan{Seed: testSeed(), Params: map[string]string{"cip11.goodbye_grace_ms": "70"}},
		Home: dir, Version: "9.9"})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	addition := params.BeforeAdding("cip11.goodbye_grace_ms")
	defer addition.Undo()
	_, err = Up(t.Context(), Config{Home: dir, Version: "1.0"})
	if err == nil || !strings.Contains(err.Error(), "cip11.goodbye_grace_ms") || !strings.Contains(err.Error(), "devnet 9.9") {
		t.Error(err)
	}
}
