package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// shownRunners bounds the runners that a note names.
const shownRunners = 3

// noteDeliveryTrouble says why a job that was submitted may reach no runner, as far as this
// network shows it. It is a note: where the network does not answer, nothing is said.
func noteDeliveryTrouble(c *cli.Context, n *client.API, j *model.Job) {
	if types.JobStatus(j.Status).Ended() {
		return
	}
	all, err := n.Params(c.Context)
	at := slices.IndexFunc(all, func(p model.Param) bool { return p.Key == "cip11.push" })
	if err != nil || at < 0 {
		return
	}
	runners, err := healthyRunners(c, n)
	if err != nil {
		return
	}
	if why := whyNoDelivery(all[at].Value, runners, j); why != "" {
		fmt.Fprintln(c.App.ErrWriter, "Note: "+why)
	}
}

// whyNoDelivery is why a job may reach no runner: no runner is present, or a drawn runner of
// another owner has to poll for it.
func whyNoDelivery(phase string, runners []model.Runner, j *model.Job) string {
	if phase == "hot" || phase == "sunset" { // validators push
		if slices.ContainsFunc(runners, func(r model.Runner) bool { return r.Present }) {
			return ""
		}
		return fmt.Sprintf("cip11.push is %s, and no healthy runner is present in the votes: the job waits until one connects.", phase)
	}
	var others []string
	for _, r := range runners {
		if r.Name == "" && slices.Contains(j.Committee, r.Address) {
			others = append(others, r.Address.String())
		}
	}
	if len(others) == 0 {
		return ""
	}
	if more := len(others) - shownRunners; more > 0 {
		others = append(others[:shownRunners], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("cip11.push is %s, and nothing is pushed: the job reaches %s only by polling GET /runner/ADDRESS/jobs.", phase,
		strings.Join(others, ", "))
}
