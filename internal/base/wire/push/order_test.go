package push

import (
	"bytes"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func sampleOrder() *JobSpec {
	pool := "gpu"
	return &JobSpec{JobType: JobType{Custom: &Custom{Params: []byte("hello")}}, Bounds: Bounds{1, 2, 3, 4, 5},
		Verification: Verification{Mode: None, Runners: 1}, MaxPrice: types.WeiOf(9), TimeoutBlocks: 12, RequiredRunnerPool: &pool,
		ResultSchema: ResultSchema{MaxReturnBytes: 10, DataFormat: FormatText}}
}

// An order is the spec without its two last fields, in one form.
func TestAnOrderIsASpecWithoutItsSubmitter(t *testing.T) {
	spec := sampleOrder()
	data := spec.Order()
	read, err := ParseOrder(data, types.Address{7}, 99)
	if err != nil || read.Submitter != (types.Address{7}) || read.SubmittedAt != 99 || !bytes.Equal(read.Order(), data) {
		t.Fatalf("%+v, %v", read, err)
	}
	whole := codec.Marshal(read)
	if again := new(JobSpec); codec.Unmarshal(whole, 1<<20, again) != nil || again.Hash() != read.Hash() {
		t.Error("the spec is another one when it was read")
	}
	loose := append([]byte{0xb8, data[0] & 31}, data[1:]...) // the same map with a longer head
	for name, bad := range map[string][]byte{"whole spec": whole, "loose": loose, "with a tail": append(bytes.Clone(data), 0), "nothing": nil,
		"cut": data[:len(data)-1]} {
		if _, err := ParseOrder(bad, types.Address{}, 0); err == nil {
			t.Errorf("%s was read as an order", name)
		}
	}
}

func FuzzParseOrder(f *testing.F) {
	f.Add(sampleOrder().Order())
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := ParseOrder(data, types.Address{1}, 2)
		if err == nil && !bytes.Equal(spec.Order(), data) {
			t.Fatalf("%x is read as %x", data, spec.Order())
		}
	})
}
