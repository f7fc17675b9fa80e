package api

import "github.com/cowboyinc/devnet/internal/answers"

// isNotKept reports whether an error is that refusal.
func isNotKept(err error) bool {
	refused := Answer(err)
	return refused != nil && refused.Body.Code == answers.CodeNotKept
}

// orPruned adds to a refusal of something unknown that it may be pruned: a hash
// does not show that.
func orPruned(v answers.Reader, refused *Error) error {
	hint, err := answers.PrunedHint(v, refused.Body.Hint)
	if err != nil {
		return err
	}
	return refused.Hint("%s", hint)
}
