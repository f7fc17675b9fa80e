package network

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/neighbours"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// maxPort leaves room for the ports of all validators.
const maxPort = 65535 - setup.MaxValidators

// InitCommand is the command init.
func InitCommand() *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "write genesis, keys and settings of a network with one process per node",
		Description: "Example: devnet init --out net --validators 4 --runners 4\n" +
			"devnet node validator --config net/v0.toml runs one of them, devnet node runner --config\n" +
			"net/r0.toml another. With --format compose, docker-compose up in that folder runs all; with\n" +
			"--format kubernetes, kubectl apply --server-side of its kubernetes.yaml.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "`DIR` for the files, new or empty"},
			&cli.StringFlag{Name: "format", Value: hosts.Processes, Usage: "kind of files to write, by where the nodes run: `KIND` " +
				plural.List(hosts.Formats, "or")},
			&cli.IntFlag{Name: "port", Value: hosts.Port, Usage: "`PORT` of v0 on this machine; the other validators have the next ones"},
			&cli.StringSliceFlag{Name: "host", Usage: fmt.Sprintf("put the validator of `NAME=HOST` or NAME=HOST:PORT on a separate machine "+
				"(default port: %d); may be given again", hosts.Port)},
			&cli.StringFlag{Name: "image", Value: launch.DefaultImage, Usage: "`NAME` of the containers' image"},
			&cli.StringFlag{Name: "namespace", Value: hosts.Namespace, Usage: "`NAME` of the namespace, with --format kubernetes"},
			&cli.BoolFlag{Name: "no-namespace", Usage: "leave the namespace out, which is there already, with --format kubernetes"},
			&cli.StringFlag{Name: "storage-class", Usage: "`NAME` of the class of validators' volumes, with --format kubernetes"},
			&cli.StringFlag{Name: "storage", Value: hosts.DefaultStorage, Usage: "`SIZE` of each of these, as 10Gi"},
			&cli.StringFlag{Name: "pull-secret", Usage: "`NAME` of the secret for the image's registry, with --format kubernetes"},
			&cli.BoolFlag{Name: "monitor", Usage: "add a PodMonitor for the operator of Prometheus, with --format kubernetes"},
			&cli.StringFlag{Name: "python", DefaultText: "this machine's; in containers none",
				Usage: "`VERSION` of Python that genesis names, as 3.11; none: any"},
			&cli.Uint64Flag{Name: "seed", DefaultText: "random", Usage: "`N` from which the keys of the named accounts are made"},
			&cli.BoolFlag{Name: "strict", Usage: "no cheats and no named accounts"},
			&cli.StringSliceFlag{Name: "account", Usage: "fund `ADDRESS` with 1,000,000 CBY; may be given again"},
			&cli.StringSliceFlag{Name: "allow-host", Usage: "`NAME` by which clients may call each API, as --host of up; may be given again"},
			command.JSONFlag,
		}, launch.ChainFlags()...),
		Action: command.WithoutArguments(initNetwork),
	}
}

// initReport is init's report on the network that it made.
type initReport struct {
	Out        string     `json:"out"`
	Genesis    types.Hash `json:"genesis"`
	Seed       *uint64    `json:"seed,omitempty"`
	Validators []string   `json:"validators"`
	Runners    []string   `json:"runners"`
	Warning    string     `json:"warning,omitempty"`
}

func initNetwork(c *cli.Context) error {
	out := c.String("out")
	if out == "" {
		return failure.NewUsage("Name a new folder.", "--out DIR is missing")
	}
	plan, err := planOf(c)
	if err != nil {
		return err
	}
	network, err := hosts.Make(plan)
	if err != nil {
		return failure.NewUsage("", "%v", err)
	}
	var taken *hosts.TakenError
	var large *hosts.LargeError
	if err := network.Write(out); errors.As(err, &taken) {
		return failure.New("Name a new or empty folder: init overwrites no keys.", "--out: %v", taken)
	} else if errors.As(err, &large) {
		return failure.New("Take fewer --runners or --account: others can register and be paid later.", "--format %s: %v", plan.Format, large)
	} else if what := failure.DescribeFolder(out, err); what != "" {
		return failure.New("Name a new or empty folder.", "--out: %s", what)
	} else if err != nil {
		return failure.New("", "--out: %v", err)
	}
	made := initReport{Out: out, Genesis: network.Genesis.Hash(), Seed: plan.Seed, Runners: []string{}}
	for _, v := range network.Validators {
		made.Validators = append(made.Validators, v.Name)
	}
	for _, r := range network.Runners {
		made.Runners = append(made.Runners, r.Name)
	}
	if plan.Format == hosts.Compose { // this machine may run the engine
		if crowded := neighbours.Crowded(len(made.Validators), len(made.Runners)); crowded != nil {
			made.Warning = "if they run on this machine: " + crowded.Error()
		}
	}
	return command.PrintAnswerOrJSON(c, made, func(w io.Writer) { made.printReport(w, plan) })
}

func (m *initReport) printReport(w io.Writer, plan hosts.Plan) {
	seed := ""
	if m.Seed != nil {
		seed = fmt.Sprint(*m.Seed)
	}
	terminal.PrintFacts(w, "network", m.Out, "genesis", m.Genesis.String(), "validators", nodetext.NameRange(m.Validators), "runners",
		nodetext.NameRange(m.Runners), "seed",
		seed)
	if m.Warning != "" {
		fmt.Fprintf(w, "\n%s\n", terminal.Wrap("Warning, "+m.Warning+".", "", terminal.TextColumns))
	}
	switch plan.Format {
	case hosts.Compose:
		fmt.Fprintf(w, "\nStart it:\n  docker-compose -f %s up\n", filepath.Join(m.Out, "compose.yaml"))
		return
	case hosts.Kubernetes:
		fmt.Fprintf(w, "\nStart it, and reach its API on http://127.0.0.1:4000:\n"+
			"  kubectl apply --server-side -f %s\n  kubectl -n %s port-forward service/devnet 4000\n",
			filepath.Join(m.Out, "kubernetes.yaml"), plan.Namespace)
		return
	}
	if len(plan.Hosts) > 0 {
		fmt.Fprintf(w, "\nEach node needs genesis.cbor, its NAME.toml and its NAME.key on its machine, and there UDP and TCP of its port.\n"+
			"Its API signs for the named accounts: any client that reaches it drives the network, so keep others out.\n")
	}
	fmt.Fprintf(w, "\nStart each validator in a separate terminal, then each runner:\n  %s node validator --config %s\n", self.ProgramName(),
		filepath.Join(m.Out, m.Validators[0]+".toml"))
	if len(m.Runners) > 0 {
		fmt.Fprintf(w, "  %s node runner --config %s\n", self.ProgramName(), filepath.Join(m.Out, m.Runners[0]+".toml"))
	}
}

// noPython is the value of --python under which genesis names no version.
const noPython = "none"

// minorOf is the minor version of Python that a new genesis names. The Python of containers
// comes from their image, which is not asked.
func minorOf(asked, format string) (string, error) {
	switch {
	case asked == noPython:
		return "", nil
	case asked != "":
		var minor uint
		if _, err := fmt.Sscanf(asked, "3.%d", &minor); err != nil || asked != fmt.Sprintf("3.%d", minor) || minor < pyhost.MinMinor {
			return "", failure.NewUsage("Name a minor version, as 3.11, or none.",
				"--python: want a minor version of Python from 3.%d on, got %.20q", pyhost.MinMinor, asked)
		}
		return asked, nil
	case format != hosts.Processes:
		return "", nil
	}
	pool := pyhost.New(pyhost.Config{})
	defer pool.Close()
	version, err := pool.Probe()
	if err != nil {
		return "", nil // a network without Python runs all the same
	}
	return pyhost.Minor(version), nil
}

// planOf judges what init was asked for.
func planOf(c *cli.Context) (p hosts.Plan, err error) {
	p = hosts.Plan{Format: c.String("format"), Port: c.Int("port"), Image: c.String("image"), Namespace: c.String("namespace"),
		Now: time.Now()}
	if p.Chain, err = launch.ReadChain(c, c.Bool("strict")); err != nil {
		return p, err
	}
	if !slices.Contains(hosts.Formats, p.Format) {
		return p, failure.NewUsage("The formats are "+plural.List(hosts.Formats, "or")+".", "--format: there is no format %q", p.Format)
	}
	if p.Port < 1 || p.Port > maxPort {
		return p, failure.NewUsage("", "--port: %d is not between 1 and %d", p.Port, maxPort)
	}
	if p.Image == "" || strings.ContainsFunc(p.Image, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' || r == '$' }) {
		return p, failure.NewUsage("", "--image: invalid image name %q", p.Image)
	}
	if err := checkNamespace(c, p); err != nil {
		return p, err
	}
	if p.Cluster, err = clusterOf(c, p.Format); err != nil {
		return p, err
	}
	if p.Chain.Minor, err = minorOf(c.String("python"), p.Format); err != nil {
		return p, err
	}
	if p.Hosts, err = hostsOf(c.StringSlice("host")); err != nil {
		return p, err
	}
	p.Names = listen.ReadList(c, "allow-host", nil)
	if err := listen.ReadHosts("--allow-host", p.Names); err != nil {
		return p, err
	}
	for _, text := range c.StringSlice("account") {
		address, err := types.ParseAddress(text)
		if err != nil {
			return p, failure.NewUsage("", "--account: %v", err)
		}
		p.Funds = append(p.Funds, address)
	}
	return p, seedOf(c, &p)
}

// namespaceName matches the name of a namespace: a label of RFC 1123.
var namespaceName = pattern.CompileOnNeed(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func checkNamespace(c *cli.Context, p hosts.Plan) error {
	switch {
	case p.Format != hosts.Kubernetes && c.IsSet("namespace"):
		return failure.NewUsage("Leave it out, or give --format kubernetes.", "--namespace: the format %s has none", p.Format)
	case !namespaceName().MatchString(p.Namespace):
		return failure.NewUsage("Give a name like "+hosts.Namespace+".",
			"--namespace: want 1 to 63 lower-case letters, digits and inner hyphens, got %.80q",
			p.Namespace)
	}
	return nil
}

// storageSize matches a size that Kubernetes takes for a volume: a whole number, and a unit.
var storageSize = pattern.CompileOnNeed(`^[1-9][0-9]{0,5}(Mi|Gi|Ti|M|G|T)$`)

// clusterFlags are those of --format kubernetes alone.
var clusterFlags = []string{"no-namespace", "storage-class", "storage", "pull-secret", "monitor"}

// clusterOf judges what is said of a cluster.
func clusterOf(c *cli.Context, format string) (hosts.Cluster, error) {
	all := hosts.Cluster{NoNamespace: c.Bool("no-namespace"), StorageClass: c.String("storage-class"), Storage: c.String("storage"),
		PullSecret: c.String("pull-secret"), Monitor: c.Bool("monitor")}
	for _, flag := range clusterFlags {
		if format != hosts.Kubernetes && c.IsSet(flag) {
			return all, failure.NewUsage("Leave it out, or give --format kubernetes.", "--%s: the format %s has none", flag, format)
		}
	}
	for flag, name := range map[string]string{"storage-class": all.StorageClass, "pull-secret": all.PullSecret} {
		if c.IsSet(flag) && !objectName().MatchString(name) {
			return all, failure.NewUsage("kubectl get storageclass and kubectl get secret list them.",
				"--%s: want a name of lower-case letters, digits, hyphens and dots, got %.80q", flag, name)
		}
	}
	if !storageSize().MatchString(all.Storage) {
		return all, failure.NewUsage("Give a size like 10Gi.", "--storage: want a number and Mi, Gi or Ti, got %.80q", all.Storage)
	}
	return all, nil
}

// objectName matches the name of an object of Kubernetes: a domain name of RFC 1123.
var objectName = pattern.CompileOnNeed(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// hostsOf reads the addresses of validators on separate machines.
func hostsOf(given []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range given {
		name, at, is := strings.Cut(text, "=")
		if !is || name == "" || at == "" {
			return nil, failure.NewUsage("Give a validator and its machine, like v0=v0.example.org.", "--host: %s is not NAME=HOST",
				strconv.Quote(text))
		}
		if _, twice := all[name]; twice {
			return nil, failure.NewUsage("", "--host: %s is given twice", name)
		}
		if _, _, err := net.SplitHostPort(at); err != nil {
			at = net.JoinHostPort(strings.Trim(at, "[]"), strconv.Itoa(hosts.Port))
		}
		all[name] = at
	}
	return all, nil
}

// seedOf settles the signer for the named accounts: none in a strict network.
func seedOf(c *cli.Context, p *hosts.Plan) error {
	switch {
	case p.Chain.Strict && c.IsSet("seed"):
		return failure.NewConflict("--strict has no named accounts, whose keys --seed is for")
	case p.Chain.Strict && len(p.Funds) == 0:
		return failure.NewUsage("Fund an address whose key you have.", "--strict has no named accounts: --account ADDRESS is missing")
	case p.Chain.Strict:
		return nil
	}
	seed := rand.Uint64()
	if c.IsSet("seed") {
		seed = c.Uint64("seed")
	}
	p.Seed = &seed
	return nil
}
