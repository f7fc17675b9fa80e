package container

import (
	"context"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/environment/owner"
)

// Reap removes the containers, networks and volumes of networks of this machine whose
// owner died before it could, and returns the folders that those were of. Owners are
// networks of this package and tests on containers.
func Reap(ctx context.Context) (folders []string, err error) { return owner.Reap(ctx, engine) }

// ListUnseen returns one thing of each network that Reap leaves, since its owner sees other files and may live.
func ListUnseen(ctx context.Context) ([]owner.Held, error) { return owner.ListUnseen(ctx, engine) }

// clearDead removes the same before a network starts, as far as the engine does.
func clearDead(ctx context.Context) error { return owner.Clear(ctx, engine) }

// removeByLabel removes all that has a label, KEY=VALUE.
func removeByLabel(ctx context.Context, label string) error { return owner.Remove(ctx, engine, label) }

// engine is the one of the docker command line.
var engine = owner.Engine{List: listByLabel, Remove: removeThose}

// kinds are the calls for each kind, and the field that identifies one.
var kinds = map[owner.Kind]struct {
	lists, removes []string
	id             string
}{
	owner.Containers: {[]string{"ps", "--all", "--no-trunc"}, []string{"rm", "--force", "--volumes"}, "{{.ID}}"},
	owner.Networks:   {[]string{"network", "ls", "--no-trunc"}, []string{"network", "rm"}, "{{.ID}}"},
	owner.Volumes:    {[]string{"volume", "ls"}, []string{"volume", "rm", "--force"}, "{{.Name}}"},
}

func listByLabel(ctx context.Context, kind owner.Kind, label string) (all []owner.Held, err error) {
	one := kinds[kind]
	answer, err := callDocker(ctx, nil, append(slices.Clone(one.lists), "--filter", "label="+label, "--format",
		one.id+` {{.Label "`+owner.NetworkLabel+`"}} {{.Label "`+owner.ViewLabel+`"}} {{.Label "`+owner.FolderLabel+`"}}`)...)
	for _, line := range splitLines(answer) {
		id, labels, _ := strings.Cut(line, " ")
		network, rest, _ := strings.Cut(labels, " ")
		view, folder, _ := strings.Cut(rest, " ")
		all = append(all, owner.Held{ID: id, Network: network, Folder: folder, View: view})
	}
	return all, err
}

func removeThose(ctx context.Context, kind owner.Kind, ids []string) error {
	_, err := callDocker(ctx, nil, append(slices.Clone(kinds[kind].removes), ids...)...)
	return err
}
