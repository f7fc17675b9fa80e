package types

import "github.com/cowboyinc/devnet/internal/base/codec"

func address(n byte) Address { return Address{0: 0xa0, 19: n} }

func sampleTransaction() *Transaction {
	to := address(7)
	return &Transaction{
		ChainID: 8011, Nonce: 3, To: &to, Value: WeiOf(5 * CBY), CyclesLimit: 250_000, CellsLimit: 1_000,
		MaxFeePerCycle: WeiOf(2000), MaxFeePerCell: WeiOf(1500), MaxPriorityFeePerCycle: WeiOf(10),
		Payload:   codec.Marshal(&Execute{Kind: KindExecute, Handler: "increment", Payload: []byte("by 5")}),
		Signature: &Signature{0: 1, 31: 2, 63: 3, 64: 1},
	}
}

func sampleVote() *Vote {
	return &Vote{Kind: Notarize, Epoch: 2, View: 77, Height: 70, Block: Keccak([]byte("block")), Bitmap: []byte{0x0f, 0x80},
		Validator: address(1), Signature: Signature{5: 5}}
}

func sampleCertificate() *Certificate {
	v := sampleVote()
	c := &Certificate{Kind: v.Kind, Epoch: v.Epoch, View: v.View, Height: v.Height, Block: v.Block}
	for i := range byte(3) {
		c.Votes = append(c.Votes, CertificateVote{Validator: address(i + 1), Bitmap: []byte{i, 0x80}, Signature: Signature{0: i, 64: 1}})
	}
	return c
}

func sampleBlock(transactions int) *Block {
	b := &Block{Header: Header{
		ChainID: 8011, Height: 71, View: 78, Epoch: 2, Parent: Keccak([]byte("parent")), Proposer: address(2), Timestamp: 1_700_000_000_123,
		StateRoot: Keccak([]byte("state")), CyclesUsed: 12_345, BaseFeeCycle: WeiOf(1000), BaseFeeCell: WeiOf(1000), BaseFeeLaneTimer: MaxWei,
	}, Parent: sampleCertificate()}
	for i := range transactions {
		tx := sampleTransaction()
		tx.Nonce = Nonce(i)
		b.Transactions = append(b.Transactions, *tx)
	}
	b.Header.Transactions = TransactionsHash(b.Transactions)
	return b
}
