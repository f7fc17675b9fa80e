package operating

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/script"
)

// wallClock is the wall clock of one process, as that process reads it. Only a whole machine has a
// clock to set, and other programs run on it. So the kernel's function by which a process reads the
// clocks, in the page that the kernel maps into each process, is replaced in that process by one that
// asks the kernel and adds an offset to the wall clock alone. The program itself is unchanged. Its
// children have their own pages, and the machine's clock.
type wallClock struct {
	memory *os.File // of the process
	offset int64    // where the seconds are that are added
}

// readerCode is clock_gettime for amd64: it makes the system call, and adds the eight bytes that follow
// the code to the seconds of CLOCK_REALTIME.
var readerCode = []byte{
	0xb8, 0xe4, 0x00, 0x00, 0x00, // mov eax, 228
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi
	0x75, 0x0a, // jne to ret
	0x48, 0x8b, 0x0d, 0x06, 0x00, 0x00, 0x00, // mov rcx, [rip+6]
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3,       // ret
	0x90, 0x90, // the offset is aligned
}

// errNoWallClock is why a process has no clock of its own here.
var errNoWallClock = errors.New("the kernel does not let the wall clock of one process be set")

// takeWallClock gives a process a wall clock of its own, which shows the machine's time. It stops the process
// for a moment.
func takeWallClock(pid int) (*wallClock, error) {
	if runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("%w: only on amd64", errNoWallClock)
	}
	begin, end, err := findPages(pid, "[vdso]")
	if err != nil {
		return nil, err
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoWallClock, err)
	}
	image := make([]byte, end-begin)
	if _, err := memory.ReadAt(image, begin); err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	at, size, err := findReader(image)
	if err == nil && size < int64(len(readerCode))+8 {
		err = fmt.Errorf("%w: the function has %d bytes", errNoWallClock, size)
	}
	if err == nil {
		err = whileOutside(pid, begin, end, func() error {
			_, err := memory.WriteAt(append(bytes.Clone(readerCode), make([]byte, 8)...), begin+at)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errNoWallClock, err), memory.Close())
	}
	return &wallClock{memory: memory, offset: begin + at + int64(len(readerCode))}, nil
}

// set puts the clock by so much ahead of the machine's; negative: behind it.
func (c *wallClock) set(ahead time.Duration) error {
	_, err := c.memory.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(ahead/time.Second)), c.offset)
	return err
}

func (c *wallClock) close() { _ = c.memory.Close() }

// findPages returns where a process has pages of a name.
func findPages(pid int, name string) (begin, end int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasSuffix(strings.TrimSpace(line), name) {
			_, err := fmt.Sscanf(line, "%x-%x ", &begin, &end)
			return begin, end, err
		}
	}
	return 0, 0, fmt.Errorf("%w: it has no pages %s", errNoWallClock, name)
}

// findReader returns where the kernel's pages have the function that reads clocks, and its size.
func findReader(image []byte) (at, size int64, err error) {
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, 0, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, 0, err
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			return int64(s.Value), int64(s.Size), nil
		}
	}
	return 0, 0, errors.New("the kernel's pages have no function that reads clocks")
}

// whileOutside stops a process, does something while none of its threads executes the pages from begin to end,
// and has the process continue.
func whileOutside(pid int, begin, end int64, do func() error) error {
	for tries := 0; ; tries++ {
		if err := stopProcess(pid); err != nil {
			return err
		}
		inside, err := executesWithin(pid, begin, end)
		if err == nil && !inside {
			err = do()
		}
		if err := errors.Join(err, syscall.Kill(pid, syscall.SIGCONT)); err != nil || !inside {
			return err
		}
		if tries == 100 {
			return errors.New("a thread is always reading the clock")
		}
	}
}

// stopProcess stops a process, and returns once all its threads rest.
func stopProcess(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for end := time.Now().Add(script.Patience); ; {
		states, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil || len(states) == 0 {
			return fmt.Errorf("process %d has no threads: %w", pid, err)
		}
		moving := 0
		for _, path := range states {
			text, _ := os.ReadFile(path)
			if _, after, _ := strings.Cut(string(text), ") "); !strings.HasPrefix(after, "T") {
				moving++
			}
		}
		if moving == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d threads of process %d do not stop", moving, pid)
		}
	}
}

// executesWithin reports whether a thread of a stopped process executes pages.
func executesWithin(pid int, begin, end int64) (bool, error) {
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	if err != nil {
		return false, err
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		fields := strings.Fields(string(text))
		at, err := strconv.ParseInt(strings.TrimPrefix(fields[len(fields)-1], "0x"), 16, 64) // the place of its next instruction
		if err != nil {
			return false, fmt.Errorf("%s: %q", path, text)
		}
		if at >= begin && at < end {
			return true, nil
		}
	}
	return false, nil
}
