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
var embedded = newArchive(sources)

// sources returns a u32 count, then the names and texts of the modules.
func sources() []byte {
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
	h.read = newReader(watched{h})
	h.cmd = exec.Command(python, "-S", "-s", "-P", "-B", "-W", "ignore", "-c", string(boot))
	h.cmd.Env = []string{"PYTHONHASHSEED=random", "PYTHONUTF8=1", "LC_ALL=C.UTF-8"}
	h.cmd.Dir = "/"
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = childIn, childOut, h.stderr
	h.cmd.ExtraFiles = []*os.File{pageFile}
	h.cmd.WaitDelay = waitDelay
	contain(h.cmd)
	err = h.cmd.Start()
	childIn.Close()
	childOut.Close()
	pageFile.Close()
	if err != nil {
		in.Close()
		out.Close()
		h.unmap()
		return nil, fmt.Errorf("start %s: %w", python, err)
	}
	h.gone = make(chan struct{})
	go func() {
		h.cmd.Wait()
		close(h.gone)
	}()
	h.until(deadline, false)
	by := compiledBy{python, p.sources.digest()}
	modules := p.compiled.known(by)
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
		err = h.handBack(p.compiled, by)
	}
	if err == nil {
		err = h.hello()
	}
	if err != nil {
		return nil, h.fail("start of the host", err)
	}
	return h, nil
}

// handBack keeps the modules of a host that compiled them, for the next hosts.
func (h *host) handBack(all *compilations, by compiledBy) error {
	modules, err := h.expect(frameCompiled)
	if err != nil {
		return err
	}
	all.keep(by, modules)
	h.read.buf = nil // no other frame is as long
	return nil
}

// hello reads the fork server's greeting, which it sends when it is ready.
func (h *host) hello() error {
	body, err := h.expect(frameHello)
	if err != nil {
		return err
	}
	d := &decoder{data: body}
	d.record(helloForm) // its version
	for len(d.data) > 0 && len(h.wall) < maxParts {
		a := &arguments{record: d.record(partForm)}
		h.wall = append(h.wall, Part{Name: text(a.data("name")), Missing: text(a.data("missing"))})
		d.keep(a.err)
	}
	d.end()
	return d.err
}

// expect reads a frame of one kind.
func (h *host) expect(want byte) ([]byte, error) {
	kind, body, err := h.read.next()
	if err == nil && kind != want {
		err = errFrame
	}
	return body, err
}

// fork has a child ready, which knows what the fork server knows.
func (h *host) fork() error {
	if h.forked {
		return nil
	}
	h.enc.bare(frameFork)
	if err := h.send(); err != nil {
		return err
	}
	body, err := h.expect(frameFork)
	if err != nil {
		return err
	}
	d := &decoder{data: body}
	a := &arguments{record: d.record(forkForm)}
	pid, rate, page := a.number("pid"), a.number("rate"), a.number("page")
	d.keep(a.err)
	if d.end(); d.err != nil {
		return d.err
	}
	h.child, h.forked = int(min(pid, 1<<31-1)), true
	if !inGroup(h.child, h.cmd) { // what is to be ended is a child of this host, whatever it says
		h.child = 0
		return fmt.Errorf("%w: process %d is not a child of this host", errFrame, pid)
	}
	h.measured = time.Duration(min(rate, uint64(time.Second)))
	h.rates.add(h.measured, time.Duration(min(page, uint64(time.Second))))
	return nil
}

// renew ends the child and has the next one ready. The fork server keeps the code
// that this child was given. It compiles that code itself, since it accepts nothing
// from a process that has run programs.
func (h *host) renew() error {
	h.enc.bare(frameEnd)
	if err := h.send(); err != nil {
		return err
	}
	if err := h.back(); err != nil {
		return err
	}
	return h.next()
}

// back reads that the fork server has the pipes again.
func (h *host) back() error {
	_, err := h.expect(frameEnded)
	h.forked, h.child, h.served, h.blocks = false, 0, 0, 0
	return err
}

// next tells the fork server what its child was told, and has another ready.
func (h *host) next() error {
	for _, n := range h.news {
		switch {
		case n.costs != nil:
			h.writeCosts(n.costs)
		case n.source != nil:
			h.writeLoad(n.hash, n.source)
		default:
			h.writeDrop(n.hash)
		}
		if err := h.send(); err != nil {
			return err
		}
	}
	h.news = h.news[:0]
	return h.fork()
}

func (h *host) writeCosts(costs []uint64) {
	h.enc.begin(frameCosts, len(costs))
	for i, c := range costs {
		h.enc.number(costNames[i], c)
	}
}

func (h *host) writeLoad(hash types.Hash, source []byte) {
	h.enc.begin(frameLoad, 2).bytes("code", hash[:]).bytes("source", source)
}

func (h *host) writeDrop(hash types.Hash) { h.enc.begin(frameDrop, 1).bytes("code", hash[:]) }

// until gives what the host is asked next a deadline: its caller's, or the pool's.
func (h *host) until(deadline time.Time, bounded bool) {
	h.bounded, h.deadline = bounded, deadline
	h.watch = watch{}
	h.put(pageWatched, 0)
	h.in.SetDeadline(deadline)
	h.out.SetDeadline(deadline)
}

// strictly ends the host's next request once it is late.
func (h *host) strictly(limit types.Cycles) {
	h.watch = watch{strict: true, credit: program.NewCredit(limit, h.rates.rate(), h.rates.page()), began: time.Now()}
	h.put(pageWatched, 1)
	h.out.SetDeadline(h.watch.began.Add(leastLook))
}

// fail ends the host and says how it failed.
func (h *host) fail(during string, cause error) error {
	bounded, took := h.bounded, h.watch.took
	ends := errors.Is(cause, errLate) || errors.Is(cause, os.ErrDeadlineExceeded)
	if bounded && h.watch.strict && errors.Is(cause, os.ErrDeadlineExceeded) {
		took = h.spent()
	}
	switch {
	case !ends || !h.forked || h.endChild() != nil:
		cause = h.cause(cause)
		h.stop()
	case errors.Is(cause, errLate):
		switch calm, err := h.isCalm(); {
		case err != nil:
			h.stop()
		case !calm:
			cause = errNotCalm
		}
	}
	return failure(during, cause, bounded, took, h.stderr.String())
}

// ended reports whether the process has died while it was idle.
func (h *host) ended() bool { return h.broken || h.over() }

// over reports whether the process has ended and nothing of it is left.
func (h *host) over() bool {
	select {
	case <-h.gone:
		return true
	default:
		return false
	}
}

// stop kills the process and waits for it. A second time it does nothing.
func (h *host) stop() {
	if h.broken {
		return
	}
	h.broken = true
	h.in.Close()
	if !h.over() {
		kill(h.cmd)
	}
	<-h.gone
	h.out.Close()
	h.unmap()
}

func (h *host) unmap() {
	syscall.Munmap(h.page)
	h.page = nil
}

// send writes the frame being built.
func (h *host) send() error {
	_, err := h.in.Write(h.enc.frame())
	return err
}

// tell sends the table of costs if the host has another one. The host compiles its
// charges in, so it forgets all code.
func (h *host) tell(costs []uint64) error {
	if equal(h.costs, costs) {
		return nil
	}
	h.writeCosts(costs)
	h.costs = append([]uint64(nil), costs...)
	h.news = append(h.news[:0], news{costs: h.costs})
	clear(h.codes)
	h.recent.Init()
	return h.send()
}

// ensure sends code the host does not keep, and drops what it kept longest unused.
func (h *host) ensure(hash types.Hash, source []byte) error {
	if e := h.codes[hash]; e != nil {
		h.recent.MoveToFront(e)
		return nil
	}
	h.writeLoad(hash, source)
	if err := h.send(); err != nil {
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
	return h.send()
}

func equal(a, b []uint64) bool {
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
