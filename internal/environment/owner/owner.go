// Package owner marks what a container engine holds with the process that made it, and
// removes what a process left that has died.
//
// A process owns a folder while it holds the lock of a file there. The system releases the
// lock with the process, however that ends: no number of a process has to be compared.
package owner

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Labels name the network of a thing, and the folder that its owner has locked on which
// machine, as it saw that.
const (
	NetworkLabel = "devnet.carrier"
	FolderLabel  = "devnet.folder"
	ViewLabel    = "devnet.view"
	machineLabel = "devnet.machine"
)

// lockFile is locked for as long as the owner of a network lives.
const lockFile = "carrier.lock"

// temporary begins the names of folders that hold only the lock.
const temporary = "devnet-owner-"

// Labels returns the labels of a network whose owner has claimed dir, an absolute path.
func Labels(network, dir string) map[string]string {
	return map[string]string{NetworkLabel: network, FolderLabel: dir, ViewLabel: viewOf(dir), machineLabel: machineID()}
}

// Machine is what this machine calls itself.
func Machine() string {
	name, err := os.Hostname()
	if err != nil {
		return "unnamed"
	}
	return name
}

// machineID tells this machine from another of the same name, whose folders are not here: by the
// id that systemd gives it, as a digest, since that is not to be shown to others.
func machineID() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil || len(id) == 0 {
		return Machine()
	}
	return fmt.Sprintf("%s-%x", Machine(), sha256.Sum256(append(id, "devnet"...)))[:len(Machine())+1+machineDigits]
}

// machineDigits is how many digits of the digest a label has.
const machineDigits = 16

// Claim makes this process the owner of a folder's network until the file is closed.
func Claim(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("the nodes of %s run already, of another process: stop that, or take another folder", dir), f.Close())
	}
	return f, nil
}

// kept are the files of ClaimNew: the collector would close a file without a reference.
var kept sync.Map

// ClaimNew makes a folder that holds only the lock and claims it, until Release or the end of
// the process.
func ClaimNew() (*os.File, error) {
	dir, err := os.MkdirTemp("", temporary)
	if err != nil {
		return nil, err
	}
	f, err := Claim(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	kept.Store(f, true)
	return f, nil
}

// Release gives up what ClaimNew made.
func Release(f *os.File) error {
	kept.Delete(f)
	err := removeClaim(filepath.Dir(f.Name()))
	return errors.Join(err, f.Close())
}

// removeClaim removes a folder of ClaimNew. Other folders stay: they have files of their owner.
func removeClaim(dir string) error {
	if !strings.HasPrefix(filepath.Base(dir), temporary) {
		return nil
	}
	err := errors.Join(os.Remove(filepath.Join(dir, lockFile)), os.Remove(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil // another process was first
	}
	return err
}

// isOwned reports whether the owner of a folder's network lives, or may live.
func isOwned(dir, view string) bool {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil { // who may not look, or looks elsewhere, does not judge
		return !errors.Is(err, os.ErrNotExist) || !seesAll(dir, view)
	}
	defer f.Close()
	return isLocked(f)
}

// Kind is containers, networks or volumes. They can be removed in this order.
type Kind int

// Kinds.
const (
	Containers Kind = iota
	Networks
	Volumes
	kinds
)

// Held is one thing that an engine holds, with the values of its labels.
type Held struct{ ID, Network, Folder, View string }

// Engine is a container engine.
type Engine struct {
	// List returns the things with a label, KEY=VALUE, stopped containers too.
	List func(ctx context.Context, kind Kind, label string) ([]Held, error)
	// Remove removes as many of ids as it can, running containers too.
	Remove func(ctx context.Context, kind Kind, ids []string) error
}

// Reap removes the containers, networks and volumes of networks of this machine whose
// owner died, and returns the folders of these.
func Reap(ctx context.Context, e Engine) (folders []string, err error) {
	left, err := listNetworks(ctx, e)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, network := range slices.Sorted(maps.Keys(left)) {
		folder := left[network].Folder
		if network == "" || isOwned(folder, left[network].View) {
			continue
		}
		err := Remove(ctx, e, NetworkLabel+"="+network)
		if err == nil {
			err = removeClaim(folder)
		}
		errs = append(errs, err)
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	return folders, errors.Join(errs...)
}

// listNetworks returns one thing of each network of this machine, by network.
func listNetworks(ctx context.Context, e Engine) (map[string]Held, error) {
	left := map[string]Held{}
	for kind := range kinds {
		all, err := e.List(ctx, kind, machineLabel+"="+machineID())
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			left[one.Network] = one
		}
	}
	return left, nil
}

// ListUnseen returns one thing of each network of this machine whose owner sees other files than this process: Reap leaves
// it, since the owner may live. By network.
func ListUnseen(ctx context.Context, e Engine) (unseen []Held, err error) {
	left, err := listNetworks(ctx, e)
	for _, network := range slices.Sorted(maps.Keys(left)) {
		one := left[network]
		_, err := os.Stat(filepath.Join(one.Folder, lockFile))
		if network != "" && errors.Is(err, os.ErrNotExist) && !seesAll(one.Folder, one.View) {
			unseen = append(unseen, one)
		}
	}
	return unseen, err
}

// Clear removes what Reap does, before a network starts. A thing that the engine keeps delays
// no other network: the log has it.
func Clear(ctx context.Context, e Engine) error {
	_, err := Reap(ctx, e)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	slog.Warn("containers or networks of a process that died cannot be removed. To try again: devnet down --containers. "+
		"A restart of the engine frees them too.", "error", strings.Join(strings.Fields(err.Error()), " "))
	return nil
}

// removalLooks is the time between two looks at a removal by another process.
const removalLooks = 50 * time.Millisecond

// isRemovalUnderWay reports a removal by another process, which has not ended. The engine itself
// removes the network of a Swarm that it has left, and lists it for some seconds.
func isRemovalUnderWay(err error) bool {
	return err != nil && slices.ContainsFunc([]string{"already in progress", "not a swarm manager", "not found", "no such"},
		func(why string) bool { return strings.Contains(strings.ToLower(err.Error()), why) })
}

// Remove removes all that has a label, KEY=VALUE. It waits for removals by other
// processes. A kind that the engine refuses to remove keeps no other kind.
func Remove(ctx context.Context, e Engine, label string) error {
	var errs []error
	for kind := range kinds {
		var refused error
		// Again: a container that was being made when all were listed exists now. The
		// engine refuses a container that another process removes until it is gone.
		for try := 0; try < 2 || isRemovalUnderWay(refused) && ctx.Err() == nil; try++ {
			if isRemovalUnderWay(refused) {
				select {
				case <-time.After(removalLooks):
				case <-ctx.Done():
				}
			}
			all, err := e.List(ctx, kind, label)
			if err != nil {
				return errors.Join(append(errs, err)...)
			}
			if len(all) == 0 {
				refused = nil
				break
			}
			var ids []string
			for _, one := range all {
				ids = append(ids, one.ID)
			}
			refused = e.Remove(ctx, kind, ids)
		}
		errs = append(errs, refused)
	}
	return errors.Join(errs...)
}
