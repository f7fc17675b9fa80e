package self

import (
	"runtime/debug"
	"strings"
)

// Unreleased is the version of a binary that no release made: the next release's number with -dev.
const Unreleased = "0.1.0-dev"

// linked and commit are set by the link of a release; "" in every other binary.
var linked, commit string

// Version is the version of this binary.
var Version = versionOf(linked, buildInfo())

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
	return Unreleased
}

// Revision is the commit that this binary was built from, in twelve digits; "" if it is unknown.
func Revision() string { return revisionOf(commit, buildInfo()) }

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
