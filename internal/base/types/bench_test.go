package types

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

func BenchmarkTransaction(b *testing.B) {
	tx := sampleTransaction()
	data := tx.Encode()
	b.Run("hash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tx.Hash()
		}
	})
	b.Run("keccak of its bytes", func(b *testing.B) { // baseline: the rest if the encoding is available
		for b.Loop() {
			Keccak(data)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodeTransaction(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode without the re-encoding", func(b *testing.B) {
		for b.Loop() {
			if err := codec.UnmarshalLoose(data, MaxTransactionBytes, new(Transaction)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkBlock(b *testing.B) {
	block := sampleBlock(100)
	data := codec.Marshal(block)
	b.Run("header hash", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			block.Hash()
		}
	})
	b.Run("encode 100 transactions", func(b *testing.B) {
		for b.Loop() {
			codec.Marshal(block)
		}
	})
	b.Run("decode 100 transactions", func(b *testing.B) {
		for b.Loop() {
			if err := codec.Unmarshal(data, MaxBlockBytes, new(Block)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkKeccak(b *testing.B) {
	data := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		Keccak(data)
	}
}
