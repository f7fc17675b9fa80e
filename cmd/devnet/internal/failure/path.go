package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// GivePath is the remedy for the path of a file that is not there.
const GivePath = "Give the path of a file, from the folder that you are in."

// DescribeFile says why a path that was given is no file that can be read.
func DescribeFile(path string, err error) string {
	info, statErr := os.Stat(path)
	switch {
	case statErr == nil && info.IsDir():
		return path + " is a folder, and a file is wanted"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no file " + path
	}
	return fmt.Sprintf("cannot read %s: %v", path, InnermostCause(err))
}

// DescribeOwner says whose the file or folder is that a program may not read or write, and who asks; "" if an error is
// another. Of a path that is not there, the folder counts that it would be in.
func DescribeOwner(err error) string {
	refused, is := errors.AsType[*fs.PathError](err)
	if !is || !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	path, absErr := filepath.Abs(refused.Path)
	if absErr != nil {
		return ""
	}
	info, statErr := os.Stat(path)
	for ; statErr != nil && path != filepath.Dir(path); info, statErr = os.Stat(path) {
		path = filepath.Dir(path)
	}
	if statErr != nil {
		return ""
	}
	owner, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return ""
	}
	kind := "file"
	if info.IsDir() {
		kind = "folder"
	}
	return fmt.Sprintf("The %s %s belongs to user %d with the mode %v, and devnet runs as user %d: give it to that user (chown), or name "+
		"another.", kind, path, owner.Uid, info.Mode(), os.Geteuid())
}

// DescribeFolder says that a path that was given is a file, or goes through one; "" if an error is another.
func DescribeFolder(path string, err error) string {
	if !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrExist) {
		return ""
	}
	return path + " is a file, and a folder is wanted"
}

// InnermostCause is the innermost error, without what Go puts around it.
func InnermostCause(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok || inner.Unwrap() == nil {
			return err
		}
		err = inner.Unwrap()
	}
}
