package author

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// ConsoleCommand is the command console.
func ConsoleCommand() *cli.Command {
	return &cli.Command{
		Name: "console", Usage: "a Python prompt on a network, with the verbs of tests",
		Description: "Example: devnet console\nExample: devnet console -c \"alice.balance\"\nExample: devnet console --new --validators 4\n" +
			"Accounts and actors are handles: alice.call(club.join, \"5\"), club.state(), net.advance(blocks=3). help() lists more.\n" +
			"Tab completes; lines are kept in ~/.devnet_history. Ctrl-C ends a wait. Code from a pipe is run as -c runs it.\n" +
			"Exit code 1 when the code of -c fails, 3 when there is no Python.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "c", Usage: "run `CODE` and end; the value of an expression is printed"},
			&cli.BoolFlag{Name: "new", Usage: "on a separate simulated network, which ends with the console"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "the seed `N` of the network of --new"},
			&cli.IntFlag{Name: "validators", Value: 1, Usage: "`N` validators of the network of --new"},
			&cli.IntFlag{Name: "runners", Usage: "`N` runners of the network of --new"},
			&cli.StringFlag{Name: "python", Usage: "the Python `FILE` that runs it (default: the python3 on PATH)"},
			command.HTTPFlag},
		Action: command.WithoutArguments(openConsole),
	}
}

// newOnly are the flags of a network that the console makes.
var newOnly = []string{"seed", "validators", "runners"}

func openConsole(c *cli.Context) error {
	words := []string{"-P", "-B", "-W", "ignore", "-m", "cowboy_sdk.testing.console"}
	if c.Bool("new") {
		options, err := json.Marshal(map[string]any{"seed": c.Uint64("seed"), "validators": c.Int("validators"), "runners": c.Int("runners")})
		if err != nil {
			return err
		}
		words = append(words, "--new", string(options))
	} else {
		for _, flag := range newOnly {
			if c.IsSet(flag) {
				return failure.NewUsage("Add --new, or leave it out.", "--%s is for a network of the console's own", flag)
			}
		}
		n := command.NewClient(c)
		if _, err := n.Accounts(c.Context); err != nil {
			return err
		}
		words = append(words, "--http", n.URL())
	}
	if c.IsSet("c") {
		words = append(words, "-c", c.String("c"))
	}
	code, err := openSDK(c)
	defer code.remove()
	if err != nil {
		return err
	}
	self, err := ownPath()
	if err != nil {
		return err
	}
	command := exec.Command(code.python, words...)
	command.Env = append(os.Environ(), "DEVNET="+self, "PYTHONPATH="+code.folder, "PYTHONUTF8=1")
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, c.App.Writer, c.App.ErrWriter
	return runPrompt(command)
}

// runPrompt runs the prompt. Ctrl-C is for that, which gets it from the terminal as well;
// other signals end it.
func runPrompt(command *exec.Cmd) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := command.Start(); err != nil {
		return failure.NewNoStart("", "the console cannot be run: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = command.Process.Signal(s) // it may be over
			}
		case err := <-ended:
			if _, exited := errors.AsType[*exec.ExitError](err); exited {
				return &failure.Failure{Code: failure.ExitFailed}
			}
			return err
		}
	}
}
