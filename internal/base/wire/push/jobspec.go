package push

import (
	"fmt"
	"reflect"

	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// JobSpec is a job as its submitter wants it (CIP-2). On the wire and on chain it
// is a map in deterministic CBOR with every field, null if absent.
type JobSpec struct {
	JobType            JobType       `cbor:"job_type"`
	Bounds             Bounds        `cbor:"bounds"`
	Verification       Verification  `cbor:"verification"`
	MaxPrice           types.Wei     `cbor:"max_price"`
	Tip                types.Wei     `cbor:"tip"`
	TimeoutBlocks      uint64        `cbor:"timeout_blocks"`
	Callback           *Callback     `cbor:"callback"`
	Submitter          types.Address `cbor:"submitter"`
	SubmittedAt        types.Height  `cbor:"submitted_at"`
	RequiredRunnerPool *string       `cbor:"required_runner_pool"`
	ResultSchema       ResultSchema  `cbor:"result_schema"`
}

// Bounds are what a job may use, none of them 0.
type Bounds struct {
	MaxInputTokens     uint64 `cbor:"max_input_tokens"`
	MaxOutputTokens    uint64 `cbor:"max_output_tokens"`
	MaxWallTimeSeconds uint64 `cbor:"max_wall_time_seconds"`
	MaxMemoryMB        uint64 `cbor:"max_memory_mb"`
	MaxRetries         uint64 `cbor:"max_retries"`
}

// Verification is how results are judged, and by how many runners' agreement.
type Verification struct {
	Mode        Mode    `cbor:"mode"`
	Runners     uint64  `cbor:"runners"`   // M, the committee
	Threshold   *uint64 `cbor:"threshold"` // null for ceil(2M/3)
	Field       *string `cbor:"field"`     // of MajorityVote: a JSON pointer; null for the whole result
	Checks      []Check `cbor:"checks"`    // of StructuredMatch
	TEERequired bool    `cbor:"tee_required"`
}

// Mode is a way to verify results (CIP-2).
type Mode string

// The six modes.
const (
	None               Mode = "None"
	EconomicBond       Mode = "EconomicBond"
	MajorityVote       Mode = "MajorityVote"
	StructuredMatch    Mode = "StructuredMatch"
	Deterministic      Mode = "Deterministic"
	SemanticSimilarity Mode = "SemanticSimilarity"
)

func (Mode) words() []string {
	return []string{string(None), string(EconomicBond), string(MajorityVote), string(StructuredMatch), string(Deterministic),
		string(SemanticSimilarity)}
}

// Check is one of four of StructuredMatch.
type Check struct {
	_         choice
	Schema    *string    `cbor:"Schema"` // JSON
	Equal     *[]string  `cbor:"Equal"`  // JSON pointers
	Tolerance *Tolerance `cbor:"Tolerance"`
	Range     *Range     `cbor:"Range"`
}

// Tolerance lets numbers differ by a share.
type Tolerance struct {
	Pointer  string `cbor:"pointer"`
	Permille uint64 `cbor:"permille"`
}

// Range bounds a number, both ends included.
type Range struct {
	Pointer string `cbor:"pointer"`
	Min     uint64 `cbor:"min"`
	Max     uint64 `cbor:"max"`
}

// Callback is the actor that gets the result.
type Callback struct {
	Actor         types.Address `cbor:"actor"`
	Handler       string        `cbor:"handler"`
	CorrelationID []byte        `cbor:"correlation_id"`
	Context       []byte        `cbor:"context"`
}

// ResultSchema is what a result may be.
type ResultSchema struct {
	MaxReturnBytes      uint64     `cbor:"max_return_bytes"`
	ExpectedExecutionMS uint64     `cbor:"expected_execution_ms"`
	DataFormat          DataFormat `cbor:"data_format"`
}

// DataFormat is what the bytes of a result are.
type DataFormat string

// The three formats.
const (
	FormatBytes DataFormat = "bytes"
	FormatText  DataFormat = "text"
	FormatJSON  DataFormat = "json"
)

func (DataFormat) words() []string {
	return []string{string(FormatBytes), string(FormatText), string(FormatJSON)}
}

// specForm is the form of a JobSpec by itself.
var specForm = memo.OnNeed(func() *form { return formOf(reflect.TypeFor[JobSpec](), "") })

// Hash is keccak256 of the canonical spec: what an assignment's signature covers.
func (s *JobSpec) Hash() types.Hash { return types.Keccak(s.AppendCBOR(nil)) }

// AppendCBOR implements codec.Appender: a spec has one encoding, wherever it is.
func (s *JobSpec) AppendCBOR(dst []byte) []byte {
	return specForm().write(dst, reflect.ValueOf(s).Elem())
}

// UnmarshalCBOR reads a spec in any order of fields; a codec.Unmarshal around it
// enforces the canonical form.
func (s *JobSpec) UnmarshalCBOR(data []byte) error {
	if err := checkOneItem(data); err != nil {
		return fmt.Errorf("no valid CBOR: %w", err)
	}
	var read JobSpec
	if _, err := specForm().read(data, reflect.ValueOf(&read).Elem()); err != nil {
		return fmt.Errorf("%s: %s", err.withPath("job_spec").path, err.detail)
	}
	*s = read
	return nil
}
