package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteGenesis stores the genesis of a new home, and its hash: another genesis in
// its place would belong to another chain, and is refused.
func (h *Home) WriteGenesis(data []byte) error {
	if err := WriteFile(filepath.Join(h.dir, genesisFile), data, h.durability); err != nil {
		return err
	}
	return h.sealGenesis(data)
}

func (h *Home) sealGenesis(data []byte) error {
	h.Meta.Genesis = hashOf(data)
	return h.writeMeta(h.Meta)
}

// ReadGenesis returns the genesis; os.ErrNotExist says that none was made yet. A
// missing or altered genesis is a *BrokenError.
func (h *Home) ReadGenesis() ([]byte, error) {
	data, err := ReadGenesis(h.dir)
	if err == nil && h.Meta.Genesis == "" { // a crash came between the two files
		err = h.sealGenesis(data)
	}
	return data, err
}

// ReadGenesis is the same for a home that is not open.
func ReadGenesis(dir string) ([]byte, error) {
	meta, err := ReadMeta(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, genesisFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && meta.Genesis == "":
		return nil, fmt.Errorf("home: %w", err)
	case errors.Is(err, os.ErrNotExist):
		return nil, &BrokenError{Path: path, Cause: errors.New("the file is missing")}
	case err != nil:
		return nil, &BrokenError{Path: path, Cause: err}
	case meta.Genesis != "" && hashOf(data) != meta.Genesis:
		return nil, &BrokenError{Path: path, Cause: errors.New("the file differs from the genesis that the network began with")}
	}
	return data, nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
