package pyhost

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// askAgain is when a script is asked again: what starts now takes all cores.
const askAgain = time.Second

// askedAgain has the keys of scripts that this process asks, or asked, again.
var askedAgain sync.Map

// recallAnswer returns what the program at a path answered to the last ask, if neither that
// program nor the interpreter that it named has changed. A script may choose another
// interpreter for a reason that no key contains, so it is asked again after askAgain. The
// next recall has that answer, and slow reports a difference.
func recallAnswer(path string, slow slowly) (python, error) {
	key, script := askKey(path)
	value, ok := readCache(key)
	if !ok {
		return askAnew(key, path, slow)
	}
	found, ok := parseAnswer(value)
	if !ok {
		return askAnew(key, path, slow)
	}
	if _, before := askedAgain.LoadOrStore(key, true); script && !before {
		time.AfterFunc(askAgain, func() {
			if now, err := askAnew(key, path, slow); err == nil && now != found && slow != nil {
				slow(fmt.Sprintf("%s names Python %s at %s now: this start uses Python %s at %s, the next start the new one",
					path, now.version, now.path, found.version, found.path))
			}
		})
	}
	return found, nil
}

// askAnew asks, and keeps the answer.
func askAnew(key, path string, slow slowly) (python, error) {
	found, err := askInterpreter(path, slow)
	if err != nil {
		return found, err
	}
	if stamp := stampOf(found.path); stamp != "" {
		writeCache(key, found.version+" "+stamp)
	}
	return found, nil
}

// parseAnswer returns the answer that a value keeps. It is not ok if the interpreter is gone
// or is another file since.
func parseAnswer(value string) (python, bool) {
	version, stamp, _ := strings.Cut(value, " ")
	fields := strings.SplitN(stamp, " ", 3)
	if len(fields) < 3 || stampOf(fields[2]) != stamp {
		return python{}, false
	}
	return python{path: fields[2], version: version}, true
}

// stampOf is the size, the time of change and the path of a file; "" if there is none.
func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d %s", info.Size(), info.ModTime().UnixNano(), path)
}

// passing are variables that no choice of an interpreter depends on.
var passing = []string{"_", "OLDPWD", "SHLVL"}

// askKey is the key of an answer: that of a script has the folder and the environment, by
// which it may choose, and the day, so that even a user of short runs has the new choice by
// tomorrow. It is "" if the file cannot be read.
func askKey(path string) (key string, script bool) {
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	var first [2]byte
	if _, err := file.Read(first[:]); err != nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	parts := [][]byte{[]byte("asked"), []byte(path), []byte(stampOf(real))}
	if script = string(first[:]) == "#!"; script {
		folder, err := os.Getwd()
		if err != nil {
			return "", false
		}
		parts = append(parts, []byte(folder), []byte(time.Now().UTC().Format(time.DateOnly)))
		for _, variable := range slices.Sorted(slices.Values(os.Environ())) {
			if name, _, _ := strings.Cut(variable, "="); !slices.Contains(passing, name) {
				parts = append(parts, []byte(variable))
			}
		}
	}
	return types.Keccak(bytes.Join(parts, []byte{0})).String(), script
}
