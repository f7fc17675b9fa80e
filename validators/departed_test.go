package validators

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// departures is a chain whose sets change, a machine that follows it, and who signed what.
type departures struct {
	t       *rapid.T
	machine *simplex.Machine
	now     types.Time
	root    catchup.Root
	sets    []types.ValidatorSet // all that ever decided, the present one last
	known   []types.Epoch        // of those that the machine must know
	signed  map[types.Signature]signing
	next    *types.ValidatorSet // after the block that is executed
}

// signing is who signed and what.
type signing struct {
	signer types.Address
	what   string
}

func person(i int) types.Address { return types.Address{0: 0xb0, 19: byte(i)} }

// persons are all that may be a member of a set.
const persons = 9

// Recover says what was signed: a signature is a digest and a signer's address in it.
func (*departures) Recover(digest types.Hash, s types.Signature) (signer types.Address, ok bool) {
	copy(signer[:], s[:])
	return signer, slices.Equal(s[20:52], digest[:])
}

// pen signs for one address.
type pen struct{ address types.Address }

func (p pen) Address() types.Address { return p.address }

func (p pen) Sign(digest types.Hash) (s types.Signature) {
	copy(s[:], p.address[:])
	copy(s[20:], digest[:])
	return s
}

func content(v *types.Vote) string {
	return fmt.Sprint(v.Kind, v.Epoch, v.View, v.Height, v.Block, v.Bitmap)
}

// sign signs a vote for a signer, whoever the vote names.
func (d *departures) sign(v *types.Vote, signer types.Address) types.Signature {
	s := pen{signer}.Sign(v.Digest(forgedChain))
	d.signed[s] = signing{signer, content(v)}
	return s
}

func (d *departures) present() *types.ValidatorSet { return &d.sets[len(d.sets)-1] }

// quorum is the votes that decision C1 asks of n validators: all but a third.
func quorum(n int) int { return n - (n-1)/3 }

// certificate is one for a header's block, or to end a view if kind is that, by signers of the
// header's own set.
func (d *departures) certificate(kind types.VoteKind, h *types.Header, view types.View, signers []types.Address) *types.Certificate {
	c := &types.Certificate{Kind: kind, Epoch: h.SetEpoch, View: view}
	if kind != types.Nullify {
		c.Height, c.Block = h.Height, h.Hash()
	}
	d.fill(c, signers)
	return c
}

func (d *departures) fill(c *types.Certificate, signers []types.Address) {
	c.Votes = nil
	for i, a := range signers {
		vote := types.CertificateVote{Validator: a}
		if c.Kind == types.Notarize {
			vote.Bitmap = [][]byte{{}, {0, 0, 0, 8, byte(i)}}[a[19]%2]
		}
		c.Votes = append(c.Votes, vote)
		v := c.Vote(i)
		c.Votes[i].Signature = d.sign(&v, a)
	}
}

func members(set *types.ValidatorSet) (all []types.Address) {
	for i := range set.Members {
		all = append(all, set.Members[i].Address)
	}
	return all
}

// isOf reports whether a certificate is one that a set could sign (decisions C1, C6): of its
// epoch, with as many votes as a quorum, each by another member, in order, and signed by it.
func (d *departures) isOf(c *types.Certificate, set *types.ValidatorSet) bool {
	if c.Epoch != set.Epoch || len(c.Votes) < quorum(len(set.Members)) {
		return false
	}
	last := ""
	for i := range c.Votes {
		v := c.Vote(i)
		s, is := d.signed[v.Signature]
		if !slices.Contains(members(set), v.Validator) || v.Validator.String() <= last || !is || s != (signing{v.Validator, content(&v)}) {
			return false
		}
		last = v.Validator.String()
	}
	return true
}

// isGood is isOf for the sets that the machine must know.
func (d *departures) isGood(c *types.Certificate) bool {
	return slices.Contains(d.known, c.Epoch) && slices.ContainsFunc(d.sets, func(s types.ValidatorSet) bool { return d.isOf(c, &s) })
}

// drawSet is a set of an epoch with other members, or fewer or more.
func (d *departures) drawSet(epoch types.Epoch) types.ValidatorSet {
	set := types.ValidatorSet{Epoch: epoch}
	size := rapid.IntRange(1, persons).Draw(d.t, "size")
	for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}).Draw(d.t, "members")[:size] {
		set.Members = append(set.Members, types.Validator{Address: person(i)})
	}
	slices.SortFunc(set.Members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	return set
}

// drawCertificate is one for a header's block by members of any set that ever was, in order
// or not, and for any epoch.
func (d *departures) drawCertificate(kind types.VoteKind, h *types.Header, view types.View) *types.Certificate {
	last := len(d.sets) - 1
	set := &d.sets[last-min(last, rapid.SampledFrom([]int{0, 0, 0, 1, 1, 1, 2, 3}).Draw(d.t, "whose"))]
	signers := members(set)
	less := rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(d.t, "short")
	size := max(1, min(len(signers), quorum(len(signers))+rapid.IntRange(0, 2).Draw(d.t, "more"))-less)
	chosen := rapid.Permutation(signers).Draw(d.t, "signers")[:size]
	slices.SortFunc(chosen, types.Address.Compare)
	switch rapid.IntRange(0, 9).Draw(d.t, "wrong") {
	case 0:
		chosen[rapid.IntRange(0, size-1).Draw(d.t, "place")] = person(rapid.IntRange(0, persons).Draw(d.t, "other"))
	case 1:
		chosen = append(chosen, chosen[size-1])
	case 2:
		slices.Reverse(chosen)
	}
	c := d.certificate(kind, h, view, chosen)
	c.Epoch = set.Epoch
	d.fill(c, chosen)
	switch rapid.IntRange(0, 9).Draw(d.t, "false") {
	case 0:
		c.Epoch = rapid.SampledFrom(d.sets).Draw(d.t, "epoch").Epoch // the votes are of another
	case 1:
		c.Votes[0].Signature = c.Votes[len(c.Votes)-1].Signature
	case 2:
		v := c.Vote(0)
		c.Votes[0].Signature = d.sign(&v, person(persons))
	}
	return c
}

// child is the next block; next is the set after it, nil for none.
func (d *departures) child(next *types.ValidatorSet, view types.View) *types.Block {
	set, parent := d.present(), &d.root.Block.Header
	h := types.Header{ChainID: forgedChain, Height: parent.Height + 1, View: view, Epoch: set.Epoch, SetEpoch: set.Epoch, Parent: d.root.Hash,
		Proposer: set.Members[uint64(view)%uint64(len(set.Members))].Address, Timestamp: d.now.Millis(),
		Transactions: types.TransactionsHash(nil), Passed: types.PassedHash(nil)}
	if next != nil {
		h.NextSet = next.Hash()
	}
	b := &types.Block{Header: h}
	if parent.Height > 0 {
		b.Parent = d.certificate(types.Notarize, parent, parent.View, members(d.setOf(parent.SetEpoch)))
		if parent.Border() {
			b.Finalization = d.certificate(types.Finalize, parent, parent.View, members(d.setOf(parent.SetEpoch)))
		}
	}
	return b
}

func (d *departures) setOf(e types.Epoch) *types.ValidatorSet {
	return &d.sets[slices.IndexFunc(d.sets, func(s types.ValidatorSet) bool { return s.Epoch == e })]
}

func (d *departures) step(e simplex.Event) {
	d.now = d.now.Add(time.Millisecond)
	for _, ask := range d.machine.Step(d.now, e).Ask {
		if execute, is := ask.(simplex.Execute); is {
			d.step(simplex.Executed{Hash: execute.Hash, Valid: true, Runners: 8, Next: d.next})
		}
	}
}

func (d *departures) receive(message simplex.Message) {
	v, err := simplex.Check(forgedChain, d, d.machine.Sets(), message)
	if err != nil {
		d.t.Fatalf("%T of the present set is refused: %v", message, err)
	}
	d.step(simplex.Received{From: d.present().Leader(d.machine.View()), Message: v})
}

// settle makes the next block final by votes, and lets its set of the next epoch take over.
func (d *departures) settle(next *types.ValidatorSet) {
	view := d.machine.View()
	d.next = next
	b, set := d.child(next, view), d.present()
	p := &types.Proposal{View: view, Block: b}
	p.Signature = pen{b.Header.Proposer}.Sign(p.Digest())
	d.receive(p)
	chosen := members(set)[:quorum(len(set.Members))]
	d.receive(d.certificate(types.Notarize, &b.Header, view, chosen))
	f := d.certificate(types.Finalize, &b.Header, view, chosen)
	d.receive(f)
	d.move(b, f, next)
	if got := d.machine.Root().Hash; got != d.root.Hash {
		d.t.Fatalf("height %d is not final in the machine, which is in view %d of %d", b.Header.Height, d.machine.View(), view)
	}
}

// move is what is final now.
func (d *departures) move(b *types.Block, f *types.Certificate, next *types.ValidatorSet) {
	d.root = catchup.Root{Block: b, Hash: b.Hash(), Finalization: f, Set: *d.present()}
	if next != nil {
		former := *d.present()
		d.sets = append(d.sets, *next)
		d.root.Set, d.root.Previous, d.known = *next, &former, []types.Epoch{next.Epoch, former.Epoch}
	}
}

// jump makes blocks final that the machine learns of by catch-up.
func (d *departures) jump() {
	began := d.present().Epoch
	for range rapid.IntRange(1, 3).Draw(d.t, "blocks") {
		view := d.root.Block.Header.View + 1
		next := d.drawNext()
		b := d.child(next, view)
		d.move(b, d.certificate(types.Finalize, &b.Header, view, members(d.present())), next)
	}
	if d.present().Epoch != began { // of a set that it passed over it has nothing but a border's own
		d.known = d.known[:1]
		if d.root.Previous != nil {
			d.known = append(d.known, d.root.Previous.Epoch)
		}
	}
	d.step(simplex.CaughtUp{Root: simplex.Root{Block: d.root.Block, Hash: d.root.Hash, Finalization: d.root.Finalization}, Set: d.root.Set,
		Previous: d.root.Previous})
}

func (d *departures) drawNext() *types.ValidatorSet {
	if rapid.IntRange(0, 2).Draw(d.t, "border") == 0 {
		return nil
	}
	next := d.drawSet(d.present().Epoch + 1 + types.Epoch(rapid.IntRange(0, 2).Draw(d.t, "quiet epochs")))
	return &next
}

// judge draws certificates and batches, and holds the verdicts on them against isGood.
func (d *departures) judge(counts map[string]int) {
	var epochs []types.Epoch
	for _, s := range d.machine.Sets() {
		epochs = append(epochs, s.Epoch)
	}
	if !slices.Equal(epochs, d.known) {
		d.t.Fatalf("the machine knows the sets of epochs %v, want %v", epochs, d.known)
	}
	h := &d.root.Block.Header
	if h.Height == 0 {
		return
	}
	kind := rapid.SampledFrom([]types.VoteKind{types.Notarize, types.Nullify, types.Finalize}).Draw(d.t, "kind")
	c := d.drawCertificate(kind, h, h.View)
	good := d.isGood(c)
	d.count(counts, "certificate", good)
	d.expect("a certificate", good, c)
	said := rapid.SampledFrom([]types.Epoch{c.Epoch, c.Epoch, d.known[0], d.known[len(d.known)-1]}).Draw(d.t, "said")
	d.expect("a view's", good && said == c.Epoch, &simplex.ViewAnswer{Epoch: said, Certificate: c})
	for i := range c.Votes {
		v := c.Vote(i)
		one := *c
		one.Votes = []types.CertificateVote{c.Votes[i]}
		set := slices.IndexFunc(d.sets, func(s types.ValidatorSet) bool { return s.Epoch == c.Epoch })
		alone := types.ValidatorSet{Epoch: c.Epoch}
		if set >= 0 && slices.Contains(members(&d.sets[set]), v.Validator) {
			alone.Members = []types.Validator{{Address: v.Validator}}
		}
		d.expect("a vote", len(alone.Members) > 0 && slices.Contains(d.known, c.Epoch) && d.isOf(&one, &alone), &v)
	}
	b := d.child(nil, h.View+1)
	b.Parent = d.drawCertificate(types.Notarize, h, h.View)
	b.Finalization = nil
	d.count(counts, "carried", d.isGood(b.Parent))
	d.expect("a block's", d.isGood(b.Parent), &simplex.BlockAnswer{Block: b})
	d.judgeBatch(counts)
}

// judgeBatch draws a batch after the root. The notarization of the root is of the set that decided
// on it, and the finalization of the last block of the present one.
func (d *departures) judgeBatch(counts map[string]int) {
	h := &d.root.Block.Header
	b := d.child(nil, h.View+1)
	good := true
	if rapid.Bool().Draw(d.t, "other notarization") {
		b.Parent = d.drawCertificate(types.Notarize, h, h.View)
		good = good && d.isOf(b.Parent, d.setOf(h.SetEpoch))
	}
	if b.Finalization != nil && rapid.Bool().Draw(d.t, "other finalization") {
		b.Finalization = d.drawCertificate(types.Finalize, h, h.View)
		good = good && d.isOf(b.Finalization, d.setOf(h.SetEpoch))
	}
	batch := &catchup.Batch{From: b.Header.Height, Blocks: []*types.Block{b}}
	batch.Finalization = d.certificate(types.Finalize, &b.Header, b.Header.View, members(d.present()))
	if rapid.Bool().Draw(d.t, "other end") {
		batch.Finalization = d.drawCertificate(types.Finalize, &b.Header, b.Header.View)
		good = good && d.isOf(batch.Finalization, d.present())
	}
	d.count(counts, "batch", good)
	if _, err := checkBatch(forgedChain, d, batch, &d.root, func(int) {}); (err == nil) != good {
		d.t.Fatalf("a batch of height %d that the sets could sign: %v, and the verdict is %v", b.Header.Height, good, err)
	}
}

func (d *departures) expect(what string, good bool, message simplex.Message) {
	if _, err := simplex.Check(forgedChain, d, d.machine.Sets(), message); (err == nil) != good {
		d.t.Fatalf("%s %+v that a known set could sign: %v, and the verdict is %v; known are %v", what, message, good, err, d.known)
	}
}

func (*departures) count(counts map[string]int, what string, good bool) {
	counts[fmt.Sprint(what, " ", good)]++
}

// C1, C6: whoever joins and leaves, whether a validator votes at the borders or catches up beyond
// them: votes, certificates and batches are taken exactly if the set of their epoch could sign
// them, and that set is the present one or the one before it.
func TestC6OnlyWhatASetCouldSignIsTaken(t *testing.T) {
	counts := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		d := &departures{t: rt, signed: map[types.Signature]signing{}, now: types.Time(time.Hour)}
		d.sets = []types.ValidatorSet{d.drawSet(0)}
		genesis := &types.Block{Header: types.Header{ChainID: forgedChain, Timestamp: -1000}}
		d.root, d.known = catchup.Root{Block: genesis, Hash: genesis.Hash(), Set: d.sets[0]}, []types.Epoch{0}
		m, err := simplex.New(simplex.Config{ChainID: forgedChain, Signer: pen{person(persons + 1)}, Set: d.sets[0],
			Timing:   simplex.Timing{LinkDelay: 250 * time.Millisecond},
			Presence: func(types.Time, int, selection.Places) []byte { return []byte{} },
			Root:     simplex.Root{Block: genesis, Hash: genesis.Hash()}}, nil)
		if err != nil {
			rt.Fatal(err)
		}
		d.machine = m
		d.step(simplex.Start{})
		for range rapid.IntRange(2, 8).Draw(rt, "moves") {
			if rapid.IntRange(0, 3).Draw(rt, "jump") == 0 {
				d.jump()
			} else {
				d.settle(d.drawNext())
			}
			for range 3 {
				d.judge(counts)
			}
		}
	})
	for _, what := range []string{"certificate", "carried", "batch"} {
		if good, bad := counts[what+" true"], counts[what+" false"]; good < 50 || bad < 50 {
			t.Errorf("%s: %d are good and %d are not", what, good, bad)
		}
	}
}
