package jobtext

import (
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Fate returns the status of a job; for a failed job, why.
func Fate(j *model.Job) string {
	if j.Error != nil {
		return j.Status + ", " + j.Error.Code
	}
	return j.Status
}

// Cost returns the cost of a job without its tip.
func Cost(j *model.Job) string {
	if j.Price == nil {
		return "-"
	}
	return terminal.Amount(*j.Price)
}
