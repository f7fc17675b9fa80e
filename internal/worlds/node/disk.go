package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/environment/store/log"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/environment/store/writeback"
)

// disk is what a machine keeps: its files, or the memory that stands for them. A
// node's kind chooses the parts that it opens.
type disk struct {
	name       string
	files      func() (home.Node, error) // nil: memory
	durability store.Durability
	log        env.Log   // nil while it is not open
	store      env.Store // nil while it is not open, and where the kind has none
}

// openLog opens the log.
func (d *disk) openLog() error {
	if d.files == nil {
		if d.log == nil {
			d.log = mem.NewLog()
		}
		return nil
	}
	files, err := d.files()
	if err != nil {
		return err
	}
	opened, err := log.Open(files.Votes, d.durability)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	d.log = opened
	return nil
}

// openStore opens the store.
func (d *disk) openStore() error {
	if d.files == nil {
		if d.store == nil {
			d.store = mem.NewStore()
		}
		return nil
	}
	files, err := d.files()
	if err != nil {
		return err
	}
	opened, err := bolt.Open(files.State, d.durability)
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	d.store = writeback.New(opened)
	return nil
}

// abandon loses what the store has gathered, as the end of a process does.
func (d *disk) abandon() error {
	if s, ok := d.store.(*writeback.Store); ok {
		return s.Abandon()
	}
	return nil
}

// cutBytes is the bytes of a write that a crash had interrupted, which the log has cut
// off.
func (d *disk) cutBytes() int64 {
	if l, ok := d.log.(interface{ Cut() int64 }); ok {
		return l.Cut()
	}
	return 0
}

// closeFiles closes the files. Memory stays, as files do.
func (d *disk) closeFiles() (err error) {
	if d.files == nil {
		return nil
	}
	if d.log != nil {
		err = d.log.Close()
	}
	if d.store != nil {
		err = errors.Join(err, d.store.Close())
	}
	d.log, d.store = nil, nil
	return err
}

// wipeFiles removes all node files, and returns how many bytes were lost: in memory,
// those of the log.
func (d *disk) wipeFiles() (lost int64, err error) {
	if d.files == nil {
		if d.log != nil {
			lost = d.log.Size()
		}
		d.log, d.store = nil, nil
		return lost, nil
	}
	files, err := d.files()
	if err != nil {
		return 0, err
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(files.State), "*"))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			lost += info.Size()
		}
		if err := os.Remove(name); err != nil {
			return lost, fmt.Errorf("%s cannot be wiped: %w", d.name, err)
		}
	}
	return lost, nil
}
