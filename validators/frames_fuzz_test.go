package validators

import (
	"bytes"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// A frame that is read is the only encoding of its content.
func FuzzDecodeFrame(f *testing.F) {
	for _, message := range []any{
		&types.Proposal{View: 1, Block: &types.Block{Transactions: []types.Transaction{}}}, &types.Vote{Kind: types.Notarize, View: 1},
		&types.Certificate{Kind: types.Nullify, View: 2}, &simplex.BlockRequest{}, &simplex.BlockAnswer{}, &simplex.CertificateRequest{},
		&catchup.RangeRequest{From: 1, To: 2}, &catchup.Batch{}, &transactions{Raw: [][]byte{{1}}}, &simplex.ViewRequest{Nonce: 1},
		&simplex.LifeRequest{Life: types.Life{1}}, &simplex.LifeAnswer{For: types.Life{1}, Own: types.Life{2}, Older: true},
		&simplex.ViewAnswer{Nonce: 1, Certificate: &types.Certificate{Kind: types.Nullify, View: 2}},
	} {
		f.Add(encodeFrame(message))
	}
	f.Add([]byte{})
	f.Add([]byte{255, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		message, err := decodeFrame(frame)
		if err != nil {
			return
		}
		if again := encodeFrame(message); !bytes.Equal(again, frame) {
			t.Errorf("%x is read, and written as %x", frame, again)
		}
	})
}

// Each kind of frame has a limit that is enforced.
func TestFramesHaveLimits(t *testing.T) {
	long := make([]byte, maxTransactionsFrame+1)
	for _, c := range []struct {
		name    string
		message any
	}{
		{"a vote with a long bitmap", &types.Vote{Kind: types.Notarize, Bitmap: long[:maxVoteFrame]}},
		{"a certificate with long bitmaps", &types.Certificate{Votes: []types.CertificateVote{{Bitmap: long[:maxCertificateFrame]}}}},
		{"a view by a certificate with long bitmaps",
			&simplex.ViewAnswer{Certificate: &types.Certificate{Votes: []types.CertificateVote{{Bitmap: long[:maxCertificateFrame]}}}}},
		{"many transactions", &transactions{Raw: [][]byte{long}}},
	} {
		if _, err := decodeFrame(encodeFrame(c.message)); err == nil {
			t.Errorf("%s is read", c.name)
		}
	}
}
