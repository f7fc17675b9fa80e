package layers

import (
	"strings"
	"testing"
)

// renaming are the files that may give a name away by themselves, and why what they rename
// need not be synced before.
var renaming = map[string]string{
	"internal/environment/store/replace.go":   "it is store.TakeName, which syncs",
	"internal/environment/store/log/write.go": "it syncs the new log, and has a test of its own with a disk that loses",
	"internal/environment/home/snapshot.go":   "a snapshot that was whole gets another name, and that back",
	"internal/environment/home/logfile.go":    "a log for people",
	"internal/environment/pyhost/cache.go":    "what it forgets is asked again",
	"internal/environment/pyhost/unpack.go":   "what is missing is unpacked again",
}

// C5: whatever replaces a file takes its name by store.TakeName, which syncs it first.
func TestWhatTakesANameIsSynced(t *testing.T) {
	for name, text := range read(t) {
		if renames := strings.Contains(text, "os.Rename("); renames != (renaming[name] != "") {
			t.Errorf("%s renames: %v. Use store.TakeName, or say in the list above why no sync is needed", name, renames)
		}
	}
}
