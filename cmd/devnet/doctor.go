package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// The needs of a devnet.
const (
	wantDiskBytes  = 1 << 30 // some days of blocks
	wantUDPBytes   = 2 << 20 // a block to every validator
	pythonPatience = 5 * time.Second
)

// finding is one line of doctor.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Is   string `json:"is"`
	Do   string `json:"do"`
}

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check whether this machine can run a devnet",
		Description: "Example: devnet doctor\nExit code 1 when something is missing.",
		Flags: []cli.Flag{jsonFlag,
			&cli.StringFlag{Name: "http", EnvVars: []string{httpVariable}, Value: defaultHTTP, Usage: "`ADDRESS` that up would listen at"},
			&cli.StringFlag{Name: "home", Value: defaultHome, Usage: "`DIR` that up would keep state in"}},
		Action: takingNothing(runDoctor),
	}
}

func runDoctor(c *cli.Context) error {
	if err := checkListenable(c.String("http")); err != nil {
		return err
	}
	findings := append(checkPrograms(c.Context, c.String("home")), checkPort(c.String("http"), c.String("home")), checkUDP(),
		checkDisk(c.String("home")))
	limits, err := readLimits()
	if err != nil {
		return newFailure("", "%v", err)
	}
	findings = append(findings, checkLimits(limits))
	findings = append(findings, checkCallers(c.Context, c.String("home"))...)
	missing := countWhere(findings, func(f *finding) bool { return !f.OK })
	err = printAnswerOrJSON(c, findings, func(w io.Writer) {
		for _, f := range findings {
			mark := "ok     "
			if !f.OK {
				mark = "MISSING"
			}
			const under = "                      " // of the mark and what it is of
			width := messageColumns(w)
			fmt.Fprintf(w, "%s  %-12s %s\n", mark, f.What, strings.TrimLeft(wrapText(f.Is, under, width), " "))
			if f.Do != "" {
				fmt.Fprintln(w, wrapText(replaceProgramName(f.Do), under, width))
			}
		}
	})
	if err == nil && missing > 0 {
		return newFailure("", "%d of %d checks found something missing", missing, len(findings))
	}
	return err
}

// checkPrograms reports on the Python and, if there is one, on the protections around
// the programs that it runs.
func checkPrograms(ctx context.Context, dir string) []finding {
	found := checkPython(ctx, pythonPatience)
	if !found.OK {
		return []finding{found}
	}
	pool := pyhost.New(pyhost.Config{})
	defer pool.Close()
	same := checkProof(pool, namedPython(dir))
	if !same.OK {
		return []finding{found, same}
	}
	hosts, bytes := pool.Memory()
	return []finding{found, same, checkWall(pool), judgeMemory(hosts, bytes, pyhost.AllowedMemory())}
}

// judgeMemory says what all hosts of Python may take together, of allowed bytes. Programs seldom take as much: a devnet
// runs with less.
func judgeMemory(hosts int, bytes, allowed uint64) finding {
	f := finding{What: "memory", OK: true,
		Is: fmt.Sprintf("at most %d hosts of Python, for blocks and for reads, which take at most %d MiB together", hosts, bytes>>20)}
	if bytes > allowed {
		f.Is += fmt.Sprintf(", and it may have %d MiB here", allowed>>20)
		f.Do = fmt.Sprintf("Programs that take more end it with all its nodes. Give it %d MiB: a container by --memory, a pod by limits.",
			bytes>>20)
	}
	return f
}

// namedPython is the minor version that the genesis of a home's network names.
func namedPython(dir string) string {
	return cmp.Or(box.NamedPython(filepath.Join(dir, hosts.GenesisFile)), box.NamedPython(filepath.Join(home.NetDir(dir), hosts.GenesisFile)))
}

// checkProof reports whether Python gives the receipts of its minor version, which is the one
// that the network of the home names.
func checkProof(pool *pyhost.Pool, minor string) finding {
	f := finding{What: "receipts"}
	pool.Require(minor)
	wasProved := pool.WasProved()
	if err := pool.Fit(); err != nil {
		f.Is = err.Error()
		if _, missing := errors.AsType[*pyhost.MissingError](err); !missing {
			f.Do = "Install an unchanged CPython: " + installPython()
		}
		return f
	}
	version, err := pool.Probe()
	if err != nil {
		f.Is = err.Error()
		return f
	}
	f.OK, f.Is = true, fmt.Sprintf("Python %s gives those of Python %s", version, pyhost.Minor(version))
	if wasProved {
		f.Is += ", as was proved before"
	}
	if minor != "" {
		f.Is += ", which the network of this home names"
	}
	return f
}

// checkWall says what the operating system refuses to programs that got out of the
// interpreter's inside: it starts a host and tries.
func checkWall(pool *pyhost.Pool) finding {
	f := finding{What: "wall"}
	parts, attempts, err := pool.Wall()
	if err != nil {
		f.Is, f.Do = fmt.Sprintf("no host of Python starts: %v", err), "Try another Python of 3.11 or later."
		return f
	}
	var stand, missing, refused, allowed []string
	for _, p := range parts {
		if p.Missing == "" {
			stand = append(stand, p.Name)
		} else {
			missing = append(missing, fmt.Sprintf("%s (%s)", p.Name, p.Missing))
		}
	}
	for _, a := range attempts {
		switch {
		case a.Name == pyhost.Compute && a.End == pyhost.Allowed:
		case a.Name == pyhost.Compute:
			f.Is, f.Do = "programs cannot compute within it", "Try another Python of 3.11 or later."
			return f
		case a.End == pyhost.Allowed:
			allowed = append(allowed, a.Name)
		default:
			refused = append(refused, a.Name)
		}
	}
	f.OK = true
	f.Is = fmt.Sprintf("%s; tried and refused: %s", listWords(stand), listWords(refused))
	if len(missing) > 0 {
		f.Is += "; this system lacks " + listWords(missing)
	}
	if len(allowed) > 0 {
		f.Is += "; NOT refused: " + listWords(allowed)
		f.Do = "Only the interpreter's own wall keeps programs from these: run those of strangers on Linux, or in a container."
	}
	return f
}

func listWords(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// checkPython looks for the interpreter that runs actors. up waits for one that is slow, so that none behind it on the
// PATH stands for it.
func checkPython(ctx context.Context, patience time.Duration) finding {
	f := finding{What: "python", Is: "no python3 of 3.11 or later on the PATH: actors cannot run", Do: "Install it: " + installPython()}
	for _, name := range []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		found, isSlow := pythonAt(ctx, path, patience)
		if found.OK || isSlow {
			return found
		}
		f = found
	}
	return f
}

// aVersion is what an interpreter says of itself.
var aVersion = pattern.CompileOnNeed(`^\d+\.\d+\.\d+$`)

// pythonAt asks an interpreter for its version, and whether it was slow. One that is slow, crashes or prints something
// else is there, and not too old.
func pythonAt(ctx context.Context, path string, patience time.Duration) (f finding, isSlow bool) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(short, path, "-I", "-S", "-c",
		"import sys; print(*sys.version_info[:3], sep='.'); sys.exit(sys.version_info < (3, 11))")
	command.WaitDelay = time.Second // of a program that it left behind
	out, err := command.Output()
	version := strings.TrimSpace(string(out))
	f = finding{What: "python", Do: "Install another, or put one before it on the PATH: " + installPython()}
	switch {
	case short.Err() != nil:
		f.Is = fmt.Sprintf("%s did not answer in %v: the machine may be busy", path, patience)
		f.Do = "Run devnet doctor again when it is less so, or run this by hand: " + path + " --version"
		return f, true
	case !aVersion().MatchString(version):
		f.Is = fmt.Sprintf("%s printed %.40q, and no version", path, version)
		if err != nil {
			f.Is = fmt.Sprintf("%s does not run: %s", path, pyhost.DescribeExit(err))
		}
	case err != nil:
		f.Is, f.Do = fmt.Sprintf("%s is %s: actors need 3.11 or later", path, version), "Install it: "+installPython()
	default:
		return finding{What: "python", OK: true, Is: version + ", " + path}, false
	}
	return f, false
}

// installPython is what to type for a fitting Python.
func installPython() string {
	if runtime.GOOS == "darwin" {
		return "brew install python"
	}
	if _, err := exec.LookPath("apt-get"); err == nil {
		return "sudo apt-get update && sudo apt-get install -y --no-install-recommends python3"
	}
	return "with your system's package manager, so that python3 is on the PATH"
}

// checkPort reports whether up could listen at address. Where the network of the home that
// up would take listens there, nothing is missing.
func checkPort(address, dir string) finding {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		_ = l.Close()
		return finding{What: "http", OK: true, Is: address + " is free"}
	case homeHTTP(dir) == reachableURL(address):
		return finding{What: "http", OK: true, Is: fmt.Sprintf("%s belongs to the devnet that runs on %s", address, dir)}
	case errors.Is(err, syscall.EADDRINUSE):
		return finding{What: "http", Is: address + " is taken: another process listens there",
			Do: "Stop that one (a devnet by: devnet down --home DIR), or start with --http 127.0.0.1:0 for any free port."}
	}
	return finding{What: "http", Is: fmt.Sprintf("cannot listen on %s: %v", address, innermostCause(err)),
		Do: "Give an address of this machine, or --http 127.0.0.1:0 for any free port."}
}

// checkCallers names the origins whose pages may call the API of a home's network. It finds
// nothing if no network runs.
func checkCallers(ctx context.Context, dir string) []finding {
	address := homeHTTP(dir)
	if address == "" {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	ready, err := client.NewAPI(address).Ready(short)
	if err != nil {
		return []finding{{What: "pages", Is: fmt.Sprintf("the devnet at %s does not say whose pages may call it: %v", address, err),
			Do: "Ask it again: devnet status"}}
	}
	if len(ready.Origins) == 0 {
		return []finding{{What: "pages", OK: true, Is: "only the page at http://" + address + " may call the API"}}
	}
	return []finding{{What: "pages", OK: true, Is: originsNotice(ready.Origins, ready.Strict)}}
}

// checkListenable refuses an invalid address.
func checkListenable(address string) error {
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return newUsageError("Give HOST:PORT, like 127.0.0.1:4000; port 0: any.", "--http: invalid address %q: %v", address, innermostCause(err))
	}
	return nil
}

// innermostCause is the innermost error, without what Go puts around it.
func innermostCause(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		err = inner.Unwrap()
	}
}

func checkUDP() finding {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return finding{What: "udp", Is: fmt.Sprintf("no UDP on loopback, which validators speak QUIC over: %v", innermostCause(err)),
			Do: "Allow UDP on 127.0.0.1."}
	}
	defer conn.Close()
	f := finding{What: "udp", OK: true, Is: "loopback works"}
	if data, err := os.ReadFile("/proc/sys/net/core/rmem_max"); err == nil {
		var most int
		if _, err := fmt.Sscan(string(data), &most); err == nil && most < wantUDPBytes {
			f.Is = fmt.Sprintf("loopback works; receive buffers of at most %d KiB", most>>10)
			f.Do = fmt.Sprintf("Full blocks travel faster with: sudo sysctl -w net.core.rmem_max=%d", wantUDPBytes)
		}
	}
	return f
}

func checkDisk(home string) finding {
	dir, err := filepath.Abs(home)
	if err != nil {
		return finding{What: "disk", Is: err.Error()}
	}
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return finding{What: "disk", Is: dir + " is a file, and the home of a network is a folder", Do: "Choose another --home."}
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return finding{What: "disk", Is: fmt.Sprintf("%s: %v", dir, err)}
	}
	free := uint64(s.Bavail) * uint64(s.Bsize)
	f := finding{What: "disk", OK: free >= wantDiskBytes, Is: fmt.Sprintf("%d MiB free at %s", free>>20, dir)}
	if !f.OK {
		f.Do = fmt.Sprintf("Make room for %d MiB, choose another --home, or use --ephemeral.", wantDiskBytes>>20)
	}
	if err := checkWritable(dir); err != nil {
		f.OK = false
		f.Do = fmt.Sprintf("%s cannot be written to (%v): choose another --home.", dir, innermostCause(err))
		if owner := describeOwner(err); owner != "" {
			f.Do += " " + owner
		}
	}
	return f
}

func checkWritable(dir string) error {
	f, err := os.CreateTemp(dir, ".devnet-doctor-*")
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}
