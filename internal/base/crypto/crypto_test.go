package crypto

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

func schemes() map[string]Scheme {
	return map[string]Scheme{
		"real": NewVerifier(false), "remembering": NewVerifier(true), "keyed hash": NewKeyedHash(types.Hash{7}),
	}
}

func TestEverySchemeRecoversItsSignersAndAgreesOnAddresses(t *testing.T) {
	for name, scheme := range schemes() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				key := DeriveKey(rapid.Uint64().Draw(t, "seed"), rapid.String().Draw(t, "name"))
				digest := types.Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
				signer := scheme.Signer(key)
				if signer.Address() != key.Address() || signer.PublicKey() != key.PublicKey() {
					t.Fatalf("the signer of %s is %s", key, signer.Address())
				}
				sig := signer.Sign(digest)
				for range 2 {
					if got, ok := scheme.Recover(digest, sig); !ok || got != key.Address() {
						t.Fatalf("recovered %s, %v; want %s", got, ok, key)
					}
				}
				if again := signer.Sign(digest); again != sig {
					t.Fatalf("one digest has two signatures, %s and %s", sig, again)
				}
			})
		})
	}
}

func TestAnyChangedByteOfASignatureLosesTheSigner(t *testing.T) {
	for name, scheme := range schemes() {
		key := DeriveKey(1, "v0")
		digest := types.Keccak([]byte(name))
		sig := scheme.Signer(key).Sign(digest)
		for i := range sig {
			changed := sig
			changed[i] ^= 0x10
			if got, ok := scheme.Recover(digest, changed); ok && got == key.Address() {
				t.Errorf("%s: byte %d changed, and still the signer's", name, i)
			}
		}
	}
}

func TestDeriveKeyDependsOnSeedAndNameAlone(t *testing.T) {
	seen := make(map[types.Address]string)
	for seed := range uint64(3) {
		for _, name := range []string{"alice", "bob", "v0", "v1", "r0", ""} {
			what := fmt.Sprintf("%d/%s", seed, name)
			key := DeriveKey(seed, name)
			if other, taken := seen[key.Address()]; taken {
				t.Errorf("%s and %s share an address", what, other)
			}
			seen[key.Address()] = what
			if DeriveKey(seed, name).Secret() != key.Secret() {
				t.Errorf("%s derives to two keys", what)
			}
		}
	}
	// Addresses of a devnet are written into scripts: they must never change.
	if got := DeriveKey(0, "alice").Address().String(); got != "0xef153768a7067d7a4699b819d3507bd328316bbc" {
		t.Errorf("alice of seed 0 is %s", got)
	}
}

func TestASecretIsNeverPrinted(t *testing.T) {
	key := DeriveKey(3, "alice")
	secret := key.Secret()
	again, err := NewKey(secret)
	if err != nil || again.Address() != key.Address() {
		t.Fatalf("the secret of %s leads to %v, %v", key, again, err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, key); strings.Contains(text, fmt.Sprintf("%x", secret[:4])) ||
			!strings.Contains(text, key.Address().String()) {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestAddressOfRefusesWhatIsNoPoint(t *testing.T) {
	for _, bad := range []types.PublicKey{{}, {0: 2, 32: 5}, {0: 4, 32: 1}, {0: 7, 32: 1}} {
		for range 2 { // the second time what the first left in memory would show
			if a, err := AddressOf(bad); err == nil {
				t.Errorf("AddressOf(%s) = %s", bad, a)
			}
		}
		if _, known := knownAddresses.lookUp(&bad, addressGeneration); known {
			t.Errorf("the refused key %s is remembered", bad)
		}
	}
}

func TestAKnownKeyHasTheAddressThatIsComputed(t *testing.T) {
	for i := range 50 {
		public := DeriveKey(1, fmt.Sprint("runner/r", i)).PublicKey()
		public[0] ^= 1 // the other point of this x, whose key nobody here has
		want, err := computeAddress(public)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := AddressOf(public); err != nil || got != want {
				t.Fatalf("AddressOf(%s) = %s, %v, want %s", public, got, err, want)
			}
		}
	}
}

// A Byzantine node holds its own signer and whatever it received. It cannot
// pass for another one by putting that one's address into its own signature.
func TestAKeyedSignerCannotForge(t *testing.T) {
	world := NewKeyedHash(types.Hash{9})
	digest := types.Keccak([]byte("vote"))
	own := world.Signer(DeriveKey(1, "v0")).Sign(digest)
	victim := DeriveKey(1, "v1").Address()
	forged := own
	copy(forged[keyedAddress:], victim[:])
	if got, ok := world.Recover(digest, forged); ok {
		t.Errorf("a forged signature recovered to %s", got)
	}
	elsewhere := NewKeyedHash(types.Hash{8})
	if got, ok := elsewhere.Recover(digest, own); ok {
		t.Errorf("a signature of another world recovered to %s", got)
	}
}

func TestAVerifierRemembersWhatItsSignersMade(t *testing.T) {
	verifier := NewVerifier(true)
	signer := verifier.Signer(DeriveKey(1, "v0"))
	digest := types.Keccak([]byte("vote"))
	sig := signer.Sign(digest)
	if got, known := verifier.memory.lookUp(&checkedSignature{digest, sig}); !known || got != signer.Address() {
		t.Errorf("memory holds %s, %v; want %s", got, known, signer.Address())
	}
	digest[1] ^= 1
	if _, known := verifier.memory.lookUp(&checkedSignature{digest, sig}); known {
		t.Error("memory knows the signature for another digest")
	}
}

func TestMemoryIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	m := newMemory()
	numbered := func(i int) *checkedSignature {
		return &checkedSignature{digest: types.Hash{byte(i), byte(i >> 8), byte(i >> 16)}, sig: types.Signature{31: byte(i)}}
	}
	favourite := numbered(0)
	m.storeSignature(favourite, types.Address{1})
	for i := 1; i < 3*memoryGeneration; i++ {
		m.storeSignature(numbered(i), types.Address{2})
		if i%(memoryGeneration/4) == 0 {
			if signer, known := m.lookUp(favourite); !known || signer != (types.Address{1}) {
				t.Fatalf("after %d signatures the one in use is forgotten", i)
			}
		}
	}
	if size := m.size(); size > 2*memoryGeneration {
		t.Errorf("memory holds %d signatures, at most %d", size, 2*memoryGeneration)
	}
	if _, known := m.lookUp(numbered(1)); known {
		t.Error("a signature unused for two generations is still known")
	}
}

// Meant for the race detector: goroutines sign, recover and overflow the memory
// at once.
func TestAVerifierIsSafeForConcurrentUse(t *testing.T) {
	verifier := NewVerifier(true)
	var group sync.WaitGroup
	for node := range 4 {
		group.Go(func() {
			signer := verifier.Signer(DeriveKey(1, fmt.Sprint("v", node)))
			for i := range 50 {
				digest := types.Hash{byte(i)}
				sig := signer.Sign(digest)
				if got, ok := verifier.Recover(digest, sig); !ok || got != signer.Address() {
					t.Errorf("recovered %s, %v; want %s", got, ok, signer.Address())
				}
				for j := range 200 {
					verifier.memory.storeSignature(&checkedSignature{digest: types.Hash{byte(i), byte(j)}, sig: sig}, types.Address{})
				}
			}
		})
	}
	group.Wait()
}

// A signature is outside input: whatever recovers must be a signature in the
// one allowed form, and equal with and without memory.
func FuzzRecover(f *testing.F) {
	digest, sig, _ := sample()
	f.Add(digest[:], sig[:])
	f.Add(make([]byte, 32), make([]byte, 65))
	plain, remembering, keyed := NewVerifier(false), NewVerifier(true), NewKeyedHash(types.Hash{1})
	f.Fuzz(func(t *testing.T, d, s []byte) {
		if len(d) != 32 || len(s) != 65 {
			return
		}
		digest, sig := types.Hash(d), types.Signature(s)
		want, wantOK := plain.Recover(digest, sig)
		for range 2 {
			if got, ok := remembering.Recover(digest, sig); got != want || ok != wantOK {
				t.Fatalf("with memory %s, %v; without %s, %v", got, ok, want, wantOK)
			}
		}
		if wantOK && (sig[64] > 1 || sig[32] > 0x7f) {
			t.Fatalf("%s recovered to %s", sig, want)
		}
		if got, ok := keyed.Recover(digest, sig); ok {
			t.Fatalf("a keyed hash was guessed for %s", got)
		}
	})
}

// Remembered tags change nothing: not when places are taken over, and not for a
// digest that shares its place with another.
func TestAKeyedHashRemembersNothingWrong(t *testing.T) {
	secret := types.Hash{5}
	world := NewKeyedHash(secret)
	var digests []types.Hash
	for i := range 3 * leastTags {
		digests = append(digests, types.Keccak([]byte{byte(i), byte(i >> 8)}), types.Hash{31: byte(i), 30: byte(i >> 8)})
	}
	key := DeriveKey(1, "alice")
	signer := world.Signer(key)
	for round := range 2 {
		for i, digest := range digests {
			signature := signer.Sign(digest)
			if signature != NewKeyedHash(secret).Signer(key).Sign(digest) {
				t.Fatalf("round %d: another signature of digest %d", round, i)
			}
			if who, ok := world.Recover(digest, signature); !ok || who != key.Address() {
				t.Fatalf("round %d: digest %d was signed by %s, %v", round, i, who, ok)
			}
			if _, ok := world.Recover(digests[(i+1)%len(digests)], signature); ok {
				t.Fatalf("round %d: a signature holds for another digest", round)
			}
			if i%257 != 0 {
				continue
			}
			signature[3] ^= 1
			if _, ok := world.Recover(digest, signature); ok {
				t.Fatalf("round %d: a changed signature holds", round)
			}
		}
	}
}

// A world whose signatures are checked soon remembers few; one where a crowd signs
// before anything is checked comes to remember more.
func TestAKeyedHashRemembersAsMuchAsIsInUse(t *testing.T) {
	key := DeriveKey(1, "alice")
	places := func(together int) int {
		world := NewKeyedHash(types.Hash{6})
		signer := world.Signer(key)
		for from := 0; from < 32*leastTags; from += together {
			var digests []types.Hash
			var signatures []types.Signature
			for i := from; i < from+together; i++ {
				digests = append(digests, types.Keccak([]byte{byte(i), byte(i >> 8), byte(i >> 16)}))
				signatures = append(signatures, signer.Sign(digests[len(digests)-1]))
			}
			for i, digest := range digests {
				if _, ok := world.Recover(digest, signatures[i]); !ok {
					t.Fatalf("signature %d does not hold", from+i)
				}
			}
		}
		return len(world.recent)
	}
	if n := places(1); n != leastTags {
		t.Errorf("%d tags are remembered, where each is checked at once", n)
	}
	if n := places(8 * leastTags); n < 4*leastTags {
		t.Errorf("%d tags are remembered, where %d are under way", n, 8*leastTags)
	}
}

// size is the number of remembered signatures, counted twice where both
// generations hold one.
func (m *memory) size() (n int) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		n += len(s.young) + len(s.old)
		s.mu.Unlock()
	}
	return n
}
