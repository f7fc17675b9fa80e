package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor/llm"
	runnerfile "github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

func healthyRunners(c *cli.Context, n *client.API) ([]model.Runner, error) {
	return client.Collect(n.Runners(c.Context, model.RunnerHealthy, client.Page{Limit: command.MaxPage}))
}

// noteOfflineRunners says that the devnet's own runners may answer a job for a model that they do not have. It is a note:
// where the network does not answer, nothing is said.
func noteOfflineRunners(c *cli.Context, n *client.API, asked string) {
	if asked == llm.Offline {
		return
	}
	runners, err := healthyRunners(c, n)
	if err != nil {
		return
	}
	if note := offlineNote(runners, asked); note != "" {
		fmt.Fprintln(c.App.ErrWriter, "Note: "+note)
	}
}

// NoteBesideOffline says that others may answer for the models that a runner has; "" if none would, or no network answers.
func NoteBesideOffline(c *cli.Context, n *client.API, set *runnerfile.Runner, isNew bool) string {
	offered := set.Executor.Capabilities()
	at := slices.IndexFunc(offered, func(word string) bool { return strings.HasPrefix(word, "model:") && word != "model:"+llm.Offline })
	if at < 0 {
		return ""
	}
	runners, err := healthyRunners(c, n)
	if err != nil {
		return ""
	}
	if isNew {
		runners = append(runners, model.Runner{Capabilities: offered, Entitlements: set.Executor.Entitlements()})
	}
	return offlineNote(runners, strings.TrimPrefix(offered[at], "model:"))
}

// offlineNote says which of the runners would answer for a model by the offline one, how many have the model, and how a
// job reaches these alone. "" if none would. A draw counts both alike: the drafts' filters know no runner that goes first.
func offlineNote(runners []model.Runner, asked string) string {
	var offline, pools []string
	named, shared := 0, map[string]bool{}
	for _, r := range runners {
		switch {
		case slices.Contains(r.Capabilities, "model:"+asked):
			named++
			pools = append(pools, r.Entitlements...)
		case isOfflineRunner(&r):
			offline = append(offline, r.Name)
			for _, pool := range r.Entitlements {
				shared[pool] = true
			}
		}
	}
	if len(offline) == 0 {
		return ""
	}
	if more := len(offline) - shownRunners; more > 1 {
		offline = append(offline[:shownRunners], fmt.Sprintf("%d more", more))
	}
	note := fmt.Sprintf("%s answer for every model by the offline one, which is no language model.", plural.List(offline, "and"))
	pools = slices.DeleteFunc(pools, func(pool string) bool { return shared[pool] })
	switch {
	case named == 0:
		return note + fmt.Sprintf(" No runner has %s by its name.", words.Printable(asked))
	case len(pools) > 0:
		return note + fmt.Sprintf(" To ask only runners that have %s: --pool %s.", words.Printable(asked), words.Printable(slices.Min(pools)))
	}
	return note + fmt.Sprintf(" Runners that have %s: %d, and drawn no sooner. Give them a pool (entitlements) and ask with --pool, or begin "+
		"a network with --runners 0.", words.Printable(asked), named)
}

// isOfflineRunner reports whether a runner is one of the devnet's own, that do every model.
func isOfflineRunner(r *model.Runner) bool {
	return r.Name != "" && slices.Contains(r.Capabilities, push.JobLLM.String()) &&
		!slices.ContainsFunc(r.Capabilities, func(word string) bool { return strings.HasPrefix(word, "model:") })
}
