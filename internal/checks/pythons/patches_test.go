package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

var rewrite = flag.Bool("rewrite", false, "write the pinned digest of each minor version again")

// pinned is the file of digests, a line for each minor version.
const pinned = "testdata/pinned.txt"

// small and large are the draws of make test and of make soak; of each, a program, a pattern
// and two sources with faults.
const small, large = 80, 10_000

// sides runs draws on every interpreter of this machine.
func sides(t *testing.T, all []drawnProgram) []side {
	paths := pyhost.Installed()
	if len(paths) == 0 {
		needed.Python(t, &pyhost.MissingError{})
	}
	found, err := runAll(paths, all)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Decision C20: every patch of a minor version gives the receipts of this digest, whichever is
// installed here. It leaves out words for people.
func TestC20PatchesGiveTheSameReceipts(t *testing.T) {
	data, err := os.ReadFile(pinned)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	pins, written := map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		minor, digest, _ := strings.Cut(strings.TrimSpace(line), " ")
		pins[minor] = digest
	}
	all, seen := newPrograms(20, small), map[string]string{}
	for i, s := range sides(t, all) {
		if i == 0 {
			reachEveryKind(t, all, s.receipts)
		}
		digest := types.Keccak([]byte(strings.Join(s.receipts, "\n"))).String()
		if earlier := seen[s.minor]; earlier != "" && earlier != digest {
			t.Errorf("two patches of %s differ: go run ./internal/checks/pythons -seed 20 -n %d shows how", s.minor, small)
		}
		if seen[s.minor] == "" {
			written += fmt.Sprintf("%s %s\n", s.minor, digest)
		}
		seen[s.minor] = digest
		if want := pins[s.minor]; !*rewrite && want != digest {
			t.Errorf("%s: %s, pinned is %q; -rewrite pins it again", s.version, digest, want)
		}
	}
	if *rewrite {
		if err := os.WriteFile(pinned, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// reachEveryKind fails where draws are not what they are for: sources that are refused, others,
// and programs that end well and badly.
func reachEveryKind(t *testing.T, all []drawnProgram, given []string) {
	found := map[string]int{}
	for i, receipt := range given {
		kind := "ran "
		if all[i].deployed {
			kind = "judged "
		}
		found[kind+strings.Fields(statusAndCode(receipt) + " ?")[0]]++
	}
	for _, kind := range []string{"judged refused", "judged fine", "ran ok", "ran reverted"} {
		if found[kind] < small/8 {
			t.Errorf("%d are %s: %v", found[kind], kind, found)
		}
	}
}

// Decision C20: tens of thousands of draws on all patches of each minor version.
func TestC20SoakPatches(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("DEVNET_SOAK=1 runs it")
	}
	different, err := compareReceipts(pyhost.Installed(), newPrograms(21, large), 20)
	if err != nil || different > 0 {
		t.Errorf("%d draws differ between patches: %v", different, err)
	}
}
