package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Labels of what a carrier makes: of which network it is, and on which machine the folder
// is that its owner has locked.
const (
	carrierLabel = "devnet.carrier"
	folderLabel  = "devnet.folder"
	machineLabel = "devnet.machine"
)

// lockFile is locked for as long as the owner of a network lives.
const lockFile = "carrier.lock"

func labelsOf(id, dir string) []string {
	return []string{carrierLabel + "=" + id, folderLabel + "=" + dir, machineLabel + "=" + machine()}
}

// machine is what this machine calls itself.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return "unnamed"
	}
	return name
}

// claim makes this process the owner of a folder's containers.
func claim(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the nodes of %s run already, of another process: stop that, or take another folder", dir), f.Close())
	}
	return f, nil
}

// owned reports whether the owner of a folder's containers lives.
func owned(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) // who may not look does not judge
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// Reap removes the containers, networks and volumes of networks of this machine whose
// owner died before it could, and returns the folders that those were of.
func Reap(ctx context.Context) (folders []string, err error) {
	left := map[string]string{} // carrier → folder
	for _, kind := range kinds {
		answer, err := docker(ctx, nil, append(kind.list("label="+machineLabel+"="+machine()), "--format",
			`{{.Label "`+carrierLabel+`"}} {{.Label "`+folderLabel+`"}}`)...)
		if err != nil {
			return nil, err
		}
		for _, line := range lines(answer) {
			id, folder, _ := strings.Cut(line, " ")
			left[id] = folder
		}
	}
	var errs []error
	for id, folder := range left {
		if id == "" || owned(folder) {
			continue
		}
		errs = append(errs, remove(ctx, "label="+carrierLabel+"="+id))
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	return folders, errors.Join(errs...)
}

// kind is one kind of what a carrier makes.
type kind struct{ lists, removes []string }

// list is the call that lists those that a filter lets through.
func (k kind) list(filter string) []string {
	return append(slices.Clone(k.lists), "--filter", filter)
}

// kinds are in the order in which they can be removed.
var kinds = []kind{
	{[]string{"ps", "--all", "--no-trunc"}, []string{"rm", "--force", "--volumes"}},
	{[]string{"network", "ls", "--no-trunc"}, []string{"network", "rm"}},
	{[]string{"volume", "ls"}, []string{"volume", "rm", "--force"}},
}

// removalLooks is how often it is looked whether what somebody else removes is gone.
const removalLooks = 50 * time.Millisecond

// beingRemoved says that somebody else was first, and has not ended: the network of a
// Swarm that this engine has left goes by itself, and is listed for some seconds.
func beingRemoved(err error) bool {
	refused := (*EngineError)(nil)
	return errors.As(err, &refused) &&
		slices.ContainsFunc([]string{"already in progress", "not a swarm manager", "not found"}, func(why string) bool {
			return strings.Contains(refused.Said, why)
		})
}

// remove removes all that a filter lets through. What somebody else removes meanwhile is
// gone all the same.
func remove(ctx context.Context, filter string) error {
	for _, kind := range kinds {
		var refused error
		// Again: a container that was being made when all were listed is there now, and
		// one that somebody else is removing is refused for as long as that lasts.
		for try := 0; try < 2 || beingRemoved(refused) && ctx.Err() == nil; try++ {
			if beingRemoved(refused) {
				select {
				case <-time.After(removalLooks):
				case <-ctx.Done():
				}
			}
			name := "{{.ID}}"
			if kind.lists[0] == "volume" {
				name = "{{.Name}}"
			}
			answer, err := docker(ctx, nil, append(kind.list(filter), "--format", name)...)
			if err != nil {
				return err
			}
			all := lines(answer)
			if len(all) == 0 {
				refused = nil
				break
			}
			_, refused = docker(ctx, nil, append(slices.Clone(kind.removes), all...)...)
		}
		if refused != nil {
			return refused
		}
	}
	return nil
}
