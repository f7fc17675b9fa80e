// Command pythons runs generated programs on several interpreters and compares
// their receipts: cycles, ends and texts. Some are sources with faults, of which it
// compares what a deploy makes of them, and some search for drawn patterns.
//
//	go run ./internal/checks/pythons -n 5000 -seed 1 PYTHON PYTHON…
//
// With -checks N it compares generated expressions and calls with plain CPython instead, and with -own all the
// tests of CPython's own modules, where these are installed.
//
// Interpreters of one minor version must agree in all of it, and the command ends with 1
// where they do not. Across minor versions it counts the differences. One seed gives one
// list of programs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

func main() {
	n := flag.Int("n", 5000, "programs, as many patterns, and twice as many sources with faults")
	seed := flag.Uint64("seed", 1, "the seed of the programs")
	file := flag.String("file", "", "a file of programs in the form of the corpus, instead of drawn ones")
	show := flag.Int("show", 20, "differences of a pair to print")
	checks := flag.Int("checks", 0, "compare so many generated checks with plain CPython instead")
	own := flag.String("own", "", "compare CPython's own tests with plain CPython instead: all, or modules like test_int,test_list")
	flag.Parse()
	paths := flag.Args()
	if len(paths) == 0 {
		paths = pyhost.Installed()
	}
	if *own != "" {
		os.Exit(printOwnTests(paths, *own))
	}
	if *checks > 0 {
		os.Exit(judgeAll(paths, newSequences(*seed, *checks), *show))
	}
	all, err := newPrograms(*seed, *n), error(nil)
	if *file != "" {
		all, err = readPrograms(*file)
	}
	var different int
	if err == nil {
		different, err = compareReceipts(paths, all, *show)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pythons:", err)
		os.Exit(1)
	}
	if different > 0 {
		os.Exit(1)
	}
}

// printOwnTests prints what CPython's tests saw in each interpreter; it returns 1 if one cannot be judged.
func printOwnTests(paths []string, named string) (code int) {
	modules := ownModules
	if named != "all" {
		modules = strings.Split(named, ",")
	}
	for _, path := range paths {
		t, err := judgeOwnTests(path, os.TempDir(), modules)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "pythons:", err)
			code = 1
		case t == nil:
			fmt.Println(path + " has no package test: install its tests (libpython3-testsuite)")
		default:
			for i, line := range t.different {
				fmt.Printf("-- %s\n%s\n", line, t.where[i])
			}
			fmt.Print(t)
		}
	}
	return code
}

// newPrograms are n programs of a seed, n patterns and 2n sources with faults.
func newPrograms(seed uint64, n int) (all []drawnProgram) {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 20))}
	for range n {
		all = append(all, g.newProgram(), g.newPatternProgram(), g.newMutation(), g.newMutation())
	}
	return all
}

// readPrograms are the programs of a file.
func readPrograms(file string) (all []drawnProgram, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found, err := receipts.Parse(file, string(text))
	for _, p := range found {
		all = append(all, drawnProgram{source: p.Source, text: p.Source})
	}
	return all, err
}

// side is one interpreter with the receipts that it gave.
type side struct {
	version, minor string
	receipts       []string
	words          []string // for people: they may differ
}

// compareReceipts returns how many programs differ between interpreters of one minor version.
func compareReceipts(paths []string, all []drawnProgram, show int) (different int, err error) {
	sides, err := runAll(paths, all)
	if err != nil {
		return 0, err
	}
	for i := 1; i < len(sides); i++ {
		d := countDifferences(sides[i-1], sides[i], all, show)
		if sides[i-1].minor == sides[i].minor {
			different += d
		}
	}
	return different, nil
}

// runAll runs all draws on each interpreter, two at once, and sorts the sides by version.
func runAll(paths []string, all []drawnProgram) ([]side, error) {
	sides, failed := make([]side, len(paths)), make([]error, len(paths))
	turn := make(chan bool, 2)
	var group sync.WaitGroup
	for i, path := range paths {
		group.Go(func() {
			turn <- true
			defer func() { <-turn }()
			sides[i].receipts, failed[i] = runPrograms(path, all, &sides[i])
		})
	}
	group.Wait()
	slices.SortFunc(sides, func(a, b side) int { return strings.Compare(a.version, b.version) })
	return sides, errors.Join(failed...)
}

// runPrograms gives the receipts of one interpreter.
func runPrograms(path string, all []drawnProgram, s *side) (found []string, err error) {
	pool := pyhost.New(pyhost.Config{Python: path, Hosts: 1, Blocks: 1 << 30})
	defer pool.Close()
	if s.version, err = pool.Probe(); err != nil {
		return nil, err
	}
	s.minor = pyhost.Minor(s.version)
	session, err := pool.Open(program.ForBlock)
	if err != nil {
		return nil, err
	}
	defer func() { session.Close() }()
	for _, d := range all {
		var receipt, words string
		if d.deployed {
			receipt, words, err = judgeSource(session, d.source)
		} else {
			receipt, err = receipts.Run(session, d.source)
		}
		s.words = append(s.words, words)
		if err != nil { // its host has ended: the others have their own hosts
			receipt = "no receipt: " + err.Error()
			session.Close()
			if session, err = pool.Open(program.ForBlock); err != nil {
				return nil, err
			}
		}
		found = append(found, receipt)
	}
	return found, nil
}

// countDifferences counts and prints what differs between two sides.
func countDifferences(a, b side, all []drawnProgram, show int) int {
	var whole, ends, cycles, words, told int
	seen := map[string]bool{} // one of a kind is printed
	for i := range all {
		x, y := a.receipts[i], b.receipts[i]
		if a.words[i] != b.words[i] {
			told++
		}
		if x == y {
			continue
		}
		whole++
		kind := "words"
		switch {
		case statusAndCode(x) != statusAndCode(y):
			ends++
			kind = "end"
		case costOf(x) != costOf(y):
			cycles++
			kind = "cycles"
		default:
			words++
		}
		of := kind + vary.ReplaceAllString(x, "") + vary.ReplaceAllString(y, "")
		if !seen[of] && len(seen) < show {
			fmt.Printf("-- %s\n%s%s: %s\n%s: %s\n", kind, all[i].text, a.version, x, b.version, y)
		}
		seen[of] = true
	}
	fmt.Printf("%s and %s: %d programs, %d differ: %d in their end, %d only in cycles, %d only in text; "+
		"%d in words for people, which no receipt has\n", a.version, b.version, len(all), whole, ends, cycles, words, told)
	return whole
}

// statusAndCode is a receipt's status and code.
func statusAndCode(receipt string) string {
	fields := strings.Fields(receipt)
	if len(fields) > 1 && fields[1] == "ok" {
		return "ok"
	}
	if len(fields) > 2 {
		return fields[1] + " " + fields[2]
	}
	return receipt
}

func costOf(receipt string) string {
	cycles, _, _ := strings.Cut(receipt, " ")
	return cycles
}

// vary matches the parts of a receipt that a kind of difference does not depend on.
var vary = regexp.MustCompile(`\d+|'[^']*'`)
