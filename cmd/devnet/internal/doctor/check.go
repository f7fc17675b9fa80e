package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/audit"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// CheckCommand is the command check.
func CheckCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "audit a home: executes every block again, checks certificates, votes, roots, supply", ArgsUsage: "[HOME]",
		Description: "Example: devnet check .devnet\nThe network must not run. Where older blocks were dropped (up --history), the others are " +
			"not executed. Exit code 1 when something is wrong.",
		Flags:  []cli.Flag{command.JSONFlag},
		Action: command.WithArguments(checkHome),
	}
}

func checkHome(c *cli.Context, args []string) error {
	dir := cmp.Or(args[0], command.DefaultHome)
	report, err := auditOf(dir, auditProgress(c.App.ErrWriter))
	if err != nil {
		if inUse, is := errors.AsType[*home.InUseError](err); is {
			return failure.New("Stop the network first: devnet down"+command.HomeFlag(dir)+", or Ctrl-C where it runs in a terminal.",
				"%s is in use by process %d, and changes while it is audited", dir, inUse.PID)
		}
		return failure.New("", "cannot audit: %v", err)
	}
	report.Advise(remedyCommands(dir))
	problems := 0
	err = command.PrintAnswerOrJSON(c, report, func(w io.Writer) {
		terminal.PrintTable(w, "The home holds no nodes.", "NODE HEIGHT BLOCKS_EXECUTED VOTES RESULT",
			terminal.RowsOf(report.Nodes, func(n *audit.NodeReport) []string {
				verdict := "clean"
				if len(n.Problems) > 0 {
					verdict = "PROBLEMS"
				}
				return []string{n.Name, terminal.Height(n.Height), strconv.Itoa(n.Blocks), strconv.Itoa(n.Votes), verdict}
			}))
		for _, n := range report.Nodes {
			if n.From > 1 {
				fmt.Fprintf(w, "%s: kept from height %s on (--history): links, certificates, the last state's root, supply and votes are checked, "+
					"no block is executed\n", n.Name, terminal.Height(n.From))
			}
			for _, p := range n.Problems {
				fmt.Fprintf(w, "%s: %s\n", n.Name, p)
			}
		}
		if report.Lost != "" {
			fmt.Fprintln(w, terminal.Wrap(report.Lost, "", terminal.TextColumns))
		}
		if len(report.Remedy) > 0 {
			fmt.Fprintln(w, "To fix it, type:")
		}
		for _, command := range report.Remedy {
			fmt.Fprintf(w, "  %s\n", command)
		}
	})
	for _, n := range report.Nodes {
		problems += len(n.Problems)
	}
	if report.Lost != "" {
		problems++
	}
	if err == nil && !report.Clean() {
		return failure.New("", "the audit of %s found %s", dir, plural.Of(problems, "problem"))
	}
	return err
}

// remedyCommands are the commands that start a home again, and whether it belongs to one validator,
// whose peers are elsewhere.
func remedyCommands(dir string) (c audit.Commands, alone bool) {
	up := "devnet up"
	meta, err := home.ReadMeta(dir)
	if err == nil && meta.Apart {
		up += " --processes"
	}
	c = audit.Commands{Up: up + command.HomeFlag(dir), Reset: up + command.HomeFlag(dir) + " --reset", Quote: self.ShellQuote}
	if saved, wrong := home.Snapshots(dir); wrong == nil && len(saved) > 0 {
		latest := slices.MaxFunc(saved, func(a, b home.Snapshot) int { return a.Saved.Compare(b.Saved) })
		c.Snapshot = "devnet snapshot load " + latest.Name + command.HomeFlag(dir)
	}
	alone = err == nil && meta.Node != ""
	if alone {
		c.Up, c.Reset = "devnet node validator --config "+meta.Node+".toml", "devnet init --out NEW"
	}
	return c, alone
}

// auditOf audits a home; for a network with one process per node, each validator's
// home.
func auditOf(dir string, progress func(string, types.Height, types.Height)) (*audit.Report, error) {
	meta, err := home.ReadMeta(dir)
	if err == nil {
		err = meta.CheckFormat(dir, self.Version)
	}
	if errors.As(err, new(*home.IncompatibleError)) {
		return nil, err
	}
	if err != nil || !meta.Apart {
		return audit.Home(dir, "", progress)
	}
	if pid, running := home.User(dir); running {
		return nil, &home.InUseError{Dir: dir, PID: pid}
	}
	folder, err := hosts.Read(home.NetDir(dir))
	if err != nil {
		return nil, err
	}
	all := &audit.Report{}
	for _, name := range folder.Validators {
		set, err := hosts.Open(hosts.SettingsFile(home.NetDir(dir), name))
		if err != nil {
			return nil, err
		}
		report, err := audit.Home(set.Home, "", progress)
		if err != nil {
			return nil, err
		}
		all.Join(report)
	}
	all.Together()
	return all, nil
}

// auditProgress shows where the audit is, on a terminal; in a pipe it is quiet.
func auditProgress(stderr io.Writer) func(string, types.Height, types.Height) {
	if !terminal.IsTerminal(stderr) {
		return nil
	}
	return func(node string, at, tip types.Height) {
		if at%64 == 0 || at == tip {
			fmt.Fprintf(stderr, "\r\x1b[K%s: block %d of %d", node, at, tip)
		}
		if at == tip {
			fmt.Fprint(stderr, "\r\x1b[K")
		}
	}
}
