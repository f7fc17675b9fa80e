package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/cowboyinc/devnet/fixtures"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Limits of a script.
const (
	// MaxSteps is how many steps of Starlark a script may take. A step is about
	// an operation; loops over a hundred thousand values fit.
	MaxSteps = 50_000_000
	// MaxMemory is how many bytes the heap of the process may grow to.
	MaxMemory = 1 << 30
	// MaxScriptBytes bounds a file that a script is or loads.
	MaxScriptBytes = 1 << 20
	// MaxFiles bounds what a script loads.
	MaxFiles = 64
)

// Options say how to run a script. Open is needed; zero fields mean defaults.
type Options struct {
	Open Open
	Text string  // of the script, in place of its file's; "": that
	Seed *uint64 // goes before the script's own
	Pace *Pace   // so does this
	// Settings go before the defaults of setting(…), each name once.
	Settings []Setting
	// Least returns the shortest block time that a number of validators keep on this
	// machine: a script's shorter one is raised to it, with a line on Out. nil: any.
	Least  func(validators int) time.Duration
	Out    io.Writer       // what print writes to; nil: nowhere
	Trace  io.Writer       // for Config.Trace
	Steps  uint64          // MaxSteps
	Memory uint64          // MaxMemory, in bytes
	Stop   context.Context // ends the run early; may be nil
	Pulse  *Pulse          // shows the script's progress; nil without a watcher
	// Deed is told each deed before it is done, and returns whether it is left out. It may be nil.
	Deed func(Deed) (undo bool)
	// MayBeIdle lets every fault be without effect.
	MayBeIdle bool
}

// Report is the outcome of a run, also of a failed one.
type Report struct {
	Seed      uint64 // the seed used; 0 without a network
	Backend   string // "" without a network
	Height    types.Height
	Digest    types.Hash
	Steps     uint64 // of Starlark
	Faults    []fault.Effect
	Sometimes []Sometimes // by first use
	Measures  []Measure   // likewise
	Settings  []Setting   // that the script read, likewise
	Timeline  []string    // of a run that failed: what happened last, in lines of 80 columns
	Trace     []string    // of a failed expectation: what a transaction, fire or message did that failed, likewise
	Unread    []string    // failed receipts that the script did not look at, and where it made them
}

// Sometimes is a condition of sometimes(name, cond): whether it was ever true.
type Sometimes struct {
	Name string
	True bool
}

// Run runs a script. Its error is a *Mistake, Mistakes, a *Failure, or else a
// fault of the devnet or of the machine. The report is never nil.
func Run(path string, o Options) (*Report, error) {
	if o.Pulse == nil {
		o.Pulse = &Pulse{}
	}
	r := &runtime{options: o, report: &Report{}, allowed: map[int]bool{}}
	s, err := openSources(path, o.Text)
	if err != nil {
		return r.report, err
	}
	defer s.closeFolder()
	r.sources = s
	if err := s.checkScript(); err != nil {
		return r.report, err
	}
	r.thread = &starlark.Thread{Name: s.main, Load: r.loadFile, Print: r.printText}
	r.boundScript()
	if o.Stop != nil {
		defer context.AfterFunc(o.Stop, func() { r.thread.Cancel("the run was stopped") })()
	}
	o.Pulse.setAlone(true)
	_, err = r.execFile(s.main)
	o.Pulse.setAlone(false)
	if err == nil {
		err = r.judgeEnd()
	}
	err = s.locateError(err)
	return r.report, errors.Join(err, r.closeReport(err))
}

// Check says what is wrong with a script without running it: syntax, names,
// verbs of the network, names of arguments. Its error is Mistakes or a *Mistake,
// or that a file cannot be read.
func Check(path string) error {
	s, err := openSources(path, "")
	if err != nil {
		return err
	}
	defer s.closeFolder()
	return s.checkScript()
}

// runtime is one run of one script.
type runtime struct {
	options Options
	sources *sources
	thread  *starlark.Thread
	report  *Report
	net     *network // nil until network(…)
	loaded  map[string]starlark.StringDict
	loading []string
	allowed map[int]bool     // faults by index that may be idle
	places  []Position       // of the call that made each fault
	closed  int              // networks that ended
	samples int              // that measure(…) took
	deeds   map[Position]int // how often each deed was done, or left out
	asked   []asked          // settings that it read
}

var dialect = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}

func (r *runtime) execFile(name string) (values starlark.StringDict, err error) {
	text, err := r.sources.readFile(name)
	if err != nil {
		return nil, err
	}
	defer r.tooLarge(&err)
	return starlark.ExecFileOptions(dialect, r.thread, name, text, r.globalFunctions())
}

// loadFile runs a file of the script's folder, once.
func (r *runtime) loadFile(_ *starlark.Thread, name string) (starlark.StringDict, error) {
	name = filepath.Clean(name)
	if known, ok := r.loaded[name]; ok {
		return known, nil
	}
	for _, one := range append(r.loading, r.sources.main) {
		if one == name {
			return nil, newMistake("%s loads itself", name)
		}
	}
	r.loading = append(r.loading, name)
	values, err := r.execFile(name)
	r.loading = r.loading[:len(r.loading)-1]
	if err != nil {
		return nil, r.sources.locateError(err)
	}
	if r.loaded == nil {
		r.loaded = map[string]starlark.StringDict{}
	}
	r.loaded[name] = values
	return values, nil
}

func (r *runtime) printText(_ *starlark.Thread, text string) {
	if r.options.Out != nil {
		fmt.Fprintln(r.options.Out, text)
	}
}

// place is where a script is: the lines of all calls that run.
type place struct{ lines []line }

type line struct {
	file   string
	number int
}

// currentPlace is where the script is now.
func (r *runtime) currentPlace() *place {
	p := &place{}
	for _, frame := range r.thread.CallStack() {
		p.lines = append(p.lines, line{frame.Pos.Filename(), int(frame.Pos.Line)})
	}
	return p
}

// judgeEnd is what is judged when the script is through: the oracles' word, and
// that each fault had an effect.
func (r *runtime) judgeEnd() error {
	if r.net == nil {
		return nil
	}
	if err := r.net.backend.Violation(); err != nil {
		return newFailure("%v", err)
	}
	for i, fault := range r.net.backend.Faults() {
		if fault.Idle && !r.allowed[i] && !r.options.MayBeIdle {
			var at Position
			if i < len(r.places) {
				at = r.places[i]
			}
			return &Failure{at, fmt.Sprintf("the fault %s %s had no effect; let it last longer, or call it with may_be_idle = True", fault.Verb,
				fault.Detail)}
		}
	}
	return nil
}

// closeReport fills in the report and ends the network. For several networks the report
// has all their heights together, all faults, and a digest over all digests.
func (r *runtime) closeReport(failing error) error {
	r.report.Steps = r.thread.ExecutionSteps()
	if r.net == nil {
		return nil
	}
	if failing != nil {
		r.report.Timeline = r.net.timeline.Lines(r.net.nameReplacer())
	}
	var failed *Failure
	if errors.As(failing, &failed) {
		r.report.Trace = r.net.traceOfLastFailure(failed.At)
	}
	r.report.Unread = append(r.report.Unread, r.net.unreadLines()...)
	b := r.net.backend
	r.report.Height += r.net.highestFinal()
	r.report.Faults = append(r.report.Faults, b.Faults()...)
	digest, err := b.Digest()
	if r.closed > 0 {
		digest = types.Keccak(r.report.Digest[:], digest[:])
	}
	r.report.Digest = digest
	r.closed++
	r.net.closed, r.net = true, nil
	r.allowed, r.places = map[int]bool{}, nil
	return errors.Join(err, b.Close())
}

// sources are the files of a script: its own and those of its folder.
type sources struct {
	root fs.FS // its folder
	end  func() error
	main string
	text map[string]string // the text of each file, by name; looked up only
	// snapshots is that some file names net.snapshot.
	snapshots bool
	// asked are the settings that the files read, as far as they are written out; computed is
	// that the name of some other is not.
	asked    []asked
	computed bool
}

// openSources opens a script's folder, and reads its file unless its text is given.
func openSources(path, text string) (*sources, error) {
	s, err := folderOf(path)
	if err != nil {
		return nil, err
	}
	if text != "" {
		_, err = s.keepText(s.main, text)
	} else {
		_, err = s.readFile(s.main)
	}
	if err != nil {
		s.closeFolder()
		var wrong *Mistake
		if errors.As(err, &wrong) {
			return nil, wrong
		}
		return nil, err
	}
	return s, nil
}

// Carried returns where the program itself has an example, as fixtures.Carried does: for
// commands.
func Carried(file string) (folder fs.FS, name string, ok bool) { return fixtures.Carried(file) }

// Examples calls each with every example that the program carries, as fixtures.Examples does.
func Examples(each func(name string, text []byte) error) error { return fixtures.Examples(each) }

// folderOf opens a script's folder: on disk, or else in the program, which carries the
// examples.
func folderOf(file string) (*sources, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		if folder, name, ok := fixtures.Carried(file); ok {
			return &sources{root: folder, end: func() error { return nil }, main: name, text: map[string]string{}}, nil
		}
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	return &sources{root: root.FS(), end: root.Close, main: filepath.Base(file), text: map[string]string{}}, nil
}

func (s *sources) closeFolder() { _ = s.end() }

// readFile returns a file of the script's folder. Nothing outside it can be named,
// not by a symbolic link either.
func (s *sources) readFile(name string) (string, error) {
	if text, ok := s.text[name]; ok {
		return text, nil
	}
	if !filepath.IsLocal(name) {
		return "", newMistake("%q is outside the script's folder: a script can read only files of that folder", name)
	}
	if len(s.text) == MaxFiles {
		return "", newMistake("a script has at most %d files", MaxFiles)
	}
	within := path.Clean(filepath.ToSlash(name))
	if info, err := fs.Stat(s.root, within); err == nil && !info.Mode().IsRegular() { // a pipe would block
		return "", &Mistake{What: fmt.Sprintf("%s is not a regular file", name), At: Position{File: s.missingMessage(name)}}
	}
	file, err := s.root.Open(within)
	if err != nil {
		return "", &Mistake{What: fmt.Sprintf("%s cannot be read: %v", name, innermostReason(err)), At: Position{File: s.missingMessage(name)}}
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxScriptBytes+1))
	if err != nil {
		return "", newMistake("%s cannot be read: %v", name, innermostReason(err))
	}
	return s.keepText(name, string(data))
}

// keepText keeps the text of a file, and returns it.
func (s *sources) keepText(name, text string) (string, error) {
	if len(text) > MaxScriptBytes {
		return "", &Mistake{What: fmt.Sprintf("%s has more than %d bytes", name, MaxScriptBytes), At: Position{File: s.missingMessage(name)}}
	}
	s.text[name] = text
	return text, nil
}

// missingMessage is where to say that a file cannot be read: "" leaves it to the call
// that wanted it.
func (s *sources) missingMessage(name string) string {
	if name == s.main {
		return name
	}
	return ""
}

func innermostReason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
