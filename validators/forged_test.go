package validators

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// The chain for forged batches: a set of seven, 0 to 6, decides up to block 10, the
// last before a border; after it a set of four, 0 to 3. The root is block 10, and
// an answer has the blocks 11, 12 and 13 and the headers 14 and 15.
const (
	forgedChain            = 8011
	formerEpoch            = types.Epoch(4)
	presentEpoch           = types.Epoch(5)
	rootHeight, lastHeight = types.Height(10), types.Height(15)
	carriedBlocks          = 3
)

var forgedKeys = func() (keys []*crypto.Key) {
	for i := range 7 {
		keys = append(keys, crypto.DeriveKey(1, fmt.Sprint("validator/v", i)))
	}
	return keys
}()

func forgedSet(epoch types.Epoch, members int) types.ValidatorSet {
	set := types.ValidatorSet{Epoch: epoch}
	for _, key := range forgedKeys[:members] {
		set.Members = append(set.Members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey()})
	}
	slices.SortFunc(set.Members, func(a, b types.Validator) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	return set
}

// signers are the places in forgedKeys of a set's members in its order.
func signers(set *types.ValidatorSet, places ...int) (keys []*crypto.Key) {
	for _, place := range places {
		for _, key := range forgedKeys {
			if key.Address() == set.Members[place].Address {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// forged is an answer in the making. Blocks are linked and certificates signed by
// the honest rule after change had each header, so that only what is changed is
// wrong.
type forged struct {
	former, present types.ValidatorSet
	root            catchup.Root
	batch           *catchup.Batch
}

// headers changes a header before its hash is taken.
type headers func(h *types.Header)

func forge(change headers) *forged {
	f := &forged{former: forgedSet(formerEpoch, 7), present: forgedSet(presentEpoch, 4)}
	at := &types.Block{Header: types.Header{ChainID: forgedChain, Height: rootHeight, View: 20, Epoch: formerEpoch, SetEpoch: formerEpoch,
		NextSet: f.present.Hash()}}
	f.root = catchup.Root{Block: at, Hash: at.Hash(), Set: f.present, Previous: &f.former}
	f.root.Finalization = f.certificate(types.Finalize, &at.Header, 5)
	f.batch = &catchup.Batch{From: rootHeight + 1}
	for height := rootHeight + 1; height <= lastHeight; height++ {
		parent := &at.Header
		at = &types.Block{Header: types.Header{ChainID: forgedChain, Height: parent.Height + 1, View: parent.View + 1, Epoch: presentEpoch,
			SetEpoch: presentEpoch,
			Parent:   parent.Hash(), Transactions: types.TransactionsHash(nil), Passed: types.PassedHash(nil)}}
		if change != nil && height > rootHeight {
			change(&at.Header)
		}
		at.Parent = f.certificate(types.Notarize, parent, f.quorum(parent))
		if parent.Border() {
			at.Finalization = f.certificate(types.Finalize, parent, f.quorum(parent))
		}
		if len(f.batch.Blocks) < carriedBlocks {
			f.batch.Blocks = append(f.batch.Blocks, at)
		} else {
			f.batch.Links = append(f.batch.Links, at.Header)
		}
	}
	f.batch.Finalization = f.certificate(types.Finalize, &at.Header, 3)
	return f
}

func (f *forged) quorum(h *types.Header) int {
	if h.SetEpoch == formerEpoch {
		return 5
	}
	return 3
}

// certificate has votes of the first votes members of the header's set.
func (f *forged) certificate(kind types.VoteKind, h *types.Header, votes int) *types.Certificate {
	set := &f.present
	if h.SetEpoch == formerEpoch {
		set = &f.former
	}
	places := make([]int, votes)
	for i := range places {
		places[i] = i
	}
	c := &types.Certificate{Kind: kind, Epoch: set.Epoch, View: h.View, Height: h.Height, Block: h.Hash()}
	return signedCertificate(c, forgedChain, signers(set, places...)...)
}

// signedCertificate is c with votes of only these keys.
func signedCertificate(c *types.Certificate, chainID uint64, keys ...*crypto.Key) *types.Certificate {
	signed := *c
	signed.Votes = nil
	for i, key := range keys {
		vote := types.CertificateVote{Validator: key.Address()}
		if c.Kind == types.Notarize {
			vote.Bitmap = []byte{}
		}
		signed.Votes = append(signed.Votes, vote)
		v := signed.Vote(i)
		signed.Votes[i].Signature = key.Sign(v.Digest(chainID))
	}
	return &signed
}

// unlinked leaves the headers away, so that the last block's own finalization ends
// the answer.
func (f *forged) unlinked() *forged {
	f.batch.Links = nil
	last := &f.batch.Blocks[len(f.batch.Blocks)-1].Header
	f.batch.Finalization = f.certificate(types.Finalize, &types.Header{Height: last.Height, View: last.View, SetEpoch: presentEpoch}, 3)
	f.batch.Finalization.Block = last.Hash()
	f.batch.Finalization = signedCertificate(f.batch.Finalization, forgedChain, signers(&f.present, 0, 1, 2)...)
	return f
}

// verdict returns the code of the refusal of an answer, "" if it is taken.
func (f *forged) verdict() (code string, looked int) {
	_, err := checkBatch(forgedChain, crypto.NewVerifier(false), f.batch, &f.root, func(votes int) { looked += votes })
	var batch *catchup.Invalid
	var votes *simplex.Invalid
	var unknown *simplex.UnknownEpoch
	switch {
	case errors.As(err, &batch):
		return batch.Code, looked
	case errors.As(err, &votes):
		return votes.Code, looked
	case errors.As(err, &unknown):
		return "unknown_epoch", looked
	case err != nil:
		return err.Error(), looked
	}
	return "", looked
}

// only changes the header of one height.
func only(height types.Height, change headers) headers {
	return func(h *types.Header) {
		if h.Height == height {
			change(h)
		}
	}
}

// Each row is wrong in one thing, and right in all others: whichever check is taken
// out, a row is taken that must not be, or for another reason.
func TestForgedBatchesAreRefused(t *testing.T) {
	type row struct {
		name, code string
		f          *forged
	}
	var rows []row
	add := func(name, code string, f *forged) { rows = append(rows, row{name, code, f}) }
	with := func(name, code string, change func(f *forged)) {
		f := forge(nil)
		change(f)
		add(name, code, f)
	}
	block := func(name, code string, place int, change func(f *forged, b *types.Block)) {
		with(name, code, func(f *forged) { change(f, f.batch.Blocks[place]) })
	}
	add("as it is", "", forge(nil))
	add("without links", "", forge(nil).unlinked())
	add("with heights skipped", "", forge(func(h *types.Header) {
		if h.Height == 12 {
			h.Skipped, h.Height = 2, 14
		}
	}))

	with("without blocks", "bad_size", func(f *forged) { f.batch.Blocks = nil })
	with("with a block missing", "bad_size", func(f *forged) { f.batch.Blocks[1] = nil })
	with("without a finalization", "bad_size", func(f *forged) { f.batch.Finalization = nil })
	with("with too many blocks", "bad_size", func(f *forged) {
		last := f.batch.Blocks[carriedBlocks-1]
		for range catchup.MaxBatchBlocks {
			f.batch.Blocks = append(f.batch.Blocks, last)
		}
	})
	with("with too many links", "bad_size", func(f *forged) {
		f.batch.Links = append(f.batch.Links, make([]types.Header, catchup.MaxLinks)...)
	})

	elsewhere := forge(only(12, func(h *types.Header) { h.Parent[0]++ }))
	fork := *elsewhere.batch.Blocks[1].Parent
	fork.Block = elsewhere.batch.Blocks[1].Header.Parent
	elsewhere.batch.Blocks[1].Parent = signedCertificate(&fork, forgedChain, signers(&elsewhere.present, 0, 1, 2)...)
	add("on another block", "not_linked", elsewhere)
	add("a link on another block", "not_linked", forge(only(14, func(h *types.Header) { h.Parent[0]++ })))
	with("with the first block twice", "wrong_certificates", func(f *forged) { f.batch.Blocks[1] = f.batch.Blocks[0] })
	with("with a link left out", "not_linked", func(f *forged) { f.batch.Links = f.batch.Links[1:] })
	add("a height too high", "wrong_height", forge(only(13, func(h *types.Header) { h.Height++ })).unlinked())
	add("a link's height too high", "wrong_height", forge(only(15, func(h *types.Header) { h.Height++ })))
	add("a skip without its heights", "wrong_height", forge(only(13, func(h *types.Header) { h.Skipped = 7 })).unlinked())
	add("a height around the end of all heights", "wrong_height",
		forge(only(13, func(h *types.Header) { h.Skipped, h.Height = ^uint64(0), 12 })).unlinked())

	add("decided by the set before", "wrong_epoch", forge(only(13, func(h *types.Header) { h.SetEpoch = formerEpoch })).unlinked())
	add("decided by a set to come", "wrong_epoch", forge(only(13, func(h *types.Header) { h.SetEpoch++ })).unlinked())
	add("a link decided by the set before", "wrong_epoch", forge(only(15, func(h *types.Header) { h.SetEpoch = formerEpoch })))
	add("beyond a border", "wrong_epoch", forge(only(12, func(h *types.Header) { h.NextSet = types.Hash{1} })))
	add("up to a border", "", forge(only(13, func(h *types.Header) { h.NextSet = types.Hash{1} })).unlinked())
	add("links beyond a border", "wrong_epoch", forge(only(13, func(h *types.Header) { h.NextSet = types.Hash{1} })))

	block("with a transaction more", "wrong_body", 1, func(_ *forged, b *types.Block) { b.Transactions = []types.Transaction{{Nonce: 1}} })
	block("with a skipped item", "wrong_body", 1, func(_ *forged, b *types.Block) {
		begun := uint64(0)
		b.Passed = &types.Passed{Fires: types.PassedList[types.TimerID]{Begun: &begun}}
	})

	block("without its parent's notarization", "wrong_certificates", 1, func(_ *forged, b *types.Block) { b.Parent = nil })
	block("without the finalization at the border", "wrong_certificates", 0, func(_ *forged, b *types.Block) { b.Finalization = nil })
	block("with a finalization between borders", "wrong_certificates", 1, func(f *forged, b *types.Block) {
		b.Finalization = f.certificate(types.Finalize, &f.batch.Blocks[0].Header, 3)
	})
	for place, name := range []string{"at the border", "within the epoch"} {
		carries := func(what, code string, change func(f *forged, c *types.Certificate), keys func(f *forged) []*crypto.Key) {
			block("carrying "+what+" "+name, code, place, func(f *forged, b *types.Block) {
				c := *b.Parent
				change(f, &c)
				b.Parent = signedCertificate(&c, forgedChain, keys(f)...)
			})
		}
		right := func(f *forged) []*crypto.Key {
			return [][]*crypto.Key{signers(&f.former, 0, 1, 2, 3, 4), signers(&f.present, 0, 1, 2)}[place]
		}
		few := func(f *forged) []*crypto.Key { return right(f)[1:] }
		same := func(*forged, *types.Certificate) {}
		carries("a finalization as notarization", "wrong_certificates", func(_ *forged, c *types.Certificate) { c.Kind = types.Finalize }, right)
		carries("a notarization of another block", "wrong_certificates", func(_ *forged, c *types.Certificate) { c.Block[5]++ }, right)
		carries("a notarization of another height", "wrong_certificates", func(_ *forged, c *types.Certificate) { c.Height++ }, right)
		carries("a notarization by the other set", "wrong_certificates",
			func(_ *forged, c *types.Certificate) { c.Epoch = presentEpoch + formerEpoch - c.Epoch },
			func(f *forged) []*crypto.Key {
				return [][]*crypto.Key{signers(&f.present, 0, 1, 2), signers(&f.former, 0, 1, 2, 3, 4)}[place]
			})
		carries("a notarization one vote short", "no_quorum", same, few)
	}
	finalizing := func(what, code string, change func(c *types.Certificate), places ...int) {
		block("carrying at the border "+what, code, 0, func(f *forged, b *types.Block) {
			c := *b.Finalization
			change(&c)
			b.Finalization = signedCertificate(&c, forgedChain, signers(&f.former, places...)...)
		})
	}
	finalizing("a finalization of others", "", func(*types.Certificate) {}, 1, 2, 3, 5, 6)
	finalizing("a finalization one vote short", "no_quorum", func(*types.Certificate) {}, 0, 1, 2, 3)
	finalizing("a notarization as finalization", "wrong_certificates", func(c *types.Certificate) { c.Kind = types.Notarize }, 0, 1, 2, 3, 4)
	finalizing("a finalization of another block", "wrong_certificates", func(c *types.Certificate) { c.Block[5]++ }, 0, 1, 2, 3, 4)
	finalizing("a finalization of another height", "wrong_certificates", func(c *types.Certificate) { c.Height-- }, 0, 1, 2, 3, 4)
	finalizing("a finalization of another epoch", "wrong_certificates", func(c *types.Certificate) { c.Epoch = presentEpoch }, 0, 1, 2)
	with("with the set before unknown", "unknown_epoch", func(f *forged) { f.root.Previous = nil })

	for _, links := range []string{"links", "blocks"} {
		ending := func(what, code string, change func(f *forged, c *types.Certificate), chainID uint64, keys func(f *forged) []*crypto.Key) {
			f := forge(nil)
			if links == "blocks" {
				f.unlinked()
			}
			c := *f.batch.Finalization
			change(f, &c)
			f.batch.Finalization = signedCertificate(&c, chainID, keys(f)...)
			add("ending after "+links+" with "+what, code, f)
		}
		same := func(*forged, *types.Certificate) {}
		quorum := func(f *forged) []*crypto.Key { return signers(&f.present, 0, 1, 2) }
		ending("a quorum", "", same, forgedChain, func(f *forged) []*crypto.Key { return signers(&f.present, 0, 2, 3) })
		ending("a notarization", "not_final", func(_ *forged, c *types.Certificate) { c.Kind = types.Notarize }, forgedChain, quorum)
		ending("another block's", "not_final", func(_ *forged, c *types.Certificate) { c.Block[5]++ }, forgedChain, quorum)
		ending("another height's", "not_final", func(_ *forged, c *types.Certificate) { c.Height++ }, forgedChain, quorum)
		ending("the set's before", "not_final", func(_ *forged, c *types.Certificate) { c.Epoch = formerEpoch }, forgedChain,
			func(f *forged) []*crypto.Key { return signers(&f.former, 0, 1, 2, 3, 4) })
		ending("one vote short", "no_quorum", same, forgedChain, func(f *forged) []*crypto.Key { return quorum(f)[1:] })
		ending("a member twice", "bad_voters", same, forgedChain, func(f *forged) []*crypto.Key { return signers(&f.present, 0, 1, 1) })
		ending("a stranger", "bad_voters", same, forgedChain, func(f *forged) []*crypto.Key {
			return append(signers(&f.present, 0, 1), crypto.DeriveKey(1, "account/alice"))
		})
		ending("votes of another chain", "bad_signature", same, forgedChain+1, quorum)
		ending("votes of another view", "bad_signature", same, forgedChain, quorum)
		last := rows[len(rows)-1].f.batch
		last.Finalization.View++
	}
	for _, row := range rows {
		if code, _ := row.f.verdict(); code != row.code {
			t.Errorf("an answer %s: %q, want %q", row.name, code, row.code)
		}
	}
	t.Logf("%d answers", len(rows))
}

// A chain's first block carries nothing; and what votes cost is counted.
func TestABatchFromGenesis(t *testing.T) {
	set := forgedSet(0, 4)
	genesis := &types.Block{Header: types.Header{ChainID: forgedChain}}
	first := &types.Block{Header: types.Header{ChainID: forgedChain, Height: 1, View: 1, Parent: genesis.Hash(),
		Transactions: types.TransactionsHash(nil), Passed: types.PassedHash(nil)}}
	end := &types.Certificate{Kind: types.Finalize, View: 1, Height: 1, Block: first.Hash()}
	f := &forged{root: catchup.Root{Block: genesis, Hash: genesis.Hash(), Set: set},
		batch: &catchup.Batch{From: 1, Blocks: []*types.Block{first},
			Finalization: signedCertificate(end, forgedChain, signers(&set, 0, 1, 2)...)}}
	if code, looked := f.verdict(); code != "" || looked != 3 {
		t.Errorf("%q after %d votes", code, looked)
	}
	first.Parent = f.batch.Finalization
	if code, _ := f.verdict(); code != "wrong_certificates" {
		t.Errorf("genesis has a certificate: %q", code)
	}
}
