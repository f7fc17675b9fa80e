package settings

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/cassette"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/executor/ethsend"
	"github.com/cowboyinc/devnet/internal/environment/executor/httpjob"
	"github.com/cowboyinc/devnet/internal/environment/executor/llm"
	"github.com/cowboyinc/devnet/internal/environment/executor/mcpjob"
	"github.com/cowboyinc/devnet/internal/environment/executor/process"
)

// manualName is how jobs name the executor that people answer.
const manualName = "manual"

// kindTables are the tables of the kinds of jobs.
type kindTables struct {
	Custom  *customTable  `toml:"custom"`
	HTTP    *httpTable    `toml:"http"`
	LLM     *llmTable     `toml:"llm"`
	MCP     *mcpTable     `toml:"mcp"`
	EthSend *ethsendTable `toml:"ethsend"`
}

type customTable struct {
	Executors *[]string                `toml:"executors"` // of the built-in ones; absent: all
	Python    string                   `toml:"python"`
	Unwalled  bool                     `toml:"unwalled"`
	Functions map[string]functionTable `toml:"functions"`
	Commands  map[string]commandTable  `toml:"commands"`
	Worker    *workerTable             `toml:"worker"`
}

// Limits of memory_mb, in MiB. Below the minimum of a worker program hardly any interpreter
// starts.
const (
	minWorkerMB     = 16
	defaultWorkerMB = 1024
	maxProgramMB    = executor.MaxMemory >> 20
)

type workerTable struct {
	Argv      []string `toml:"argv"`
	Env       []string `toml:"env"`
	Executors []string `toml:"executors"`
	MemoryMB  int      `toml:"memory_mb"` // 0: defaultWorkerMB
}

type functionTable struct {
	File string `toml:"file"`
	Hash string `toml:"hash"` // keccak256 of the file; "" for any
}

type commandTable struct {
	Argv     []string `toml:"argv"`
	Env      []string `toml:"env"`
	MemoryMB int      `toml:"memory_mb"` // 0: process.NeedsMB
}

type httpTable struct {
	Domains   []string `toml:"domains"`
	Addresses []string `toml:"addresses"`
	Headers   []string `toml:"headers"`
	Cassette  string   `toml:"cassette"`
	Mode      string   `toml:"mode"`
}

type llmTable struct {
	Default  string                `toml:"default"`
	Models   map[string]modelTable `toml:"models"`
	Cassette string                `toml:"cassette"`
	Mode     string                `toml:"mode"`
}

type modelTable struct {
	Endpoint    string `toml:"endpoint"`
	Name        string `toml:"name"`
	KeyFile     string `toml:"key_file"`
	KeyEnv      string `toml:"key_env"`
	TokensField string `toml:"tokens_field"`
	Temperature *bool  `toml:"temperature"` // false: the request has none
}

type mcpTable struct {
	Servers map[string]serverTable `toml:"servers"`
}

type serverTable struct {
	Argv    []string          `toml:"argv"`
	Env     []string          `toml:"env"`
	URL     string            `toml:"url"`
	Headers map[string]string `toml:"headers"`
	Tools   []string          `toml:"tools"`

	MemoryMB int `toml:"memory_mb"` // 0: process.NeedsMB
}

type ethsendTable struct {
	Chains map[string]chainTable `toml:"chains"`
}

type chainTable struct {
	Endpoint string `toml:"endpoint"`
	Receipt  bool   `toml:"receipt"`
}

// openKinds opens the kinds that have tables. A runner without any is refused.
func (o *opener) openKinds() (map[push.JobKind]executor.Kind, error) {
	all := map[push.JobKind]executor.Kind{}
	for _, each := range []struct {
		kind  push.JobKind
		there bool
		open  func() (executor.Kind, error)
	}{
		{push.JobCustom, o.file.Custom != nil, o.openCustom},
		{push.JobHTTP, o.file.HTTP != nil, o.openHTTP},
		{push.JobLLM, o.file.LLM != nil, o.openLLM},
		{push.JobMCP, o.file.MCP != nil, o.openMCP},
		{push.JobEthSend, o.file.EthSend != nil, o.openEthSend},
	} {
		if !each.there {
			continue
		}
		kind, err := each.open()
		if err != nil {
			return nil, err
		}
		all[each.kind] = kind
	}
	if len(all) == 0 {
		tables := push.JobKinds()
		for i, kind := range tables {
			tables[i] = "[" + kind + "]"
		}
		return nil, o.Fault("it has no executor: add a table " + plural.List(tables, "or"))
	}
	return all, nil
}

func (o *opener) openCustom() (executor.Kind, error) {
	table := o.file.Custom
	builtIn := map[string]custom.Executor{"echo": custom.Echo, "sha256": custom.Sha256, manualName: custom.NewManual()}
	if o.manual != nil {
		builtIn[manualName] = o.manual
	}
	offered := maps.Clone(builtIn)
	if table.Executors != nil {
		clear(offered)
		for _, name := range *table.Executors {
			does, there := builtIn[name]
			if !there {
				return nil, o.Fault(fmt.Sprintf("%.40q is none of echo, sha256 and manual", name), "custom", "executors")
			}
			offered[name] = does
		}
	}
	if m, there := offered[manualName]; there {
		o.manual = m.(*custom.Manual)
	}
	for _, name := range slices.Sorted(maps.Keys(table.Functions)) {
		does, err := o.openFunction(table.Functions[name])
		if err != nil {
			return nil, o.Fault(err.Error(), "custom", "functions", name)
		}
		if offered[name] != nil {
			return nil, o.Fault("there is an executor of this name", "custom", "functions", name)
		}
		offered[name] = does
	}
	for _, name := range slices.Sorted(maps.Keys(table.Commands)) {
		if err := o.checkEnvironment(table.Commands[name].Env, "custom", "commands", name); err != nil {
			return nil, err
		}
		needs, err := o.needsMB(table.Commands[name].MemoryMB, "custom", "commands", name)
		if err != nil {
			return nil, err
		}
		does, err := custom.Command(table.Commands[name].Argv, table.Commands[name].Env, needs)
		if err != nil {
			return nil, o.Fault(err.Error(), "custom", "commands", name)
		}
		if offered[name] != nil {
			return nil, o.Fault("there is an executor of this name", "custom", "commands", name)
		}
		offered[name] = does
	}
	if err := o.addWorker(offered); err != nil {
		return nil, err
	}
	does := custom.New(offered)
	if table.Executors != nil || len(table.Functions)+len(table.Commands) > 0 || o.worker != nil {
		does.Named(slices.Sorted(maps.Keys(offered)))
	}
	return does, nil
}

// needsMB returns the memory that a program needs, by memory_mb of its table, in MiB.
func (o *opener) needsMB(said int, table ...string) (uint64, error) {
	if said == 0 {
		return process.NeedsMB, nil
	}
	if said < 1 || said > maxProgramMB {
		return 0, o.Fault(fmt.Sprintf("%d is not between 1 and %d MiB", said, maxProgramMB), append(table, "memory_mb")...)
	}
	return uint64(said), nil
}

// addWorker adds the executors of the worker program, if there is one.
func (o *opener) addWorker(offered map[string]custom.Executor) (err error) {
	table := o.file.Custom.Worker
	if table == nil {
		return nil
	}
	memory := table.MemoryMB
	if memory == 0 {
		memory = defaultWorkerMB
	}
	if memory < minWorkerMB || memory > maxProgramMB {
		return o.Fault(fmt.Sprintf("%d is not between %d and %d MiB", memory, minWorkerMB, maxProgramMB), "custom", "worker", "memory_mb")
	}
	if err := o.checkEnvironment(table.Env, "custom", "worker"); err != nil {
		return err
	}
	o.worker, err = custom.NewWorker(custom.WorkerConfig{Argv: table.Argv, Env: table.Env, Executors: table.Executors,
		Memory: uint64(memory) << 20})
	if err != nil {
		return o.Fault(err.Error(), "custom", "worker")
	}
	for name, does := range o.worker.Executors() { // order: one wrong name is as good as another
		if offered[name] != nil {
			return o.Fault(fmt.Sprintf("there is an executor of the name %.40q", name), "custom", "worker", "executors")
		}
		offered[name] = does
	}
	return nil
}

// checkEnvironment refuses an entry of a program's environment that is not NAME=VALUE.
func (o *opener) checkEnvironment(env []string, table ...string) error {
	for _, entry := range env {
		if name, _, sets := strings.Cut(entry, "="); !sets || name == "" {
			return o.Fault(fmt.Sprintf("%.40q sets no variable: want NAME=VALUE", name), append(table, "env")...)
		}
	}
	return nil
}

func (o *opener) openFunction(f functionTable) (custom.Executor, error) {
	source, err := os.ReadFile(o.Beside(f.File))
	if err != nil {
		return nil, err
	}
	if is := types.Keccak(source).String(); f.Hash != "" && !strings.EqualFold(f.Hash, is) {
		return nil, fmt.Errorf("the keccak256 of %s is %s, and not hash", f.File, is)
	}
	return custom.Python(o.file.Custom.Python, source, o.file.Custom.Unwalled)
}

func (o *opener) openHTTP() (executor.Kind, error) {
	table := o.file.HTTP
	config := httpjob.Config{Domains: table.Domains}
	if len(table.Domains) == 0 {
		return nil, o.Fault(`name the domains that jobs may go to, or "*" for all`, "http", "domains")
	}
	if !slices.ContainsFunc(table.Domains, func(d string) bool { return !strings.HasPrefix(d, "*.") }) {
		return nil, o.Fault(`a draw compares hosts letter by letter, so *.NAME matches no job: also name hosts, `+
			`or "*" for all`, "http", "domains")
	}
	for _, text := range table.Addresses {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, o.Fault(fmt.Sprintf("invalid range of addresses %.40q: want one like 127.0.0.0/8", text), "http", "addresses")
		}
		config.Addresses = append(config.Addresses, prefix)
	}
	for _, name := range table.Headers {
		config.Headers = append(config.Headers, strings.ToLower(name))
	}
	var err error
	if config.Cassette, err = o.openCassette(table.Cassette, table.Mode, "http"); err != nil {
		return nil, err
	}
	kind, err := httpjob.New(config)
	if header := (*httpjob.HeaderError)(nil); errors.As(err, &header) {
		return nil, o.Fault(err.Error(), "http", "headers")
	}
	if err != nil {
		return nil, o.Fault(err.Error(), "http", "domains")
	}
	return kind, nil
}

// openCassette opens the cassette of a table, nil where it names none.
func (o *opener) openCassette(path, mode, table string) (*cassette.Cassette, error) {
	if path == "" && mode == "" {
		return nil, nil
	}
	if path == "" {
		return nil, o.Fault("mode applies to a cassette: name it with cassette", table, "mode")
	}
	c, err := cassette.Open(o.Beside(path), cassette.Mode(mode))
	if unknown := (*cassette.ModeError)(nil); errors.As(err, &unknown) {
		return nil, o.Fault(err.Error(), table, "mode")
	}
	if err != nil {
		return nil, o.Fault(err.Error(), table, "cassette")
	}
	return c, nil
}

func (o *opener) openLLM() (executor.Kind, error) {
	table := o.file.LLM
	config := llm.Config{Models: map[string]llm.Model{llm.Offline: {}}, Default: table.Default}
	for _, name := range slices.Sorted(maps.Keys(table.Models)) {
		m := table.Models[name]
		key, err := o.readSecret(m)
		if err == nil && m.Endpoint == "" {
			err = fmt.Errorf("no endpoint: a model needs one; only %s is built in", llm.Offline)
		}
		if err != nil {
			return nil, o.Fault(err.Error(), "llm", "models", name)
		}
		if m.Name == "" {
			m.Name = name
		}
		config.Models[name] = llm.Model{Endpoint: m.Endpoint, Key: key, Name: m.Name, TokensField: m.TokensField,
			Cool: m.Temperature != nil && !*m.Temperature}
	}
	var err error
	if config.Cassette, err = o.openCassette(table.Cassette, table.Mode, "llm"); err != nil {
		return nil, err
	}
	kind, err := llm.New(config)
	if err != nil {
		return nil, o.Fault(err.Error(), "llm")
	}
	return kind, nil
}

// readSecret reads the key of a model's endpoint: from a file, or a variable of the
// environment, so that no configuration has to hold it.
func (o *opener) readSecret(m modelTable) (string, error) {
	switch {
	case m.KeyFile != "" && m.KeyEnv != "":
		return "", fmt.Errorf("give key_file or key_env, not both")
	case m.KeyFile != "":
		text, err := os.ReadFile(o.Beside(m.KeyFile))
		return strings.TrimSpace(string(text)), err
	case m.KeyEnv != "":
		key, there := os.LookupEnv(m.KeyEnv)
		if !there {
			return "", fmt.Errorf("the variable %s is not in the environment", m.KeyEnv)
		}
		return key, nil
	}
	return "", nil
}

func (o *opener) openMCP() (executor.Kind, error) {
	servers := map[string]mcpjob.Server{}
	for _, name := range slices.Sorted(maps.Keys(o.file.MCP.Servers)) {
		s := o.file.MCP.Servers[name]
		if err := o.checkEnvironment(s.Env, "mcp", "servers", name); err != nil {
			return nil, err
		}
		if s.URL != "" && s.MemoryMB != 0 {
			return nil, o.Fault("memory_mb is of a program: leave it out beside url", "mcp", "servers", name, "memory_mb")
		}
		needs, err := o.needsMB(s.MemoryMB, "mcp", "servers", name)
		if err != nil {
			return nil, err
		}
		if s.URL != "" {
			needs = 0
		}
		servers[name] = mcpjob.Server{Argv: s.Argv, Env: s.Env, URL: s.URL, Headers: s.Headers, Tools: s.Tools, NeedsMB: needs}
	}
	if len(servers) == 0 {
		return nil, o.Fault("name a server, in a table [mcp.servers.NAME]", "mcp")
	}
	kind, err := mcpjob.New(servers)
	if server := (*mcpjob.ServerError)(nil); errors.As(err, &server) {
		return nil, o.Fault(server.Why, "mcp", "servers", server.Server, server.Setting)
	}
	if err != nil {
		return nil, o.Fault(err.Error(), "mcp")
	}
	return kind, nil
}

func (o *opener) openEthSend() (executor.Kind, error) {
	chains := map[uint64]ethsend.Chain{}
	for name, c := range o.file.EthSend.Chains {
		id, err := strconv.ParseUint(name, 10, 64)
		if err != nil || id == 0 { // EIP-155 has no chain 0, and no job may name it
			return nil, o.Fault("a chain is named by its id, a number from 1 on", "ethsend", "chains", name)
		}
		chains[id] = ethsend.Chain{Endpoint: c.Endpoint, Receipt: c.Receipt}
	}
	if len(chains) == 0 {
		return nil, o.Fault("name a chain, in a table [ethsend.chains.ID]", "ethsend")
	}
	kind, err := ethsend.New(chains)
	if endpoint := (*ethsend.EndpointError)(nil); errors.As(err, &endpoint) {
		return nil, o.Fault(err.Error(), "ethsend", "chains", strconv.FormatUint(endpoint.Chain, 10), "endpoint")
	}
	if err != nil {
		return nil, o.Fault(err.Error(), "ethsend")
	}
	return kind, nil
}
