package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Format is the version of the home's layout and of every file in it. It changes
// whenever an older binary could not continue from a newer one's files, or the
// other way round. A new parameter changes no format.
const Format = 13

// OldestFormat is the earliest format that this binary continues from. A home of each format
// from here on is in fixtures/homes, and starts. Its genesis keeps what it was made with
// (decision C12).
const OldestFormat = 12

// maxMetaBytes bounds home.json: a few fields.
const maxMetaBytes = 64 << 10

// Meta is home.json: whose home it is.
type Meta struct {
	Format  int       `json:"format"`         // of the layout
	Version string    `json:"devnet_version"` // of the binary that made the home
	ChainID uint64    `json:"chain_id"`
	Seed    uint64    `json:"seed"`
	Created time.Time `json:"created"`
	Node    string    `json:"node,omitempty"`           // whose home it is, where the others' are elsewhere
	Apart   bool      `json:"apart,omitempty"`          // each node runs in a separate process, with a home below net
	Genesis string    `json:"genesis_sha256,omitempty"` // of genesis.cbor, once that is written
}

// CheckFormat refuses a home that this binary, of a version, does not read. Its error is an *IncompatibleError.
func (m Meta) CheckFormat(dir, version string) error {
	if m.Format < OldestFormat || m.Format > Format {
		return &IncompatibleError{Dir: dir, Home: m.Format, WrittenBy: m.Version, Binary: version}
	}
	return nil
}

// checkWanted refuses a home that is not what is wanted. A chain id of 0 and a nil seed
// accept any.
func (m Meta) checkWanted(dir string, want Want) error {
	if err := m.CheckFormat(dir, want.Version); err != nil {
		return err
	}
	if m.Node != want.Node {
		return &OwnerError{Dir: dir, Home: m.Node, Wanted: want.Node}
	}
	if m.Apart != want.Apart {
		return &ApartError{Dir: dir, Apart: m.Apart}
	}
	if want.ChainID != 0 && want.ChainID != m.ChainID {
		return &MismatchError{Dir: dir, What: "chain id", Home: m.ChainID, Wanted: want.ChainID}
	}
	if want.Seed != nil && *want.Seed != m.Seed {
		return &MismatchError{Dir: dir, What: "seed", Home: m.Seed, Wanted: *want.Seed}
	}
	return nil
}

// ReadMeta reads the owner of the home dir, without opening it; os.ErrNotExist
// reports that dir is not a home, or a file. The format is not judged.
func ReadMeta(dir string) (Meta, error) {
	var m Meta
	path := filepath.Join(dir, metaFile)
	info, err := os.Stat(path)
	if errors.Is(err, syscall.ENOTDIR) {
		return m, fmt.Errorf("home: %s is not a directory: %w", dir, os.ErrNotExist)
	}
	if err != nil {
		return m, fmt.Errorf("home: %w", err)
	}
	if info.Size() > maxMetaBytes {
		return m, &BrokenError{Path: path, Cause: fmt.Errorf("%d bytes long", info.Size())}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("home: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, &BrokenError{Path: path, Cause: err}
	}
	if m.Format == 0 {
		return m, &BrokenError{Path: path, Cause: errors.New("no format")}
	}
	return m, nil
}

// writeMeta writes home.json whole or not at all.
func (h *Home) writeMeta(m Meta) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("home: encode %s: %w", metaFile, err)
	}
	return WriteFile(filepath.Join(h.dir, metaFile), append(data, '\n'), h.durability)
}

// WriteFile replaces a file of the home by data: a reader and a crash see the old
// content or the new, and so does, with store.Disk, a loss of power.
func WriteFile(path string, data []byte, durability store.Durability) error {
	if err := store.ReplaceFile(path, data, fileMode, durability); err != nil {
		return fmt.Errorf("home: write %s: %w", path, err)
	}
	return nil
}
