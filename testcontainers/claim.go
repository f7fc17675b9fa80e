package devnet

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"

	moby "github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/cowboyinc/devnet/internal/environment/owner"
)

// claim is a network's mark of this process, for as long as that lives.
type claim struct {
	lock   *os.File
	labels map[string]string // of all that is made for the network
}

// newClaim removes what processes left that were killed, and marks what comes.
func newClaim(ctx context.Context, engine *testcontainers.DockerClient) (*claim, error) {
	if err := owner.Clear(ctx, owner.Engine{List: engineAPI{engine}.listHeld, Remove: engineAPI{engine}.removeHeld}); err != nil {
		return nil, err
	}
	lock, err := owner.ClaimNew()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(lock.Name())
	return &claim{lock, owner.Labels(filepath.Base(dir), dir)}, nil
}

// releaseClaim is called when all that was marked is gone.
func (c *claim) releaseClaim() error {
	if c == nil {
		return nil
	}
	return owner.Release(c.lock)
}

// labelOption is the option of a container of the network.
func (c *claim) labelOption() testcontainers.CustomizeRequestOption {
	return testcontainers.WithLabels(c.labels)
}

// volumeLabels are the labels of a volume of the network.
func (c *claim) volumeLabels() map[string]string {
	all := testcontainers.GenericLabels()
	maps.Copy(all, c.labels)
	return all
}

// engineAPI is an engine, by its API.
type engineAPI struct{ *testcontainers.DockerClient }

func (e engineAPI) listHeld(ctx context.Context, kind owner.Kind, label string) (all []owner.Held, err error) {
	filter := moby.Filters{}.Add("label", label)
	add := func(id string, labels map[string]string) {
		all = append(all, owner.Held{ID: id, Network: labels[owner.NetworkLabel], Folder: labels[owner.FolderLabel],
			View: labels[owner.ViewLabel]})
	}
	switch kind {
	case owner.Containers:
		list, err := e.ContainerList(ctx, moby.ContainerListOptions{All: true, Filters: filter})
		for _, one := range list.Items {
			add(one.ID, one.Labels)
		}
		return all, err
	case owner.Networks:
		list, err := e.NetworkList(ctx, moby.NetworkListOptions{Filters: filter})
		for _, one := range list.Items {
			add(one.ID, one.Labels)
		}
		return all, err
	default:
		list, err := e.VolumeList(ctx, moby.VolumeListOptions{Filters: filter})
		for _, one := range list.Items {
			add(one.Name, one.Labels)
		}
		return all, err
	}
}

func (e engineAPI) removeHeld(ctx context.Context, kind owner.Kind, ids []string) error {
	errs := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			switch kind {
			case owner.Containers:
				_, errs[i] = e.ContainerRemove(ctx, id, moby.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			case owner.Networks:
				_, errs[i] = e.NetworkRemove(ctx, id, moby.NetworkRemoveOptions{})
			default:
				_, errs[i] = e.VolumeRemove(ctx, id, moby.VolumeRemoveOptions{Force: true})
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
