package pyhost

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/base/types"
	pythonhost "github.com/cowboyinc/devnet/python-host"
)

// Interpreter returns the path of the Python that a pool with that name of one would
// run, or a *MissingError.
func Interpreter(named string, slow func(string)) (string, error) {
	found, err := findPython(named, "", slow, recallAnswer)
	return found.path, err
}

// Unpack writes the modules that tests of actors import (pvm_host, cowboy_sdk with its
// testing, and the host below them) into a folder in dir. The folder's name is their
// hash; Unpack returns its path. Existing files stay as they are, and several
// processes may call it at once.
func Unpack(dir string) (folder string, err error) {
	files, hash, err := unpackFiles()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(dir, fmt.Sprintf("sdk-%x", hash[:8]))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(dir, "sdk-new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	for _, f := range files {
		path := filepath.Join(made, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, f.text, 0o644); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return "", err
	}
	err = os.Rename(made, folder)
	if errors.Is(err, fs.ErrExist) { // another process was first
		err = nil
	}
	return folder, err
}

type packedFile struct {
	name string
	text []byte
}

// unpackFiles lists the files in the order of their names, and their hash.
func unpackFiles() (files []packedFile, hash types.Hash, err error) {
	var all [][]byte
	for _, from := range []embed.FS{pythonhost.Files, pythonhost.Testing} {
		err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path == "bootstrap.py" {
				return err
			}
			text, err := from.ReadFile(path)
			files = append(files, packedFile{path, text})
			all = append(all, []byte(path), []byte{0}, text, []byte{0})
			return err
		})
		if err != nil {
			return nil, hash, err
		}
	}
	return files, types.Keccak(all...), nil
}
