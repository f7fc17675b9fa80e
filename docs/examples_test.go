package docs

import (
	"crypto/ecdh"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// lines is an example under way: a name and bytes a line.
type lines struct{ strings.Builder }

const (
	nameWidth = 26
	lineBytes = 48
)

// add writes bytes after their name; a long value continues on the next line.
func (l *lines) add(name string, data []byte) {
	for {
		n := min(len(data), lineBytes)
		fmt.Fprintf(l, "%-*s %s\n", nameWidth, name, hex.EncodeToString(data[:n]))
		if data = data[n:]; len(data) == 0 {
			return
		}
		name = ""
	}
}

// array writes an encoded array, one element per line.
func (l *lines) array(data []byte, names ...string) {
	var elements []cbor.RawMessage
	if err := cbor.Unmarshal(data, &elements); err != nil || len(elements) != len(names) {
		panic(fmt.Sprintf("%d elements with %d names: %v", len(elements), len(names), err))
	}
	size := 0
	for _, e := range elements {
		size += len(e)
	}
	l.add(fmt.Sprintf("array of %d", len(names)), data[:len(data)-size])
	for i, e := range elements {
		l.add(names[i], e)
	}
}

const chainID = 8011

var (
	alice     = crypto.DeriveKey(1, "account/alice")
	validator = crypto.DeriveKey(1, "validator/v0")
	code      = []byte("def go(payload): pass\n")
	counter   = actors.ActorAddress(alice.Address(), types.Hash{}, code)
)

// examples are the examples of WIRE.md by their names.
var examples = map[string]func(*lines){
	"key": func(l *lines) {
		secret, public, address := alice.Secret(), alice.PublicKey(), alice.Address()
		l.add("secret", secret[:])
		l.add("public key", public[:])
		l.add("address", address[:])
	},
	"ids": func(l *lines) {
		deployer, codeHash := alice.Address(), types.Keccak(code)
		l.add("deployer", deployer[:])
		l.add("salt", make([]byte, 32))
		l.add("keccak256(code)", codeHash[:])
		l.add("actor", counter[:])
		id := scheduler.TimerID(counter, 12, []byte("tick"), 3)
		l.add("timer id", id[:])
		l.add("system actor 0x09", types.GovernanceAddress[:])
	},
	"payloads": func(l *lines) {
		l.add("transfer", codec.Marshal(&types.Transfer{Kind: types.KindTransfer}))
		l.add("deploy", codec.Marshal(&types.Deploy{Kind: types.KindDeploy, Code: code, Init: []byte{}, Manifest: types.Manifest{Name: "go"}}))
		l.add("execute", codec.Marshal(&types.Execute{Kind: types.KindExecute, Handler: "go", Payload: []byte("by 5")}))
		l.add("execute, sponsored", codec.Marshal(&types.Execute{Kind: types.KindExecute, Handler: "go", Payload: []byte("by 5"),
			Sponsor: types.SponsorOf(types.WeiOf(2 * types.CBY))}))
		l.add("upgrade", codec.Marshal(&types.Upgrade{Kind: types.KindUpgrade, From: types.Keccak(code), Code: []byte("pass"), Migrate: []byte{}}))
		l.add("apply_upgrade", codec.Marshal(&types.ApplyUpgrade{Kind: types.KindApply, From: types.Keccak(code), To: types.Keccak([]byte("pass"))}))
		l.add("upgrade_terms", codec.Marshal(&types.SetUpgradeTerms{Kind: types.KindTerms,
			Terms: &types.UpgradeTerms{By: types.GovernanceAddress, Delay: 20}}))
		l.add("system", codec.Marshal(&types.System{Kind: types.KindSystem, Opcode: governance.OpSetParameter,
			Args: codec.Marshal(&governance.SetParameter{Key: "cip5.max_ttl_blocks", Value: "1000", Height: 20})}))
	},
	"transaction": func(l *lines) {
		l.array(transaction().Encode(), "chain_id", "nonce", "to", "value", "cycles_limit", "cells_limit", "max_fee_per_cycle",
			"max_fee_per_cell",
			"max_priority_fee_per_cycle", "max_priority_fee_per_cell", "payload", "signature")
	},
	"transaction digest": func(l *lines) {
		tx := transaction()
		unsigned := *tx
		unsigned.Signature = nil
		digest, hash := signed(l, "cowboy/tx/1", unsigned.Encode()), tx.Hash()
		if digest != tx.SigningDigest() {
			panic("the digest is made of something else")
		}
		l.add("transaction hash", hash[:])
	},
	"vote": func(l *lines) {
		frame(l, 2, vote(), "kind: notarize", "epoch", "view", "height", "block", "bitmap", "validator", "signature")
	},
	"vote digest": func(l *lines) {
		v := vote()
		bitmap := types.Keccak(v.Bitmap)
		content := []byte{byte(v.Kind)}
		content = binary.BigEndian.AppendUint64(content, uint64(v.Epoch))
		content = binary.BigEndian.AppendUint64(content, uint64(v.View))
		content = binary.BigEndian.AppendUint64(content, uint64(v.Height))
		content = append(append(content, v.Block[:]...), bitmap[:]...)
		if signed(l, "cowboy/vote/1", content) != v.Digest(chainID) {
			panic("the digest is made of something else")
		}
	},
	"passed": func(l *lines) {
		begun := uint64(2)
		fire := types.PassedFires{Failed: []types.TimerID{scheduler.TimerID(counter, 12, []byte("tick"), 3)}, Begun: &begun}
		fire.Skipped = []types.Skip{{Begun: 0, Count: 2}}
		late := []types.LateTransaction{{Sender: alice.Address(), Nonce: 7, CPU: 2100}}
		passed := &types.Passed{Fires: fire, Late: late}
		l.array(codec.Marshal(passed), "questions", "fires", "messages", "late")
		hash := types.PassedHash(passed)
		l.add("passed", hash[:])
	},
	"proposal": func(l *lines) { frame(l, 1, proposal(), "view", "block", "signature") },
	"header": func(l *lines) {
		h := proposal().Block.Header
		l.array(codec.Marshal(&h), "chain_id", "height", "skipped", "view", "epoch", "set_epoch", "parent", "proposer", "timestamp_ms",
			"transactions", "passed", "presence",
			"subset_epoch", "randomness", "state_root", "receipts_root", "cycles_used", "cells_used", "timer_cycles_used", "basefee_cycle",
			"basefee_cell", "basefee_lane_timer", "next_set")
		hash := h.Hash()
		l.add("block hash", hash[:])
	},
	"proposal digest": func(l *lines) {
		p := proposal()
		hash := p.Block.Hash()
		content := append(binary.BigEndian.AppendUint64(nil, uint64(p.View)), hash[:]...)
		if signed(l, "cowboy/proposal/1", content) != p.Digest() {
			panic("the digest is made of something else")
		}
	},
	"certificate": func(l *lines) {
		v := vote()
		frame(l, 3, &types.Certificate{Kind: v.Kind, Epoch: v.Epoch, View: v.View, Height: v.Height, Block: v.Block,
			Votes: []types.CertificateVote{{Validator: v.Validator, Bitmap: v.Bitmap, Signature: v.Signature}}},
			"kind", "epoch", "view", "height", "block", "votes")
	},
	"block request": func(l *lines) { frame(l, 4, &simplex.BlockRequest{Hash: vote().Block}, "block") },
	"block answer":  func(l *lines) { frame(l, 5, &simplex.BlockAnswer{Block: proposal().Block}, "block") },
	"certificate request": func(l *lines) {
		frame(l, 6, &simplex.CertificateRequest{Epoch: 0, From: 5, To: 9}, "epoch", "from", "to", "block, or zeros")
	},
	"range request": func(l *lines) { frame(l, 7, &catchup.RangeRequest{From: 100, To: 163}, "from", "to") },
	"batch":         func(l *lines) { frame(l, 8, &catchup.Batch{From: 100}, "from", "blocks", "links", "finalization") },
	"transactions": func(l *lines) {
		frame(l, 9, &struct {
			_   struct{} `cbor:",toarray"`
			Raw [][]byte
		}{Raw: [][]byte{transaction().Encode()}}, "encoded transactions")
	},
	"view request": func(l *lines) { frame(l, 10, &simplex.ViewRequest{Nonce: 3_600_000_000_000}, "nonce") },
	"view answer": func(l *lines) {
		frame(l, 11, &simplex.ViewAnswer{Nonce: 3_600_000_000_000, Epoch: 0, Certificate: &types.Certificate{Kind: types.Nullify, View: 9,
			Votes: []types.CertificateVote{}}}, "nonce", "epoch", "certificate, or null")
	},
	"life request": func(l *lines) {
		frame(l, 12, &simplex.LifeRequest{Life: types.Life{1, 2, 3}, Log: types.Life{3, 2, 1}, Python: "3.11.7"}, "life", "log", "python")
	},
	"life answer": func(l *lines) {
		frame(l, 13, &simplex.LifeAnswer{For: types.Life{1, 2, 3}, Own: types.Life{4, 5, 6}, First: types.Life{7, 8, 9}, Older: true,
			Python: "3.11.2"}, "for", "own", "first", "older", "python")
	},
	"extension": func(l *lines) {
		spki := certificateKey().spki
		digest := types.Keccak([]byte("cowboy-tls/1"), spki)
		public, signature := validator.PublicKey(), validator.Sign(digest)
		l.add("subjectPublicKeyInfo", spki)
		l.add("digest", digest[:])
		l.add("secp256k1 key", public[:])
		l.add("its signature", signature[:])
		l.add("extension's value", extension(spki))
	},
	"stream": func(l *lines) {
		body := append([]byte{7}, codec.Marshal(&catchup.RangeRequest{From: 100, To: 163})...)
		l.add("stream: prompt", []byte{0})
		l.add("length", binary.BigEndian.AppendUint32(nil, uint32(len(body))))
		l.add("frame", body)
	},
}

func transaction() *types.Transaction {
	tx := &types.Transaction{ChainID: chainID, Nonce: 3, To: &counter, Value: types.WeiOf(5 * types.CBY), CyclesLimit: 250_000,
		CellsLimit:     1_000,
		MaxFeePerCycle: types.WeiOf(2000), MaxFeePerCell: types.WeiOf(1500), MaxPriorityFeePerCycle: types.WeiOf(10),
		Payload: codec.Marshal(&types.Execute{Kind: types.KindExecute, Handler: "go", Payload: []byte("by 5")})}
	signature := alice.Sign(tx.SigningDigest())
	tx.Signature = &signature
	return tx
}

func vote() *types.Vote {
	v := &types.Vote{Kind: types.Notarize, View: 9, Height: 8, Block: proposal().Block.Hash(), Bitmap: []byte{},
		Validator: validator.Address()}
	v.Signature = validator.Sign(v.Digest(chainID))
	return v
}

func proposal() *types.Proposal {
	b := &types.Block{Header: types.Header{ChainID: chainID, Height: 8, View: 9, Parent: types.Keccak([]byte("parent")),
		Proposer:  validator.Address(),
		Timestamp: 1_700_000_000_000, Transactions: types.TransactionsHash(nil), Passed: types.PassedHash(nil), Presence: types.Keccak(),
		Randomness: types.Keccak([]byte("R(8)")),
		StateRoot:  types.Keccak([]byte("state")), ReceiptsRoot: types.Keccak(), BaseFeeCycle: types.WeiOf(875), BaseFeeCell: types.WeiOf(875),
		BaseFeeLaneTimer: types.WeiOf(875)}}
	p := &types.Proposal{View: 9, Block: b}
	p.Signature = validator.Sign(p.Digest())
	return p
}

// frame writes a validators' frame: its tag and the message.
func frame(l *lines, tag byte, message any, names ...string) {
	l.add("tag", []byte{tag})
	l.array(codec.Marshal(message), names...)
}

// signed writes what a signature covers, and returns the digest.
func signed(l *lines, domain string, content []byte) types.Hash {
	id := binary.BigEndian.AppendUint64(nil, chainID)
	digest := types.Keccak([]byte(domain), id, content)
	l.add("domain", []byte(domain))
	l.add("chain id", id)
	l.add("content", content)
	l.add("digest", digest[:])
	return digest
}

// tlsKey is a certificate's key that is the same in every run.
type tlsKey struct {
	private any
	spki    []byte
}

func certificateKey() tlsKey {
	scalar := types.Keccak([]byte("a certificate's key"))
	key, err := ecdh.P256().NewPrivateKey(scalar[:])
	must(err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	private, err := x509.ParsePKCS8PrivateKey(pkcs8)
	must(err)
	spki, err := x509.MarshalPKIXPublicKey(key.PublicKey())
	must(err)
	return tlsKey{private, spki}
}

// extension is the value that binds the validator's key to a certificate's.
func extension(spki []byte) []byte {
	public, signature := validator.PublicKey(), validator.Sign(types.Keccak([]byte("cowboy-tls/1"), spki))
	der, err := asn1.Marshal(struct{ PublicKey, Signature []byte }{public[:], signature[:]})
	must(err)
	return der
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
