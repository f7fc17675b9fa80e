package types

// RegistrationDigest is the digest that a runner's key signs for its registration by
// an owner. The chain id and the owner bind the signature: no other account, and no
// other chain, can use it.
//
// Spec: decisions C10, J20.
func RegistrationDigest(chainID uint64, owner Address, key PublicKey) Hash {
	return Digest("cowboy/Registration/1", chainID, append(owner[:], key[:]...))
}
