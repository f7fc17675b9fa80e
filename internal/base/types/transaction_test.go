package types

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

func drawAddress(t *rapid.T) Address {
	return Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "address"))
}

var instructions = rapid.Custom(func(t *rapid.T) any {
	data := rapid.SliceOfN(rapid.Byte(), 0, 40)
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return &Transfer{Kind: KindTransfer}
	case 1:
		return &Deploy{Kind: KindDeploy, Code: data.Draw(t, "code"), Salt: Hash{1}, Init: data.Draw(t, "init"),
			Manifest: Manifest{Name: rapid.String().Draw(t, "name")}}
	case 2:
		return &Execute{Kind: KindExecute, Handler: rapid.String().Draw(t, "handler"), Payload: data.Draw(t, "payload"),
			Sponsor: SponsorOf(amounts.Draw(t, "sponsor"))}
	}
	return &System{Kind: KindSystem, Opcode: rapid.Uint16().Draw(t, "opcode"), Args: codec.Marshal(map[string]uint64{"n": 5})}
})

var transactions = rapid.Custom(func(t *rapid.T) *Transaction {
	tx := &Transaction{
		ChainID: rapid.Uint64().Draw(t, "chain"), Nonce: Nonce(rapid.Uint64().Draw(t, "nonce")), Value: amounts.Draw(t, "value"),
		CyclesLimit: Cycles(rapid.Uint64().Draw(t, "cycles")), CellsLimit: Cells(rapid.Uint64().Draw(t, "cells")),
		MaxFeePerCycle: amounts.Draw(t, "fee"), MaxPriorityFeePerCell: amounts.Draw(t, "tip"),
		Payload: codec.Marshal(instructions.Draw(t, "instruction")),
	}
	if rapid.Bool().Draw(t, "has to") {
		to := drawAddress(t)
		tx.To = &to
	}
	if rapid.Bool().Draw(t, "signed") {
		tx.Signature = &Signature{64: rapid.Byte().Draw(t, "v")}
	}
	return tx
})

func TestTransactionsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tx := transactions.Draw(t, "tx")
		back, err := DecodeTransaction(tx.Encode())
		if err != nil || !reflect.DeepEqual(back, tx) || back.Hash() != tx.Hash() {
			t.Fatalf("%x came back as %v, %v", tx.Encode(), back, err)
		}
		in, err := back.Instruction()
		if err != nil && tx.To != nil {
			t.Fatalf("%x: %v", tx.Payload, err)
		}
		if err == nil && !bytes.Equal(codec.Marshal(in), tx.Payload) {
			t.Fatalf("%x was read as %v", tx.Payload, in)
		}
	})
}

// POST /submit takes an array of these twelve; the signature covers
// the array with its last element null.
func TestTransactionIsAnArrayOfTwelveAndSignedWithoutItsSignature(t *testing.T) {
	tx := sampleTransaction()
	var fields []codec.RawMessage
	if err := codec.Unmarshal(tx.Encode(), MaxTransactionBytes, &fields); err != nil || len(fields) != 12 {
		t.Fatalf("%d fields, %v", len(fields), err)
	}
	fields[11] = codec.RawMessage{0xf6}
	if want := Digest("cowboy/tx/1", tx.ChainID, codec.Marshal(fields)); tx.SigningDigest() != want {
		t.Errorf("digest %s, want %s", tx.SigningDigest(), want)
	}
	signed := tx.SigningDigest()
	tx.Signature = nil
	if tx.SigningDigest() != signed {
		t.Error("the signature is part of the signed bytes")
	}
}

// Decision C10: every field but the signature changes what is signed, and every
// field changes the hash.
func TestC10SigningDigestCoversEveryField(t *testing.T) {
	digests, hashes := map[Hash]string{}, map[Hash]string{}
	remember := func(what string, tx *Transaction) {
		if other, taken := hashes[tx.Hash()]; taken {
			t.Errorf("%s and %s have one hash", what, other)
		}
		hashes[tx.Hash()] = what
		if other, taken := digests[tx.SigningDigest()]; taken && what != "Signature" {
			t.Errorf("%s and %s have one digest", what, other)
		}
		digests[tx.SigningDigest()] = what
	}
	remember("nothing", sampleTransaction())
	fields := reflect.TypeFor[Transaction]()
	for i := 1; i < fields.NumField(); i++ {
		tx := sampleTransaction()
		change(reflect.ValueOf(tx).Elem().Field(i))
		remember(fields.Field(i).Name, tx)
	}
}

// change makes a field another.
func change(v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case **Address:
		*p = nil
	case **Signature:
		*p = nil
	case *Wei:
		*p = p.Add(WeiOf(1))
	case *codec.RawMessage:
		*p = codec.Marshal(&Transfer{Kind: KindTransfer})
	case *[]byte:
		*p = append([]byte{1}, *p...)
	default:
		switch v.Kind() {
		case reflect.Uint64, reflect.Uint8:
			v.SetUint(v.Uint() + 1)
		case reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Array:
			first := v.Index(0)
			first.SetUint(first.Uint() ^ 1)
		default:
			panic("no change for a " + v.Type().String())
		}
	}
}

func TestDecodeTransactionRefuses(t *testing.T) {
	good := sampleTransaction().Encode()
	big := sampleTransaction()
	big.Payload = codec.Marshal(&Execute{Kind: KindExecute, Payload: make([]byte, MaxTransactionBytes)})
	for _, c := range []struct {
		what string
		data []byte
		want error
	}{
		{"nothing", nil, codec.ErrMalformed},
		{"bytes behind", append(bytes.Clone(good), 0), codec.ErrMalformed},
		{"a cut", good[:len(good)-1], codec.ErrMalformed},
		{"too long", big.Encode(), codec.ErrTooLong},
		{"the nonce in two bytes", bytes.Replace(good, []byte{0x19, 0x1f, 0x4b, 0x03}, []byte{0x19, 0x1f, 0x4b, 0x18, 0x03}, 1),
			codec.ErrNotCanonical},
		{"a map", codec.Marshal(map[string]uint64{"nonce": 1}), codec.ErrMalformed},
	} {
		if tx, err := DecodeTransaction(c.data); !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "transaction: ") {
			t.Errorf("%s: %v, %v, want %v", c.what, tx, err, c.want)
		}
	}
	if _, err := DecodeTransaction(good); err != nil {
		t.Error(err)
	}
}

// The payload is raw to the transaction, so it is checked when it is read.
func TestInstructionRefuses(t *testing.T) {
	for _, c := range []struct {
		what    string
		payload []byte
		want    string
	}{
		{"no kind", codec.Marshal(map[string]uint64{"n": 1}), `kind "" is none of transfer, deploy, execute, system`},
		{"another kind", codec.Marshal(&Transfer{Kind: "burn"}), `kind "burn" is none of`},
		{"a kind that is a number", codec.Marshal(map[string]uint64{"kind": 1}), "malformed"},
		{"an unknown field", codec.Marshal(map[string]string{"kind": "transfer", "to": "bob"}),
			"payload of kind transfer: codec: input is malformed"},
		{"a missing field", codec.Marshal(map[string]string{"kind": "execute", "handler": "h"}), "not in canonical form"},
		{"a long head", []byte{0xb8, 1, 0x64, 'k', 'i', 'n', 'd', 0x68, 't', 'r', 'a', 'n', 's', 'f', 'e', 'r'}, "not in canonical form"},
		{"a salt too short", codec.Marshal(map[string]any{"kind": "deploy", "code": []byte{1}, "salt": []byte{1}, "init": []byte{},
			"manifest": map[string]string{"name": ""}}), "a hash is a byte string of 32 bytes"},
		{"null", nil, `kind "" is none of`},
		{"an array", codec.Marshal([]uint64{1}), "malformed"},
	} {
		tx := sampleTransaction()
		tx.Payload = c.payload
		if c.payload == nil {
			tx.Payload = codec.RawMessage{0xf6}
		}
		decoded, err := DecodeTransaction(tx.Encode())
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if in, err := decoded.Instruction(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %s", c.what, in, err, c.want)
		}
	}
	for _, in := range []any{&Transfer{Kind: KindTransfer},
		&Execute{Kind: KindExecute, Handler: "h", Payload: []byte{}, Sponsor: SponsorOf(WeiOf(7))}} {
		tx := sampleTransaction()
		tx.To, tx.Payload = nil, codec.Marshal(in)
		if got, err := tx.Instruction(); err == nil {
			t.Errorf("%T without to was read as %v", in, got)
		}
	}
}

// A transaction is outside input: whatever is read has one encoding, one hash,
// and an instruction or an error.
func FuzzDecodeTransaction(f *testing.F) {
	f.Add(sampleTransaction().Encode())
	for _, in := range []any{
		&Transfer{Kind: KindTransfer}, &Deploy{Kind: KindDeploy, Code: []byte("x"), Init: []byte{}},
		&System{Kind: KindSystem, Opcode: 48, Args: codec.Marshal(map[string]uint64{})},
	} {
		tx := sampleTransaction()
		tx.Payload = codec.Marshal(in)
		f.Add(tx.Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tx, err := DecodeTransaction(data)
		if err != nil {
			return
		}
		if !bytes.Equal(tx.Encode(), data) || tx.Hash() != Keccak(data) {
			t.Fatalf("%x was read as %x", data, tx.Encode())
		}
		if in, err := tx.Instruction(); err == nil && !bytes.Equal(codec.Marshal(in), tx.Payload) {
			t.Fatalf("payload %x was read as %v", tx.Payload, in)
		}
	})
}
