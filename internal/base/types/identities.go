package types

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Address names an account or an actor: 20 bytes (decision C10).
type Address [20]byte

// Hash is a keccak256 digest.
type Hash [32]byte

// PublicKey is a compressed secp256k1 key.
type PublicKey [33]byte

// Signature is r ‖ s ‖ v with low s and v 0 or 1 (decision C10).
type Signature [65]byte

// Life names one start of a validator: random bytes that it draws (decision C5).
type Life [16]byte

// TimerID is the identity of a timer (decision T1).
type TimerID = Hash

// SystemAddress returns the address of system actor n: n, left-padded.
func SystemAddress(n byte) Address { return Address{19: n} }

// The system actors.
var (
	RegistryAddress   = SystemAddress(0x01)
	DispatcherAddress = SystemAddress(0x02)
	VerifierAddress   = SystemAddress(0x03)
	TreasuryAddress   = SystemAddress(0x08)
	GovernanceAddress = SystemAddress(0x09)
	// TimerEscrow holds the bids that timers of an auction lock (CIP-5 §9.7);
	// the number is ours.
	TimerEscrow = SystemAddress(0x0a)
)

// contracts are the system actors whose code is the chain's own, by name.
var contracts = map[string]Address{"registry": RegistryAddress, "dispatcher": DispatcherAddress, "verifier": VerifierAddress,
	"treasury": TreasuryAddress, "governance": GovernanceAddress}

// ContractNames lists the names of the contracts, sorted.
func ContractNames() []string { return slices.Sorted(maps.Keys(contracts)) }

// ContractAddress is the address of the contract with a name; ok is false of no such name.
func ContractAddress(name string) (a Address, ok bool) {
	a, ok = contracts[name]
	return a, ok
}

// ContractName returns the name of the contract at an address; "" if it has none.
func ContractName(a Address) string {
	for name, at := range contracts { // order: at most one matches
		if at == a {
			return name
		}
	}
	return ""
}

// InSystemBand reports whether a is an address of the system's own, 0x00 to
// 0xff left-padded; such an address holds no key and cannot pay for timers.
func (a Address) InSystemBand() bool { return [19]byte(a[:19]) == [19]byte{} }

// Compare orders addresses as big-endian numbers.
func (a Address) Compare(b Address) int { return bytes.Compare(a[:], b[:]) }

func (a Address) IsZero() bool   { return a == Address{} }
func (h Hash) IsZero() bool      { return h == Hash{} }
func (l Life) IsZero() bool      { return l == Life{} }
func (a Address) String() string { return toHex(a[:]) }
func (h Hash) String() string    { return toHex(h[:]) }

// Short is the first four bytes, for logs and tables.
func (h Hash) Short() string       { return toHex(h[:4]) }
func (k PublicKey) String() string { return toHex(k[:]) }
func (s Signature) String() string { return toHex(s[:]) }

func (a Address) MarshalText() ([]byte, error)   { return []byte(a.String()), nil }
func (h Hash) MarshalText() ([]byte, error)      { return []byte(h.String()), nil }
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
func (s Signature) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (a *Address) UnmarshalText(text []byte) error   { return fromHex(a[:], text, "an address") }
func (h *Hash) UnmarshalText(text []byte) error      { return fromHex(h[:], text, "a hash") }
func (k *PublicKey) UnmarshalText(text []byte) error { return fromHex(k[:], text, "a public key") }
func (s *Signature) UnmarshalText(text []byte) error { return fromHex(s[:], text, "a signature") }

// UnmarshalCBOR reads a byte string of just this length. The plain library would
// cut a longer one and fill up a shorter one, which a loose decoder lets pass.
func (a *Address) UnmarshalCBOR(data []byte) error   { return fromCBOR(a[:], data, "an address") }
func (h *Hash) UnmarshalCBOR(data []byte) error      { return fromCBOR(h[:], data, "a hash") }
func (k *PublicKey) UnmarshalCBOR(data []byte) error { return fromCBOR(k[:], data, "a public key") }
func (s *Signature) UnmarshalCBOR(data []byte) error { return fromCBOR(s[:], data, "a signature") }
func (l *Life) UnmarshalCBOR(data []byte) error      { return fromCBOR(l[:], data, "a life") }

// ParseAddress reads 0x and 40 hexadecimal digits.
func ParseAddress(s string) (a Address, err error) { return a, a.UnmarshalText([]byte(s)) }

// ParseHash reads 0x and 64 hexadecimal digits.
func ParseHash(s string) (h Hash, err error) { return h, h.UnmarshalText([]byte(s)) }

// Bytes is a byte string that reads as 0x-hex in JSON.
type Bytes []byte

func (b Bytes) String() string               { return toHex(b) }
func (b Bytes) MarshalText() ([]byte, error) { return []byte(toHex(b)), nil }
func (b *Bytes) UnmarshalText(text []byte) error {
	digits, found := strings.CutPrefix(string(text), "0x")
	data, err := hex.DecodeString(digits)
	if !found || err != nil {
		return fmt.Errorf("%q is not 0x and pairs of hexadecimal digits", clipText(text))
	}
	*b = data
	return nil
}

func toHex(b []byte) string { return "0x" + hex.EncodeToString(b) }

func fromHex(dst, text []byte, what string) error {
	digits, found := strings.CutPrefix(string(text), "0x")
	if !found || len(digits) != 2*len(dst) {
		return fmt.Errorf("%q is not %s: 0x and %d hexadecimal digits", clipText(text), what, 2*len(dst))
	}
	if _, err := hex.Decode(dst, []byte(digits)); err != nil {
		return fmt.Errorf("%q is not %s: %w", clipText(text), what, err)
	}
	return nil
}

// fromCBOR fills dst from a byte string of its length.
func fromCBOR(dst, data []byte, what string) error {
	const byteString = 2 // major type
	if len(data) > 0 && data[0]>>5 == byteString {
		if head := cborHead(data[0]); len(data) == head+len(dst) {
			copy(dst, data[head:])
			return nil
		}
	}
	return fmt.Errorf("%s is a byte string of %d bytes", what, len(dst))
}

// cborHead is the length of a data item's head, by its first byte.
func cborHead(first byte) int {
	switch first & 31 {
	case 24:
		return 2
	case 25:
		return 3
	case 26:
		return 5
	case 27:
		return 9
	}
	return 1
}

func clipText(text []byte) string {
	if len(text) > 80 {
		return string(text[:80]) + "…"
	}
	return string(text)
}
