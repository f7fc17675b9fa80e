package pyhost

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Bounds of the modules that are kept between processes: files, about a MiB each, and bytes of one.
const (
	maxKept      = 4
	maxKeptBytes = 16 << 20
)

// keptPrefix begins the names of the files that keep modules, in the folder of the cache.
const keptPrefix = "modules-"

// keptModulesFile is the file of the host's modules as an interpreter compiled them, by interpreterMark;
// "" if the user has no cache folder. Who can write there can write a proof of Python too.
func keptModulesFile(mark string) string {
	cache := cacheFile()
	if cache == "" || mark == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(cache), keptPrefix+mark)
}

// readKeptModules returns the modules under a mark; nil if there are none, or the file is damaged.
func readKeptModules(mark string) []byte {
	path := keptModulesFile(mark)
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxKeptBytes {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < sha256.Size {
		return nil
	}
	sum, modules := data[:sha256.Size], data[sha256.Size:]
	if found := sha256.Sum256(modules); !bytes.Equal(sum, found[:]) {
		return nil
	}
	return modules
}

// writeKeptModules keeps modules for later processes, and drops the oldest beyond maxKept. If the file cannot be
// written, the next process compiles them again.
func writeKeptModules(mark string, modules []byte) {
	path := keptModulesFile(mark)
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	made, err := os.CreateTemp(filepath.Dir(path), "new-"+keptPrefix)
	if err != nil {
		return
	}
	sum := sha256.Sum256(modules)
	_, err = made.Write(append(sum[:], modules...))
	if wrong := made.Close(); err != nil || wrong != nil || os.Rename(made.Name(), path) != nil {
		os.Remove(made.Name())
		return
	}
	kept, _ := filepath.Glob(filepath.Join(filepath.Dir(path), keptPrefix+"*"))
	slices.SortFunc(kept, func(a, b string) int { return modifiedAt(b).Compare(modifiedAt(a)) })
	for _, old := range kept[min(len(kept), maxKept):] {
		os.Remove(old)
	}
}

// modifiedAt is when a file was written last; zero if it is gone.
func modifiedAt(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
