package push

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// order is a JobSpec as it is submitted: the chain adds who did, and when.
type order struct {
	JobType            JobType      `cbor:"job_type"`
	Bounds             Bounds       `cbor:"bounds"`
	Verification       Verification `cbor:"verification"`
	MaxPrice           types.Wei    `cbor:"max_price"`
	Tip                types.Wei    `cbor:"tip"`
	TimeoutBlocks      uint64       `cbor:"timeout_blocks"`
	Callback           *Callback    `cbor:"callback"`
	RequiredRunnerPool *string      `cbor:"required_runner_pool"`
	ResultSchema       ResultSchema `cbor:"result_schema"`
}

var orderForm = memo.OnNeed(func() *form { return formOf(reflect.TypeFor[order](), "") })

// Order returns the deterministic CBOR of a spec without submitter and
// submitted_at: what is submitted.
func (s *JobSpec) Order() []byte {
	o := order{s.JobType, s.Bounds, s.Verification, s.MaxPrice, s.Tip, s.TimeoutBlocks, s.Callback, s.RequiredRunnerPool, s.ResultSchema}
	return orderForm().write(nil, reflect.ValueOf(&o).Elem())
}

// ParseOrder reads what is submitted, in its one form, and completes it. Its error
// says what is wrong with data: the submitter's fault. Check judges the rest.
func ParseOrder(data []byte, submitter types.Address, at types.Height) (*JobSpec, error) {
	if err := checkOneItem(data); err != nil {
		return nil, fmt.Errorf("no valid CBOR: %w", err)
	}
	var o order
	if _, err := orderForm().read(data, reflect.ValueOf(&o).Elem()); err != nil {
		return nil, fmt.Errorf("%s: %s", err.withPath("job_spec").path, err.detail)
	}
	s := &JobSpec{JobType: o.JobType, Bounds: o.Bounds, Verification: o.Verification, MaxPrice: o.MaxPrice, Tip: o.Tip,
		TimeoutBlocks: o.TimeoutBlocks, Callback: o.Callback, Submitter: submitter, SubmittedAt: at,
		RequiredRunnerPool: o.RequiredRunnerPool, ResultSchema: o.ResultSchema}
	if !bytes.Equal(s.Order(), data) {
		return nil, errors.New("not in canonical form (RFC 8949 §4.2)")
	}
	return s, nil
}
