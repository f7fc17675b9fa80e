package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// ReadyPatience is how long up waits for the first blocks.
const ReadyPatience = 2 * time.Minute

// DescribeFailure says why there is no network. The home's own errors are complete already.
func DescribeFailure(err error) error {
	if inUse, is := errors.AsType[*home.InUseError](err); is {
		who := fmt.Sprintf("process %d", inUse.PID)
		if inUse.PID == 0 {
			who = "another process, which has not said who it is"
		}
		return failure.NewNoStart(fmt.Sprintf("Stop it (Ctrl-C where it runs, or devnet down%s), or choose another --home.",
			command.HomeFlag(inUse.Dir)), "home %s is in use by %s", inUse.Dir, who)
	}
	for _, known := range []any{new(*home.IncompatibleError), new(*home.MismatchError), new(*home.ForeignError), new(*home.BrokenError),
		new(*box.ChangedError), new(*box.LaterError), new(*home.OwnerError), new(*box.OtherGenesisError), new(*home.ApartError),
		new(*box.WatchedError), new(*box.DamagedError), new(*box.LostChainError)} {
		if errors.As(err, known) {
			return failure.NewNoStart("", "%v", err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if path, is := errors.AsType[*fs.PathError](err); is && failure.DescribeFolder(path.Path, err) != "" {
		return failure.NewNoStart("Move the file away, or choose another --home.", "the network does not start: %s",
			failure.DescribeFolder(path.Path, err))
	}
	return failure.NewNoStart("devnet doctor shows what this machine lacks.", "the network does not start: %v", err)
}
