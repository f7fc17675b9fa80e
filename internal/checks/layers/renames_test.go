package layers

import (
	"regexp"
	"testing"
)

// renaming are the files that may give a name away by themselves, and why what they rename
// need not be synced before.
var renaming = map[string]string{
	"internal/environment/store/replace.go":   "it is store.TakeName, which syncs",
	"internal/environment/store/log/write.go": "it syncs the new log: TestALogKeepsWhatItPromisesOnALosingDisk",
	"internal/environment/home/snapshot.go":   "a whole snapshot gets another name, and that back: TestSnapshotsAreWholeOnALosingDisk",
	"internal/environment/home/logfile.go":    "a log for people",
	"internal/environment/pyhost/cache.go":    "what it forgets is asked again",
	"internal/environment/pyhost/kept.go":     "what it loses is compiled again, and its checksum finds what is cut",
	"internal/environment/pyhost/unpack.go":   "what is missing is unpacked again",
}

// writing are the files that may write over a file in place, and why nobody needs it whole.
var writing = map[string]string{
	"cmd/devnet/internal/actor/client.go":            "a command's output, which the command writes again",
	"cmd/devnet/internal/actor/new.go":               "a command's output, which the command writes again",
	"cmd/devnet/internal/coverage/coverage.go":       "a test's coverage",
	"cmd/devnet/internal/coverage/report.go":         "a report",
	"cmd/devnet/internal/author/debug.go":            "a command's output, which the command writes again",
	"cmd/devnet/internal/actor/examples.go":          "a command's output, which the command writes again",
	"cmd/devnet/internal/app/man.go":                 "a command's output, which the command writes again",
	"cmd/devnet/internal/chain/profile.go":           "a command's output, which the command writes again",
	"cmd/devnet/internal/run/scenario.go":            "a command's output, which the command writes again",
	"cmd/devnet/internal/up/up.go":                   "what a start tells, and the next one tells again",
	"cmd/devnet/internal/script/editor.go":           "a test's folder",
	"cmd/devnet/internal/script/script.go":           "a test's folder",
	"fixtures/peers/network/network.go":              "a test's network",
	"internal/checks/digests/main.go":                "a check's output",
	"internal/environment/pyhost/unpack.go":          "it writes into a new folder",
	"internal/environment/store/storetest/losing.go": "a test's folder",
	"internal/runs/batch/junit.go":                   "a report",
	"internal/runs/explore/explore.go":               "a command's output, which the command writes again",
	"internal/runs/lab/page.go":                      "a report",
	"internal/worlds/cluster/process/node.go":        "an empty mark: its name is all that it says",
}

// wholly matches what gives a name away, and inPlace what writes over a file. Neither asks for a
// call: a function that is named is called elsewhere.
var (
	wholly  = regexp.MustCompile(`\b(os|store|syscall|unix)\.Rename(at2?)?\b|renameio|func Rename\(`)
	inPlace = regexp.MustCompile(`\bos\.WriteFile\b`)
)

// C5: whatever replaces a file takes its name by store.TakeName, which syncs it first.
func TestWhatTakesANameIsSynced(t *testing.T) {
	for name, text := range read(t) { // order: each by itself
		if renames := wholly.MatchString(text); renames != (renaming[name] != "") {
			t.Errorf("%s renames: %v. Use store.TakeName, or say in the list above why no sync is needed", name, renames)
		}
		if writes := inPlace.MatchString(text); writes != (writing[name] != "") {
			t.Errorf("%s writes files in place: %v. Use store.ReplaceFile, or say in the list above why nobody needs the file whole", name, writes)
		}
	}
}
