package pyhost

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	pythonhost "github.com/cowboyinc/devnet/python-host"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// MaxCodes bounds the codes that a host keeps compiled; the least recently
// used is dropped first. Only this side decides, so both agree.
const MaxCodes = 256

// host is a fork server of CPython and, but for a moment after each session, its
// child, which serves one session. Both speak through the same pipes, one after
// the other (python-host/host/fork_server.py).
type host struct {
	cmd      *exec.Cmd
	in       *os.File // its standard input
	out      *os.File // its standard output
	read     *reader
	enc      encoder
	stderr   *tail
	codes    map[types.Hash]*list.Element
	recent   *list.List // of hashes, the most recently used first
	costs    []uint64   // that it was told
	news     []news     // what the child was told and the fork server was not
	forked   bool       // the child has the pipes
	served   int        // messages of this child
	blocks   int        // sessions of this child that ran any
	wall     []Part
	broken   bool
	bounded  bool      // the caller set the deadline in force, not the pool
	deadline time.Time // of the request under way
	watch    watch
	page     []byte        // shared with the host
	child    int           // the id of the child's process
	measured time.Duration // of a thousand cycles, by that child; 0: it did not measure
	rates    *rates
	gone     chan struct{} // closed when the process has ended
}

// news is code that a child was given, or lost, or a new table of costs.
type news struct {
	hash   types.Hash
	source []byte // nil: the code was dropped
	costs  []uint64
}

// archive is the host's Python sources, as the bootstrap reads them. text makes them for each
// start of a host: half a MiB is much to keep.
type archive struct {
	text   func() []byte
	digest func() [sha256.Size]byte // made once
}

func newArchive(text func() []byte) archive {
	return archive{text, sync.OnceValue(func() [sha256.Size]byte { return sha256.Sum256(text()) })}
}

// embedded is the archive of this build.
var embedded = newArchive(encodedSources)

// encodedSources returns a u32 count, then the names and texts of the modules.
func encodedSources() []byte {
	var paths []string
	size := 4
	walk := func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p == "bootstrap.py" || path.Ext(p) != ".py" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			paths, size = append(paths, p), size+8+len(moduleOf(p))+int(info.Size())
		}
		return err
	}
	err := fs.WalkDir(pythonhost.Files, ".", walk)
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, size), uint32(len(paths)))
	for _, p := range paths {
		text, err2 := pythonhost.Files.ReadFile(p)
		err = errors.Join(err, err2)
		for _, field := range [][]byte{[]byte(moduleOf(p)), text} {
			out = binary.LittleEndian.AppendUint32(out, uint32(len(field)))
			out = append(out, field...)
		}
	}
	if err != nil {
		panic("pyhost: the embedded sources cannot be read: " + err.Error())
	}
	return out
}

// moduleOf is the name by which Python imports a file.
func moduleOf(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(file, ".py"), "/__init__"), "/", ".")
}

// startHost runs python with the embedded sources. Its environment is empty except
// for a secret seed of hashes (host/hashing.py), and it finds no user's files.
func (p *Pool) startHost(python string, tellsLines bool, deadline time.Time) (*host, error) {
	boot, err := pythonhost.Files.ReadFile("bootstrap.py")
	if err != nil {
		return nil, err
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		in.Close()
		return nil, err
	}
	page, pageFile, err := newPage()
	if err != nil {
		for _, end := range []*os.File{childIn, in, out, childOut} {
			end.Close()
		}
		return nil, fmt.Errorf("a page that is shared with the host: %w", err)
	}
	h := &host{in: in, out: out, page: page, rates: &p.rates, stderr: &tail{}, codes: map[types.Hash]*list.Element{},
		recent: list.New()}
	h.read = newReader(watchedPipe{h})
	h.cmd = exec.Command(python, "-S", "-s", "-P", "-B", "-W", "ignore", "-c", string(boot))
	h.cmd.Env = []string{"PYTHONHASHSEED=random", "PYTHONUTF8=1", "LC_ALL=C.UTF-8"}
	h.cmd.Dir = "/"
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = childIn, childOut, h.stderr
	h.cmd.ExtraFiles = []*os.File{pageFile}
	h.cmd.WaitDelay = waitDelay
	containHost(h.cmd)
	err = h.cmd.Start()
	childIn.Close()
	childOut.Close()
	pageFile.Close()
	if err != nil {
		in.Close()
		out.Close()
		h.unmapPage()
		return nil, fmt.Errorf("start %s: %w", python, err)
	}
	h.gone = make(chan struct{})
	go func() {
		h.cmd.Wait()
		close(h.gone)
	}()
	h.setDeadline(deadline, false)
	by := compiledBy{python, p.sources.digest()}
	modules, mark := p.modulesOf(by)
	noting := uint64(0)
	if tellsLines {
		noting = 1
	}
	var settings []byte
	for _, n := range []uint64{serverBytes(p.config.AddressSpace), p.config.AddressSpace, noting} {
		settings = binary.LittleEndian.AppendUint64(settings, n)
	}
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(modules)))
	for _, part := range [][]byte{size, modules, p.sources.text(), settings} {
		if err == nil {
			_, err = in.Write(part)
		}
	}
	if err == nil && len(modules) == 0 {
		if err = h.handBack(p.compiled, by); err == nil {
			writeKeptModules(mark, p.compiled.knownModules(by))
		}
	}
	if err == nil {
		err = h.readHello()
	}
	if err != nil {
		return nil, h.failDuring("start of the host", err)
	}
	return h, nil
}

// modulesOf returns what a host is to be given: what this process has, or what one before it kept
// under the mark. It is empty if the host has to compile, and what it sends is to be kept.
func (p *Pool) modulesOf(by compiledBy) (modules []byte, mark string) {
	if modules := p.compiled.knownModules(by); modules != nil {
		return modules, ""
	}
	mark = p.proofMark(by.python)
	if modules = readKeptModules(mark); modules != nil {
		p.compiled.keepModules(by, modules)
	}
	return modules, mark
}

// handBack keeps the modules of a host that compiled them, for the next hosts.
func (h *host) handBack(all *compilations, by compiledBy) error {
	modules, err := h.expectFrame(frameCompiled)
	if err != nil {
		return err
	}
	all.keepModules(by, modules)
	h.read.buf = nil // no other frame is as long
	return nil
}

// readHello reads the fork server's greeting, which it sends when it is ready.
func (h *host) readHello() error {
	body, err := h.expectFrame(frameHello)
	if err != nil {
		return err
	}
	d := &decoder{data: body}
	d.readRecord(helloForm) // its version
	for len(d.data) > 0 && len(h.wall) < maxParts {
		a := &arguments{record: d.readRecord(partForm)}
		h.wall = append(h.wall, Part{Name: validText(a.dataOf("name")), Missing: validText(a.dataOf("missing"))})
		d.keepError(a.err)
	}
	d.expectEnd()
	return d.err
}

// expectFrame reads a frame of one kind.
func (h *host) expectFrame(want byte) ([]byte, error) {
	kind, body, err := h.read.nextFrame()
	if err == nil && kind != want {
		err = errFrame
	}
	return body, err
}

// forkChild has a child ready, which knows what the fork server knows.
func (h *host) forkChild() error {
	if h.forked {
		return nil
	}
	h.enc.beginBare(frameFork)
	if err := h.sendFrame(); err != nil {
		return err
	}
	body, err := h.expectFrame(frameFork)
	if err != nil {
		return err
	}
	d := &decoder{data: body}
	a := &arguments{record: d.readRecord(forkForm)}
	pid, rate, page := a.numberOf("pid"), a.numberOf("rate"), a.numberOf("page")
	d.keepError(a.err)
	if d.expectEnd(); d.err != nil {
		return d.err
	}
	h.child, h.forked = int(min(pid, 1<<31-1)), true
	if !inGroup(h.child, h.cmd) { // what is to be ended is a child of this host, whatever it says
		h.child = 0
		return fmt.Errorf("%w: process %d is not a child of this host", errFrame, pid)
	}
	h.measured = time.Duration(min(rate, uint64(time.Second)))
	h.rates.addMeasurement(h.measured, time.Duration(min(page, uint64(time.Second))))
	return nil
}

// renewChild ends the child and has the next one ready. The fork server keeps the code
// that this child was given. It compiles that code itself, since it accepts nothing
// from a process that has run programs.
func (h *host) renewChild() error {
	h.enc.beginBare(frameEnd)
	if err := h.sendFrame(); err != nil {
		return err
	}
	if err := h.readBack(); err != nil {
		return err
	}
	return h.forkNext()
}

// readBack reads that the fork server has the pipes again.
func (h *host) readBack() error {
	_, err := h.expectFrame(frameEnded)
	h.forked, h.child, h.served, h.blocks = false, 0, 0, 0
	return err
}

// forkNext tells the fork server what its child was told, and has another ready.
func (h *host) forkNext() error {
	for _, n := range h.news {
		switch {
		case n.costs != nil:
			h.writeCosts(n.costs)
		case n.source != nil:
			h.writeLoad(n.hash, n.source)
		default:
			h.writeDrop(n.hash)
		}
		if err := h.sendFrame(); err != nil {
			return err
		}
	}
	h.news = h.news[:0]
	return h.forkChild()
}

func (h *host) writeCosts(costs []uint64) {
	h.enc.beginFrame(frameCosts, len(costs))
	for i, c := range costs {
		h.enc.writeNumber(costNames[i], c)
	}
}

func (h *host) writeLoad(hash types.Hash, source []byte) {
	h.enc.beginFrame(frameLoad, 2).writeBytes("code", hash[:]).writeBytes("source", source)
}

func (h *host) writeDrop(hash types.Hash) { h.enc.beginFrame(frameDrop, 1).writeBytes("code", hash[:]) }

// setDeadline gives what the host is asked next a deadline: its caller's, or the pool's.
func (h *host) setDeadline(deadline time.Time, bounded bool) {
	h.bounded, h.deadline = bounded, deadline
	h.watch = watch{}
	h.putPageWord(pageWatched, 0)
	h.in.SetDeadline(deadline)
	h.out.SetDeadline(deadline)
}

// limitStrictly ends the host's next request once it is late. That many first writes to pages of memory are free.
func (h *host) limitStrictly(limit types.Cycles, freePages int) {
	free := program.TimeOfPages(freePages, h.rates.medianPage())
	h.watch = watch{strict: true, credit: program.NewCredit(limit, h.rates.medianRate(), free), began: time.Now()}
	h.putPageWord(pageWatched, 1)
	h.out.SetDeadline(h.watch.began.Add(leastLook))
}

// failDuring ends the host and says how it failed.
func (h *host) failDuring(during string, cause error) error {
	bounded, took := h.bounded, h.watch.took
	ends := errors.Is(cause, errLate) || errors.Is(cause, os.ErrDeadlineExceeded)
	if bounded && h.watch.strict && errors.Is(cause, os.ErrDeadlineExceeded) {
		took = h.cpuTime()
	}
	switch {
	case !ends || !h.forked || h.endChild() != nil:
		cause = h.endCause(cause)
		h.stopProcess()
	case errors.Is(cause, errLate):
		switch calm, err := h.isCalm(); {
		case err != nil:
			h.stopProcess()
		case !calm:
			cause = errNotCalm
		}
	}
	return newFailure(during, cause, bounded, took, h.stderr.String())
}

// hasEnded reports whether the process has died while it was idle.
func (h *host) hasEnded() bool { return h.broken || h.isOver() }

// isOver reports whether the process has ended and nothing of it is left.
func (h *host) isOver() bool {
	select {
	case <-h.gone:
		return true
	default:
		return false
	}
}

// stopProcess kills the process and waits for it. A second time it does nothing.
func (h *host) stopProcess() {
	if h.broken {
		return
	}
	h.broken = true
	h.in.Close()
	if !h.isOver() {
		killGroup(h.cmd)
	}
	<-h.gone
	h.out.Close()
	h.unmapPage()
}

func (h *host) unmapPage() {
	syscall.Munmap(h.page)
	h.page = nil
}

// sendFrame writes the frame being built.
func (h *host) sendFrame() error {
	_, err := h.in.Write(h.enc.finishFrame())
	return err
}

// sendCosts sends the table of costs if the host has another one. The host compiles its
// charges in, so it forgets all code.
func (h *host) sendCosts(costs []uint64) error {
	if equalCosts(h.costs, costs) {
		return nil
	}
	h.writeCosts(costs)
	h.costs = append([]uint64(nil), costs...)
	h.news = append(h.news[:0], news{costs: h.costs})
	clear(h.codes)
	h.recent.Init()
	return h.sendFrame()
}

// ensureCode sends code the host does not keep, and drops what it kept longest unused.
func (h *host) ensureCode(hash types.Hash, source []byte) error {
	if e := h.codes[hash]; e != nil {
		h.recent.MoveToFront(e)
		return nil
	}
	h.writeLoad(hash, source)
	if err := h.sendFrame(); err != nil {
		return err
	}
	h.codes[hash] = h.recent.PushFront(hash)
	h.news = append(h.news, news{hash: hash, source: source})
	if h.recent.Len() <= MaxCodes {
		return nil
	}
	oldest := h.recent.Remove(h.recent.Back()).(types.Hash)
	delete(h.codes, oldest)
	h.news = append(h.news, news{hash: oldest})
	h.writeDrop(oldest)
	return h.sendFrame()
}

func equalCosts(a, b []uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - maxStderrBytes; over > 0 {
		t.buf = t.buf[over:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}
