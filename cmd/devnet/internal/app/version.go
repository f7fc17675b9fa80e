package app

import (
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "the version of this binary", Description: "Example: devnet version\nThe same: devnet --version",
		Flags: []cli.Flag{command.JSONFlag},
		Action: command.WithoutArguments(func(c *cli.Context) error {
			v := struct {
				Version  string `json:"version"`
				Revision string `json:"revision"`
				Format   int    `json:"home_format"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{self.Version, self.Revision(), home.Format, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return command.PrintAnswerOrJSON(c, v, func(w io.Writer) {
				fmt.Fprintf(w, "devnet %s", v.Version)
				if v.Revision != "" {
					fmt.Fprintf(w, " (%s)", v.Revision)
				}
				fmt.Fprintf(w, ", home format %d, %s, %s\n", v.Format, v.Go, v.Platform)
			})
		}),
	}
}
