package owner

import (
	"os"
	"path/filepath"
	"strings"
)

// A folder that is not there tells that its owner is gone only to who sees the same files: a process with a /tmp of
// its own sees none of another's folders.

// bootFile names the boot of this machine, on Linux. After another boot every owner is gone.
const bootFile = "/proc/sys/kernel/random/boot_id"

// viewOf is what this process sees of the way to a folder: the boot, and the identity of each folder above it, from
// the root on. It is "" where the system identifies neither.
func viewOf(dir string) string {
	boot, err := os.ReadFile(bootFile)
	if err != nil {
		boot = []byte("-")
	}
	view := []string{strings.TrimSpace(string(boot))}
	for _, above := range parentFolders(dir) {
		id := identityOf(above)
		if id == "" {
			break
		}
		view = append(view, id)
	}
	if len(view) == 1 {
		return ""
	}
	return strings.Join(view, "/")
}

// parentFolders are the folders above an absolute path, from the root on.
func parentFolders(dir string) (all []string) {
	for above := filepath.Dir(filepath.Clean(dir)); ; above = filepath.Dir(above) {
		all = append([]string{above}, all...)
		if above == filepath.Dir(above) {
			return all
		}
	}
}

// seesAll reports whether a folder that was made under a view would be seen here if it were still there. Folders above
// it may be gone as well. Labels of earlier versions have no view.
func seesAll(dir, view string) bool {
	made, here := strings.Split(view, "/"), strings.Split(viewOf(dir), "/")
	if view == "" || len(here) < 2 || made[0] != here[0] {
		return true
	}
	for i := 1; i < min(len(made), len(here)); i++ {
		if made[i] != here[i] {
			return false
		}
	}
	return true
}
