package validators

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// crowdVote is a vote to notarize with the bits of the given number of runners, all
// present.
func crowdVote(runners int) *types.Vote {
	bits := selection.NewBitmap(runners)
	for i := range runners {
		bits.Set(i, true)
	}
	return &types.Vote{Kind: types.Notarize, Epoch: 1, View: 1_000, Height: 1_000, Bitmap: bits.Bytes()}
}

// carried is the notarization that a block carries on its parent: of a quorum.
func carried(validators, runners int) *types.Certificate {
	v := crowdVote(runners)
	c := &types.Certificate{Kind: v.Kind, Epoch: v.Epoch, View: v.View, Height: v.Height}
	for i := range validators - (validators-1)/3 {
		c.Votes = append(c.Votes, types.CertificateVote{Validator: types.Address{byte(i)}, Bitmap: v.Bitmap})
	}
	return c
}

// TestSection83WhatACrowdAddsToVotes: a byte for eight runners and five or six
// of lengths, once in a vote and once for each vote of the quorum in the next block.
// Votes to finalize and to nullify have none.
func TestSection83WhatACrowdAddsToVotes(t *testing.T) {
	for _, c := range []struct{ validators, runners, vote, block int }{
		{10, 0, 133, 675}, {10, 1_000, 263, 1_585}, {10, 10_000, 1_389, 9_467},
		{100, 0, 133, 6_076}, {100, 1_000, 263, 14_786}, {100, 10_000, 1_389, 90_228},
	} {
		if got := len(encodeFrame(crowdVote(c.runners))); got != c.vote {
			t.Errorf("%d runners: a vote has %d bytes, want %d", c.runners, got, c.vote)
		}
		if got := len(encodeFrame(carried(c.validators, c.runners))); got != c.block {
			t.Errorf("%d validators, %d runners: the votes in a block have %d bytes, want %d", c.validators, c.runners, got, c.block)
		}
	}
}

// cpu is the time that the process has had of all cores, which other processes do not
// change.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func tellCPU(b *testing.B, since time.Duration) {
	b.ReportMetric(float64((cpu(b)-since).Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkCrowdVote is the cost of one vote for its voter and each receiver, compared
// with one without runners. §15.7 asks for it.
func BenchmarkCrowdVote(b *testing.B) {
	verifier := crypto.NewVerifier(false)
	signer := verifier.Signer(crypto.DeriveKey(1, "v0"))
	for _, runners := range []int{0, 1_000, 10_000} {
		v := crowdVote(runners)
		v.Validator = signer.Address()
		v.Signature = signer.Sign(v.Digest(1))
		frame := encodeFrame(v)
		b.Run(fmt.Sprint("say/", runners), func(b *testing.B) {
			defer tellCPU(b, cpu(b))
			for b.Loop() {
				v.Signature = signer.Sign(v.Digest(1))
				encodeFrame(v)
			}
		})
		b.Run(fmt.Sprint("hear/", runners), func(b *testing.B) {
			defer tellCPU(b, cpu(b))
			for b.Loop() {
				heard, err := decodeFrame(frame)
				if err != nil {
					b.Fatal(err)
				}
				vote := heard.(*types.Vote)
				if who, ok := verifier.Recover(vote.Digest(1), vote.Signature); !ok || who != signer.Address() {
					b.Fatal("the signature belongs to another validator")
				}
			}
		})
	}
}
