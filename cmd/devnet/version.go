package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/environment/home"
)

// version is the version of this binary, set at link time for a release.
var version = "0.1.0-dev"

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "the version of this binary", Description: "Example: devnet version",
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			if _, err := arguments(c); err != nil {
				return err
			}
			v := struct {
				Version  string `json:"version"`
				Revision string `json:"revision"`
				Format   int    `json:"home_format"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version, revision(), home.Format, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return emit(c, v, func(w io.Writer) {
				fmt.Fprintf(w, "devnet %s", v.Version)
				if v.Revision != "" {
					fmt.Fprintf(w, " (%s)", v.Revision)
				}
				fmt.Fprintf(w, ", home format %d, %s, %s\n", v.Format, v.Go, v.Platform)
			})
		},
	}
}

// revision is the commit the binary was built from, where it says.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return ""
}
