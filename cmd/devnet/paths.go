package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// givePath is the remedy for the path of a file that is not there.
const givePath = "Give the path of a file, from the folder that you are in."

// noFile says why a path that was given is no file that can be read.
func noFile(path string, err error) string {
	info, statErr := os.Stat(path)
	switch {
	case statErr == nil && info.IsDir():
		return path + " is a folder, and a file is wanted"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no file " + path
	}
	return fmt.Sprintf("cannot read %s: %v", path, innermostCause(err))
}

// noFolder says that a path that was given is a file, or goes through one; "" if an error is another.
func noFolder(path string, err error) string {
	if !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrExist) {
		return ""
	}
	return path + " is a file, and a folder is wanted"
}
