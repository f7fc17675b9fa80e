// Package identity ties a TLS 1.3 connection to a secp256k1 key (decision J8,
// the wire's Connection section): TLS has no certificates on secp256k1, so each
// side presents a self-signed P-256 certificate made for the occasion, with one
// extension that holds the secp256k1 key and its signature over the
// certificate's own key.
//
// Invariants: a connection that comes up has exactly one peer certificate; its
// extension is strict DER and its signature was made by the key in it for the
// key TLS proved; accept has agreed to that key. Names, dates and SNI are ignored;
// there are no session tickets and no 0-RTT, so every connection proves its key
// again.
package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// domain separates this signature from every other of the same key. The chain is
// not in it: the protocol's name (ALPN) carries that if needed.
const domain = "cowboy-tls/1"

// extensionID is in an experimental arc.
var extensionID = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 11, 1}

// Reasons for which a certificate is refused; the peer is at fault.
var (
	ErrNotOne      = errors.New("identity: not exactly one certificate")
	ErrCertificate = errors.New("identity: not a self-signed P-256 certificate")
	ErrExtension   = errors.New("identity: the extension with the secp256k1 key is missing or malformed")
	ErrSignature   = errors.New("identity: the secp256k1 key did not sign the certificate's key")
	ErrALPN        = errors.New("identity: another application protocol")
)

// binding is the content of the extension.
type binding struct {
	PublicKey []byte // 33 bytes
	Signature []byte // 65 bytes: r ‖ s ‖ v
}

// Certificate returns a new certificate of signer's, on a new P-256 key. Its dates
// never expire, so that no clock matters.
func Certificate(signer env.Signer) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("identity: make a certificate key: %w", err)
	}
	extension, err := bindKey(signer, &key.PublicKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber:    big.NewInt(1),
		NotBefore:       time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:        time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280 §4.1.2.5: no well-defined end
		ExtraExtensions: []pkix.Extension{{Id: extensionID, Value: extension}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("identity: make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// bindKey returns the extension's content for a certificate key.
func bindKey(signer env.Signer, key *ecdsa.PublicKey) ([]byte, error) {
	spki, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity: encode a certificate key: %w", err)
	}
	public, signature := signer.PublicKey(), signer.Sign(bindingDigest(spki))
	content, err := asn1.Marshal(binding{public[:], signature[:]})
	if err != nil {
		return nil, fmt.Errorf("identity: encode the extension: %w", err)
	}
	return content, nil
}

// bindingDigest is what the secp256k1 key signs for a DER subjectPublicKeyInfo.
func bindingDigest(spki []byte) types.Hash { return types.Keccak([]byte(domain), spki) }

// maxProofs bounds the certificates that are remembered as verified: those of a network's nodes.
const maxProofs = 1024

// proofs are what verified certificates proved. Each node of a process shows its certificate to
// many peers in it, and to the same ones again. Whoever sends others displaces some, which costs time.
var proofs = memo.New[types.Hash, provedKey](memo.Bound{Count: maxProofs}, nil)

type provedKey struct {
	key types.PublicKey
	err error
}

// peerKey returns the secp256k1 key that a peer's certificate proves. That the peer holds the
// certificate's own key is for TLS to prove.
func peerKey(cert *x509.Certificate) (types.PublicKey, error) {
	found := proofs.Do(nil, types.Keccak(cert.Raw), func() (provedKey, bool) {
		key, err := verifyCertificate(cert)
		return provedKey{key, err}, err == nil
	})
	return found.key, found.err
}

func verifyCertificate(cert *x509.Certificate) (types.PublicKey, error) {
	key, ok := cert.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return types.PublicKey{}, fmt.Errorf("%w: its key is %v", ErrCertificate, cert.PublicKeyAlgorithm)
	}
	if len(cert.UnhandledCriticalExtensions) > 0 { // ours is not critical either
		return types.PublicKey{}, fmt.Errorf("%w: critical extension %v", ErrCertificate, cert.UnhandledCriticalExtensions[0])
	}
	if err := cert.CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate, cert.Signature); err != nil {
		return types.PublicKey{}, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	public, signature, err := readExtension(cert.Extensions)
	if err != nil {
		return types.PublicKey{}, err
	}
	if !signedBy(public, bindingDigest(cert.RawSubjectPublicKeyInfo), signature) {
		return types.PublicKey{}, ErrSignature
	}
	return public, nil
}

// readExtension finds and reads the cowboy extension; others that are not critical
// are skipped. Two of one kind are refused by the parser of certificates.
func readExtension(extensions []pkix.Extension) (key types.PublicKey, sig types.Signature, err error) {
	for _, e := range extensions {
		if !e.Id.Equal(extensionID) {
			continue
		}
		var b binding
		if rest, err := asn1.Unmarshal(e.Value, &b); err != nil || len(rest) > 0 {
			return key, sig, fmt.Errorf("%w: not a sequence of two octet strings", ErrExtension)
		}
		if len(b.PublicKey) != len(key) || len(b.Signature) != len(sig) {
			return key, sig, fmt.Errorf("%w: key of %d bytes, signature of %d", ErrExtension, len(b.PublicKey), len(b.Signature))
		}
		if again, err := asn1.Marshal(b); err != nil || !bytes.Equal(again, e.Value) {
			return key, sig, fmt.Errorf("%w: not strict DER", ErrExtension)
		}
		return types.PublicKey(b.PublicKey), types.Signature(b.Signature), nil
	}
	return key, sig, fmt.Errorf("%w: missing", ErrExtension)
}
