// Package settings reads a runner's configuration, a TOML file, and opens the
// executors that it names. docs/RUNNERS.md has every setting.
//
// What is wrong is refused with file, line and setting, before anything is opened;
// a setting that there is not, with the nearest that there is.
package settings

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/executor/llm"
)

// Limits of a configuration.
const (
	MaxFile = 1 << 20 // bytes
	// MaxJobs bounds max_concurrent_jobs: each may be a process and a connection.
	MaxJobs     = 1024
	DefaultJobs = 4
)

// file is the configuration as it is written.
type file struct {
	Name         string   `toml:"name"`
	Key          string   `toml:"key"`
	KeyFile      string   `toml:"key_file"`
	API          string   `toml:"api"`
	Jobs         int      `toml:"max_concurrent_jobs"`
	MaxWall      string   `toml:"max_wall_time"`
	Entitlements []string `toml:"entitlements"`

	Custom  *customTable  `toml:"custom"`
	HTTP    *httpTable    `toml:"http"`
	LLM     *llmTable     `toml:"llm"`
	MCP     *mcpTable     `toml:"mcp"`
	EthSend *ethsendTable `toml:"ethsend"`
}

// Runner is a runner as its configuration has it.
type Runner struct {
	Name     string
	Key      *crypto.Key
	API      string // the URL of a devnet's HTTP API
	Jobs     int    // that it does at once
	Executor *executor.Set
	Manual   *custom.Manual // nil where it has no executor manual
}

// Error is what is wrong with a configuration.
type Error struct {
	File   string
	Line   int    // from 1; 0: none in particular
	Key    string // with points between tables; "" for none
	Detail string
}

func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Key != "" {
		text += ", " + e.Key
	}
	return text + ": " + e.Detail
}

// Open reads a configuration and opens its executors. The files that it names are
// looked for beside it. Its errors are *Error, but for a file that cannot be read.
func Open(path string) (*Runner, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > MaxFile {
		return nil, &Error{File: path, Detail: fmt.Sprintf("it has %d bytes, at most %d", info.Size(), MaxFile)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	o := &opener{path: path, text: string(text)}
	meta, err := toml.Decode(o.text, &o.file)
	if bad := (toml.ParseError{}); errors.As(err, &bad) {
		return nil, &Error{File: path, Line: bad.Position.Line, Key: bad.LastKey, Detail: bad.Message}
	}
	if err != nil {
		return nil, o.mistyped(err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, o.fault(nearest(unknown[0]), unknown[0]...)
	}
	return o.open()
}

// typeError is how the decoder says that a value is of another type than its
// setting's: a text, unlike what it says of a file that is no TOML.
var typeError = regexp.MustCompile(`^toml: line (\d+) \(last key "(.*)"\): (.*)$`)

func (o *opener) mistyped(err error) *Error {
	wrong := &Error{File: o.path, Detail: strings.TrimPrefix(err.Error(), "toml: ")}
	if parts := typeError.FindStringSubmatch(err.Error()); parts != nil {
		wrong.Line, _ = strconv.Atoi(parts[1])
		wrong.Key, wrong.Detail = parts[2], parts[3]
	}
	return wrong
}

// Own is the executor of a runner that a devnet starts by itself: what needs neither
// network nor files. Its offline model answers for every model.
func Own() (*executor.Set, *custom.Manual) {
	manual := custom.NewManual()
	language, err := llm.New(llm.Config{Models: map[string]llm.Model{llm.Offline: {}}, Default: llm.Offline})
	if err != nil {
		panic("settings: " + err.Error())
	}
	customs := custom.New(map[string]custom.Executor{"echo": custom.Echo, "sha256": custom.Sha256, manualName: manual})
	return executor.New(executor.Config{Kinds: map[types.JobKind]executor.Kind{types.JobCustom: customs, types.JobLLM: language}}), manual
}

// opener opens what a file names.
type opener struct {
	path, text string
	file       file
	manual     *custom.Manual
}

// fault says what is wrong with the setting of a key.
func (o *opener) fault(detail string, key ...string) *Error {
	return &Error{File: o.path, Line: lineOf(o.text, key), Key: toml.Key(key).String(), Detail: detail}
}

func (o *opener) open() (*Runner, error) {
	r := &Runner{Name: o.file.Name, API: o.file.API, Jobs: o.file.Jobs}
	if r.Name == "" {
		return nil, o.fault("a runner has a name, by which logs know it", "name")
	}
	if r.Jobs == 0 {
		r.Jobs = DefaultJobs
	}
	if r.Jobs < 1 || r.Jobs > MaxJobs {
		return nil, o.fault(fmt.Sprintf("%d is not between 1 and %d", r.Jobs, MaxJobs), "max_concurrent_jobs")
	}
	if u, err := url.Parse(r.API); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, o.fault(fmt.Sprintf("%.80q is no URL of a devnet's HTTP API, as http://127.0.0.1:4000 is", r.API), "api")
	}
	var err error
	if r.Key, err = o.key(); err != nil {
		return nil, err
	}
	config := executor.Config{Entitlements: o.file.Entitlements}
	if text := o.file.MaxWall; text != "" {
		if config.MaxWall, err = time.ParseDuration(text); err != nil || config.MaxWall < time.Second || config.MaxWall > executor.MaxWall {
			return nil, o.fault(fmt.Sprintf("%.40q is no time from 1s to %v", text, executor.MaxWall), "max_wall_time")
		}
	}
	if config.Kinds, err = o.kinds(); err != nil {
		return nil, err
	}
	r.Executor, r.Manual = executor.New(config), o.manual
	return r, nil
}

// key reads the runner's secret, from the file itself or from one beside it.
func (o *opener) key() (*crypto.Key, error) {
	text, name := o.file.Key, "key"
	if o.file.KeyFile != "" {
		if text != "" {
			return nil, o.fault("give key or key_file, not both", "key_file")
		}
		name = "key_file"
		held, err := os.ReadFile(o.beside(o.file.KeyFile))
		if err != nil {
			return nil, o.fault(err.Error(), name)
		}
		text = strings.TrimSpace(string(held))
	}
	digits, prefixed := strings.CutPrefix(text, "0x")
	secret, err := hex.DecodeString(digits)
	if !prefixed || err != nil || len(secret) != 32 {
		return nil, o.fault("a key is 0x and 64 hexadecimal digits", name)
	}
	key, err := crypto.NewKey([32]byte(secret))
	if err != nil {
		return nil, o.fault(err.Error(), name)
	}
	return key, nil
}

// beside is the path of a file that the configuration names.
func (o *opener) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(o.path), name)
}
