package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/environment/home"
)

// unreleased is the version of a binary that no release made: the next release's number with -dev.
const unreleased = "0.1.0-dev"

// linked and commit are set by the link of a release; "" in every other binary.
var linked, commit string

// version is the version of this binary.
var version = versionOf(linked, buildInfo())

// versionOf takes the version that a release linked, or the one that go install chose.
// The checksum of the main module shows that it came as a module: a build in a clone has
// a version of its own making there, and no checksum.
func versionOf(linked string, info *debug.BuildInfo) string {
	switch {
	case linked != "":
		return linked
	case info != nil && info.Main.Sum != "":
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return unreleased
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "the version of this binary", Description: "Example: devnet version\nThe same: devnet --version",
		Flags: []cli.Flag{jsonFlag},
		Action: takingNothing(func(c *cli.Context) error {
			v := struct {
				Version  string `json:"version"`
				Revision string `json:"revision"`
				Format   int    `json:"home_format"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{version, binaryRevision(), home.Format, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return printAnswerOrJSON(c, v, func(w io.Writer) {
				fmt.Fprintf(w, "devnet %s", v.Version)
				if v.Revision != "" {
					fmt.Fprintf(w, " (%s)", v.Revision)
				}
				fmt.Fprintf(w, ", home format %d, %s, %s\n", v.Format, v.Go, v.Platform)
			})
		}),
	}
}

// binaryRevision is the commit that this binary was built from, in twelve digits; "" if it is unknown.
func binaryRevision() string { return revisionOf(commit, buildInfo()) }

// buildInfo is what the toolchain wrote into this binary; nil without modules.
func buildInfo() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return info
}

// revisionOf is the commit the binary was built from, in twelve digits: the one that a
// release linked, or the toolchain's; "" if neither is known.
func revisionOf(commit string, info *debug.BuildInfo) string {
	if commit == "" && info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	return commit[:min(12, len(commit))]
}
