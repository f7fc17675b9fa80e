package types

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

func TestConsensusTypesRoundTrip(t *testing.T) {
	bare := &Block{Header: Header{Height: 1}}
	nullify := &Vote{Kind: Nullify, View: 9, Validator: address(3)}
	set := &ValidatorSet{Epoch: 1, Members: []Validator{{Address: address(1), PublicKey: PublicKey{2}, Endpoint: "127.0.0.1:4001"}}}
	for _, in := range []any{
		sampleVote(), nullify, sampleCertificate(), sampleBlock(0), sampleBlock(3), bare, set,
		&Proposal{View: 80, Block: sampleBlock(1), Signature: Signature{1}}, &sampleBlock(1).Header,
		&Block{Header: Header{Height: 65}, Parent: sampleCertificate(), Finalization: sampleCertificate()},
	} {
		data := codec.Marshal(in)
		out := reflect.New(reflect.TypeOf(in).Elem()).Interface()
		if err := codec.Unmarshal(data, MaxBlockBytes, out); err != nil || !reflect.DeepEqual(in, out) {
			t.Errorf("%T: %x came back as %v, %v", in, data, out, err)
		}
	}
}

// The block hash covers the header and nothing else, every field of it.
func TestC3HashCoversEveryHeaderFieldAndNotTheVotes(t *testing.T) {
	block := sampleBlock(2)
	hash := block.Hash()
	block.Parent = nil
	block.Transactions = nil
	if block.Hash() != hash {
		t.Error("the hash covers more than the header")
	}
	fields := reflect.TypeFor[Header]()
	seen := map[Hash]string{hash: "nothing"}
	for i := 1; i < fields.NumField(); i++ {
		header := sampleBlock(2).Header
		field := reflect.ValueOf(&header).Elem().Field(i)
		if w, ok := field.Addr().Interface().(*Wei); ok {
			*w = WeiOf(4711)
		} else {
			change(field)
		}
		if other, taken := seen[header.Hash()]; taken {
			t.Errorf("%s and %s hash alike", fields.Field(i).Name, other)
		}
		seen[header.Hash()] = fields.Field(i).Name
	}
}

// Decision C3: a notarize vote signs its bitmap's hash. A vote's digest covers
// all but validator and signature, and the chain.
func TestC3VoteDigest(t *testing.T) {
	seen := map[Hash]string{sampleVote().Digest(1): "nothing", sampleVote().Digest(2): "the chain"}
	if len(seen) != 2 {
		t.Error("the digest ignores the chain")
	}
	fields := reflect.TypeFor[Vote]()
	for i := 1; i < fields.NumField(); i++ {
		name := fields.Field(i).Name
		v := sampleVote()
		change(reflect.ValueOf(v).Elem().Field(i))
		other, taken := seen[v.Digest(1)]
		if covered := name != "Validator" && name != "Signature"; taken == covered {
			t.Errorf("%s: its digest equals the digest of a change of %q", name, other)
		}
		seen[v.Digest(1)] = name
	}
	for _, kind := range []VoteKind{Nullify, Finalize} {
		v := sampleVote()
		v.Kind = kind
		with := v.Digest(1)
		v.Bitmap = nil
		if v.Digest(1) != with {
			t.Errorf("a %s vote signs a bitmap", kind)
		}
	}
}

func TestACertificateHoldsWholeVotes(t *testing.T) {
	c := sampleCertificate()
	want := sampleVote()
	want.Validator, want.Bitmap, want.Signature = c.Votes[1].Validator, c.Votes[1].Bitmap, c.Votes[1].Signature
	if got := c.Vote(1); !reflect.DeepEqual(&got, want) {
		t.Errorf("vote %v, want %v", got, want)
	}
}

// Decision C1: f = floor((n-1)/3), certificates of n - f, leaders in the order
// of addresses.
func TestC1QuorumsAndLeaders(t *testing.T) {
	for n, want := range map[int][2]int{1: {0, 1}, 2: {0, 2}, 3: {0, 3}, 4: {1, 3}, 5: {1, 4}, 6: {1, 5}, 7: {2, 5}, 10: {3, 7},
		100: {33, 67}} {
		set := &ValidatorSet{Members: make([]Validator, n)}
		if set.MaxFaulty() != want[0] || set.Quorum() != want[1] {
			t.Errorf("n %d: f %d, quorum %d, want %v", n, set.MaxFaulty(), set.Quorum(), want)
		}
		if 2*set.Quorum()-n <= set.MaxFaulty() {
			t.Errorf("n %d: two quorums may share only faulty validators", n)
		}
	}
	set := new(ValidatorSet)
	for i := range byte(4) {
		set.Members = append(set.Members, Validator{Address: address(i)})
	}
	for v := View(0); v < 9; v++ {
		if set.Leader(v) != address(byte(v%4)) {
			t.Errorf("view %d is led by %s", v, set.Leader(v))
		}
	}
	if set.Index(address(2)) != 2 || set.Index(address(9)) != -1 {
		t.Error("Index finds the wrong member")
	}
}

// A proposal's digest covers its view, since the last block of an epoch is
// proposed in several (decision C6).
func TestC6ProposalDigest(t *testing.T) {
	p := &Proposal{View: 80, Block: sampleBlock(1)}
	first := p.Digest()
	p.View++
	if p.Digest() == first {
		t.Error("the digest ignores the view")
	}
	p.View--
	p.Block.Header.ChainID++
	if p.Digest() == first {
		t.Error("the digest ignores the chain")
	}
}

func TestTransactionsHashCoversOrderAndSignatures(t *testing.T) {
	txs := sampleBlock(2).Transactions
	hash := TransactionsHash(txs)
	if TransactionsHash([]Transaction{txs[1], txs[0]}) == hash {
		t.Error("the order is not covered")
	}
	txs[0].Signature = &Signature{64: 1}
	if TransactionsHash(txs) == hash {
		t.Error("signatures are not covered")
	}
	if TransactionsHash(nil) != Keccak() {
		t.Error("no transactions do not hash to keccak256 of nothing")
	}
}

// Blocks and certificates come from peers.
func FuzzDecodeBlock(f *testing.F) {
	f.Add(codec.Marshal(sampleBlock(2)))
	f.Add(codec.Marshal(&Block{}))
	f.Add(codec.Marshal(&Proposal{View: 3, Block: sampleBlock(1)}))
	f.Add(codec.Marshal(sampleCertificate()))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range []any{new(Block), new(Proposal), new(Certificate), new(Vote)} {
			if codec.Unmarshal(data, MaxBlockBytes, v) != nil {
				continue
			}
			if !bytes.Equal(codec.Marshal(v), data) {
				t.Fatalf("%x was read as a %T that is %x", data, v, codec.Marshal(v))
			}
			if b, ok := v.(*Block); ok {
				b.Hash()
				TransactionsHash(b.Transactions)
			}
		}
	})
}
