package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// terminalColumns is the width of the terminals of tests.
const terminalColumns = 80

// passing are numbers that differ from run to run, each after words that stay.
var passing = regexp.MustCompile(`(the chain's,\s+|the latest\s+is\s+|\bprocess\s+|\bkill\s+)\d+`)

// openTerminal opens a terminal of 80 columns: what is written to its screen is read from its wire.
func openTerminal() (wire, screen *os.File, err error) {
	if wire, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(wire.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(wire.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: terminalColumns})
	}
	return wire, screen, err
}

// answers FILE types each line of a file that begins with $, once with pipes and once on a terminal
// of 80 columns, and compares what is said and the exit code, in brackets, with the lines below it.
// The terminal gets the same words, in lines that fit. No command leaves a file behind.
func checkAnswers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers FILE")
	}
	before := filesBelow(ts)
	var said strings.Builder
	want := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK") // which fill may have put there
	for line := range strings.Lines(want) {
		typed, is := strings.CutPrefix(strings.TrimSpace(line), "$ devnet ")
		if !is {
			continue
		}
		words := strings.Fields(typed)
		out, code := runAndRead(ts, words, false)
		fmt.Fprintf(&said, "$ devnet %s\n%s[%d]\n", typed, out, code)
		shown, again := runAndRead(ts, words, true)
		if again != code || !slices.Equal(strings.Fields(shown), strings.Fields(out)) {
			ts.Fatalf("devnet %s says on a terminal, with %d:\n%s\nand to a pipe, with %d:\n%s", typed, again, shown, code, out)
		}
		for shown := range strings.Lines(shown) {
			if n := utf8.RuneCountInString(strings.TrimRight(shown, "\r\n")); n > terminalColumns && len(strings.Fields(shown)) > 1 {
				ts.Fatalf("devnet %s: a line of %d columns on a terminal of %d:\n%s", typed, n, terminalColumns, shown)
			}
		}
		if after := filesBelow(ts); !slices.Equal(before, after) {
			ts.Fatalf("devnet %s left files behind: %v, before it %v", typed, after, before)
		}
	}
	if said.String() != want {
		ts.Fatalf("the answers are not those of %s:\n%s", args[0], said.String())
	}
}

// runAndRead runs devnet, and returns what it says and its exit code.
func runAndRead(ts *testscript.TestScript, words []string, terminal bool) (said string, code int) {
	path, err := exec.LookPath("devnet")
	ts.Check(err)
	command := exec.Command(path, words...)
	command.Dir, command.Env = ts.MkAbs("."), append(environmentOf(ts), "DEVNET_HTTP="+ts.Getenv("DEVNET_HTTP"), "NO_COLOR=1")
	var read bytes.Buffer
	if !terminal {
		command.Stdout, command.Stderr = &read, &read
		err = command.Run()
	} else {
		wire, screen, openErr := openTerminal()
		ts.Check(openErr)
		defer wire.Close()
		command.Stdin, command.Stdout, command.Stderr = screen, screen, screen
		ts.Check(command.Start())
		ts.Check(screen.Close())
		_, _ = io.Copy(&read, wire) // it ends with an error once nobody has the screen
		err = command.Wait()
	}
	var died *exec.ExitError
	if err != nil && !errors.As(err, &died) {
		ts.Check(err)
	}
	text := strings.NewReplacer("\r\n", "\n", ts.Getenv("WORK"), "$WORK").Replace(read.String())
	return passing.ReplaceAllString(text, "${1}N"), command.ProcessState.ExitCode()
}

// filesBelow lists the files and folders of the script's folder, but for those of a network.
func filesBelow(ts *testscript.TestScript) (all []string) {
	root := ts.MkAbs(".")
	ts.Check(filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && entry.Name() == "net" {
			return filepath.SkipDir
		}
		all = append(all, strings.TrimPrefix(path, root))
		return err
	}))
	return all
}
