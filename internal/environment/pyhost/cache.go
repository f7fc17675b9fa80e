package pyhost

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxCached bounds the lines of the file: two for each interpreter and each version of
// these sources.
const maxCached = 64

// known is what this process read from the file or wrote to it, by key.
var known sync.Map

// cacheFile is where lines "KEY VALUE" are kept between processes. It is "" if the user has
// no cache folder.
func cacheFile() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "devnet", "pythons")
}

// readCache returns the value kept for a key; "" is the key of nothing.
func readCache(key string) (value string, ok bool) {
	if key == "" {
		return "", false
	}
	if value, ok := known.Load(key); ok {
		return value.(string), true
	}
	for _, line := range cachedLines() {
		if name, value, _ := strings.Cut(line, " "); name == key {
			known.Store(key, value)
			return value, true
		}
	}
	return "", false
}

func cachedLines() []string {
	data, err := os.ReadFile(cacheFile())
	if err != nil || len(data) > 1_000*maxCached {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// writeCache remembers the value of a key, which is one line. If the file cannot be written, the
// next process has to find it again.
func writeCache(key, value string) {
	if key == "" || strings.Contains(value, "\n") {
		return
	}
	known.Store(key, value)
	path := cacheFile()
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	var lines []string
	for _, line := range cachedLines() {
		if name, _, _ := strings.Cut(line, " "); name != key && name != "" {
			lines = append(lines, line)
		}
	}
	lines = append(lines, strings.TrimSpace(key+" "+value))
	var text bytes.Buffer
	for _, line := range lines[max(0, len(lines)-maxCached):] {
		fmt.Fprintln(&text, line)
	}
	made, err := os.CreateTemp(filepath.Dir(path), "pythons-")
	if err != nil {
		return
	}
	_, err = made.Write(text.Bytes())
	if wrong := made.Close(); err != nil || wrong != nil || os.Rename(made.Name(), path) != nil {
		os.Remove(made.Name())
	}
}
