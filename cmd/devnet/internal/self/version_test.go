package self

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsTheReleasesOrTheModulesOrThatOfSources(t *testing.T) {
	module := &debug.BuildInfo{Main: debug.Module{Version: "v0.2.0", Sum: "h1:abc="}}
	clone := &debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261126000000-c5841103abcd+dirty"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "c5841103abcdef0123456789"}}}
	for _, c := range []struct {
		name, linked, commit string
		info                 *debug.BuildInfo
		version, revision    string
	}{
		{"a release", "0.3.0", "0123456789abcdef", clone, "0.3.0", "0123456789ab"},
		{"go install of a version", "", "", module, "0.2.0", ""},
		{"a build in a clone", "", "", clone, Unreleased, "c5841103abcd"},
		{"a build without modules", "", "", nil, Unreleased, ""},
	} {
		if got := versionOf(c.linked, c.info); got != c.version {
			t.Errorf("%s: version %q, want %q", c.name, got, c.version)
		}
		if got := revisionOf(c.commit, c.info); got != c.revision {
			t.Errorf("%s: revision %q, want %q", c.name, got, c.revision)
		}
	}
}
