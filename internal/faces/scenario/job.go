package scenario

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// jobValue is one job. Its fields are read on access; they exist after its end.
type jobValue struct {
	n  *network
	id types.Hash
}

var _ starlark.HasAttrs = (*jobValue)(nil)

func (v *jobValue) String() string        { return "job(" + v.id.String() + ")" }
func (v *jobValue) Type() string          { return "job" }
func (v *jobValue) Freeze()               {}
func (v *jobValue) Truth() starlark.Bool  { return true }
func (v *jobValue) Hash() (uint32, error) { return starlark.Bytes(v.id[:]).Hash() }

func (v *jobValue) AttrNames() []string {
	return append(recordOf("job", model.Job{}).names, attributeNames(tables().job, nil)...)
}

// CompareSameType implements starlark.Comparable.
func (v *jobValue) CompareSameType(op syntaxToken, other starlark.Value, _ int) (bool, error) {
	return compareForEquality(op, v.id == other.(*jobValue).id, "job")
}

// Attr implements starlark.HasAttrs.
func (v *jobValue) Attr(name string) (starlark.Value, error) {
	if err := v.n.requireOpen(); err != nil {
		return nil, err
	}
	if verb := findVerb(tables().job, name); verb != nil {
		return v.n.r.bindVerb(verb, "job", v), nil
	}
	if !slices.Contains(v.AttrNames(), name) {
		return nil, newMistake("a job has no %s%s", name, otherVerbs(name, v.AttrNames()))
	}
	shown, err := v.showJob()
	if err != nil {
		return nil, err
	}
	if name == "committee" {
		return v.n.runnersAt(shown.Committee), nil
	}
	return recordOf("job", *shown).Attr(name)
}

func (v *jobValue) showJob() (*model.Job, error) {
	reader, err := v.n.backend.Reader("")
	if err != nil {
		return nil, readableError("job", err)
	}
	shown, err := reader.Job(v.id)
	switch {
	case err != nil:
		return nil, &internal{err}
	case shown == nil:
		return nil, newFailure("there is no job %s", v.id)
	}
	return shown, nil
}

// runnersAt are runners by address.
func (n *network) runnersAt(all []types.Address) starlark.Value {
	list := make([]starlark.Value, len(all))
	for i, at := range all {
		list[i] = &runnerValue{n, at}
	}
	return frozenList(list)
}

// jobAnswer gives the result of a job of the executor manual to the runners of its
// committee.
func jobAnswer(c *call) (starlark.Value, error) {
	v := c.on.(*jobValue)
	return starlark.None, v.n.backend.Answer(v.id, execution.Given{Result: argOf[[]byte](c, "result")})
}

// jobProgress says how far a job of the executor manual is, as its runners would.
func jobProgress(c *call) (starlark.Value, error) {
	v := c.on.(*jobValue)
	percent := argOf[uint64](c, "percent")
	if percent < 1 || percent > 100 {
		return nil, newMistake("percent = %d: want a whole percent from 1 to 100", percent)
	}
	return starlark.None, v.n.backend.Answer(v.id, execution.Given{Percent: uint8(percent), Detail: argOf[string](c, "detail")})
}

// jobCancel ends a job for its submitter, and returns the receipt of that.
func jobCancel(c *call) (starlark.Value, error) {
	v := c.on.(*jobValue)
	to := types.DispatcherAddress
	if !c.hasArgument("sender") {
		shown, err := v.showJob()
		if err != nil {
			return nil, err
		}
		c.values["sender"] = v.n.nameOf(shown.Submitter)
	}
	hash, err := c.submitDraft(v.n, wallet.Draft{To: &to, Payload: types.Execute{Kind: types.KindExecute, Handler: "cancel",
		Payload: v.id[:]}})
	if err != nil {
		return nil, err
	}
	return c.receiptValue(hash)
}
