package pyhost

import (
	"bytes"
	"container/list"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"

	pythonhost "github.com/cowboyinc/devnet/python-host"

	"github.com/cowboyinc/devnet/internal/types"
)

// MaxCodes bounds the codes that a host keeps compiled; the least recently
// used is dropped first. Only this side decides, so both agree.
const MaxCodes = 256

// host is one CPython process. It serves one conversation at a time.
type host struct {
	cmd     *exec.Cmd
	in      *os.File // its standard input
	out     *os.File // its standard output
	read    *reader
	enc     encoder
	stderr  *tail
	codes   map[types.Hash]*list.Element
	recent  *list.List // of hashes, the most recently used first
	costs   []uint64   // that it was told
	broken  bool
	bounded bool          // the deadline in force is the caller's, not the pool's
	gone    chan struct{} // closed when the process has ended
}

// sources is the archive the bootstrap reads: u32 count, then names and texts.
var sources = sync.OnceValue(func() []byte {
	var names []string
	files := map[string][]byte{}
	walk := func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p == "bootstrap.py" || path.Ext(p) != ".py" {
			return err
		}
		text, err := pythonhost.Files.ReadFile(p)
		name := strings.TrimPrefix(strings.TrimSuffix(p, ".py"), "host/")
		name = strings.ReplaceAll(strings.TrimSuffix(name, "/__init__"), "/", ".")
		names, files[name] = append(names, name), text
		return err
	}
	if err := fs.WalkDir(pythonhost.Files, ".", walk); err != nil {
		panic("pyhost: the embedded sources cannot be read: " + err.Error())
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(names)))
	for _, name := range names {
		for _, field := range [][]byte{[]byte(name), files[name]} {
			out = binary.LittleEndian.AppendUint32(out, uint32(len(field)))
			out = append(out, field...)
		}
	}
	return out
})

// startHost runs python with the embedded sources. Its environment is empty
// but for the seed of hashes, and it finds no file of anyone's.
func startHost(python string, addressSpace uint64, deadline time.Time, bounded bool) (*host, error) {
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
	h := &host{in: in, out: out, read: newReader(out), stderr: &tail{}, codes: map[types.Hash]*list.Element{}, recent: list.New()}
	h.cmd = exec.Command(python, "-S", "-s", "-P", "-B", "-c", string(boot))
	h.cmd.Env = []string{"PYTHONHASHSEED=0", "PYTHONUTF8=1", "LC_ALL=C.UTF-8"}
	h.cmd.Dir = os.TempDir()
	h.cmd.Stdin, h.cmd.Stdout, h.cmd.Stderr = childIn, childOut, h.stderr
	dieWithParent(h.cmd)
	err = h.cmd.Start()
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("start %s: %w", python, err)
	}
	h.gone = make(chan struct{})
	go func() {
		h.cmd.Wait()
		close(h.gone)
	}()
	h.until(deadline, bounded)
	archive := binary.LittleEndian.AppendUint64(append([]byte{}, sources()...), addressSpace)
	if _, err = in.Write(archive); err == nil {
		var kind byte
		if kind, _, err = h.read.next(); err == nil && kind != frameHello {
			err = errFrame
		}
	}
	if err != nil {
		return nil, h.fail("start of the host", err)
	}
	return h, nil
}

// until gives what the host is asked next a deadline: its caller's, or the pool's.
func (h *host) until(deadline time.Time, bounded bool) {
	h.bounded = bounded
	h.in.SetDeadline(deadline)
	h.out.SetDeadline(deadline)
}

// fail ends the host and says how it failed.
func (h *host) fail(during string, cause error) error {
	h.stop()
	return failure(during, cause, h.bounded, h.stderr.String())
}

// ended reports whether the process has died while nobody used it.
func (h *host) ended() bool {
	select {
	case <-h.gone:
		return true
	default:
		return h.broken
	}
}

// stop kills the process and waits for it. A second time it does nothing.
func (h *host) stop() {
	if h.broken {
		return
	}
	h.broken = true
	h.in.Close()
	h.cmd.Process.Kill()
	<-h.gone
	h.out.Close()
}

// send writes the frame being built.
func (h *host) send() error {
	_, err := h.in.Write(h.enc.frame())
	return err
}

// tell sends the table of costs where it is not the one the host has. The host
// compiles its charges in, so it forgets all code.
func (h *host) tell(costs []uint64) error {
	if equal(h.costs, costs) {
		return nil
	}
	h.enc.begin(frameCosts)
	for _, c := range costs {
		h.enc.u64(c)
	}
	h.costs = append([]uint64(nil), costs...)
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
	h.enc.begin(frameLoad).raw(hash[:]).raw(source)
	if err := h.send(); err != nil {
		return err
	}
	h.codes[hash] = h.recent.PushFront(hash)
	if h.recent.Len() <= MaxCodes {
		return nil
	}
	oldest := h.recent.Remove(h.recent.Back()).(types.Hash)
	delete(h.codes, oldest)
	h.enc.begin(frameDrop).raw(oldest[:])
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
