package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

var alice, bob = crypto.DeriveKey(1, "alice"), crypto.DeriveKey(1, "bob")

func anyone(types.PublicKey) error { return nil }

// raw makes a self-signed certificate with these extensions on the given key.
func raw(t testing.TB, key any, public any, extensions ...pkix.Extension) [][]byte {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), ExtraExtensions: extensions}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return [][]byte{der}
}

func p256(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func binds(t testing.TB, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	content, err := bindKey(alice, &key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// proved is the key that the certificates of a handshake prove, as VerifyConnection judges
// them.
func proved(certs [][]byte) (key types.PublicKey, err error) {
	state := tls.ConnectionState{NegotiatedProtocol: "test/1"}
	for _, der := range certs {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return key, fmt.Errorf("%w: %w", ErrCertificate, err) // TLS refuses it before it asks
		}
		state.PeerCertificates = append(state.PeerCertificates, cert)
	}
	err = verifyPeer(state, "test/1", func(found types.PublicKey) error { key = found; return nil })
	return key, err
}

func TestACertificateProvesItsKey(t *testing.T) {
	cert, err := Certificate(alice)
	if err != nil {
		t.Fatal(err)
	}
	key, err := proved(cert.Certificate)
	if err != nil || key != alice.PublicKey() {
		t.Fatalf("got %v, %v", key, err)
	}
	parsed, _ := x509.ParseCertificate(cert.Certificate[0])
	if len(parsed.Extensions) != 1 || parsed.Extensions[0].Critical || parsed.Extensions[0].Id.String() != "1.3.6.1.4.1.99999.11.1" {
		t.Fatalf("extensions %v", parsed.Extensions)
	}
	// SEQUENCE of 102 bytes: OCTET STRING of 33, OCTET STRING of 65.
	value := parsed.Extensions[0].Value
	if len(value) != 104 || value[0] != 0x30 || value[1] != 102 || value[2] != 0x04 || value[3] != 33 || value[37] != 0x04 || value[38] != 65 {
		t.Fatalf("extension %x", value)
	}
	if parsed.Version != 3 || parsed.SignatureAlgorithm != x509.ECDSAWithSHA256 {
		t.Fatalf("version %d, %v", parsed.Version, parsed.SignatureAlgorithm)
	}
}

// TestTheDigestIsTheWires holds the digest against the wire's words.
func TestTheDigestIsTheWires(t *testing.T) {
	if got, want := bindingDigest([]byte("spki")), types.Keccak([]byte("cowboy-tls/1spki")); got != want {
		t.Fatalf("got %v", got)
	}
}

func TestEveryOtherCertificateIsRefused(t *testing.T) {
	key, other := p256(t), p256(t)
	good := binds(t, key)
	ours := func(value []byte) pkix.Extension { return pkix.Extension{Id: extensionID, Value: value} }
	change := func(at int, to byte) []byte {
		value := append([]byte{}, good...)
		value[at] = to
		return value
	}
	highS := func() []byte {
		var b binding
		if _, err := asn1.Unmarshal(good, &b); err != nil {
			t.Fatal(err)
		}
		order, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
		s := new(big.Int).SetBytes(b.Signature[32:64])
		new(big.Int).Sub(order, s).FillBytes(b.Signature[32:64])
		b.Signature[64] ^= 1
		value, _ := asn1.Marshal(b)
		return value
	}
	long := append([]byte{0x30, 0x81, 102}, good[2:]...) // the length in two bytes where one does
	edPublic, edKey, _ := ed25519.GenerateKey(rand.Reader)
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	valid := raw(t, key, &key.PublicKey, ours(good))
	badSelf := [][]byte{append([]byte{}, valid[0]...)}
	badSelf[0][len(badSelf[0])-1] ^= 1

	for _, c := range []struct {
		name  string
		certs [][]byte
		want  error
	}{
		{"missing", nil, ErrNotOne},
		{"second", append(raw(t, key, &key.PublicKey, ours(good)), valid[0]), ErrNotOne},
		{"no certificate", [][]byte{[]byte("hello")}, ErrCertificate},
		{"ed25519", raw(t, edKey, edPublic, ours(good)), ErrCertificate},
		{"P-384", raw(t, p384, &p384.PublicKey, ours(good)), ErrCertificate},
		{"not signed by itself", badSelf, ErrCertificate},
		{"signed by another", raw(t, other, &key.PublicKey, ours(good)), ErrCertificate},
		{"ours is critical", raw(t, key, &key.PublicKey, pkix.Extension{Id: extensionID, Critical: true, Value: good}), ErrCertificate},
		{"unknown critical", raw(t, key, &key.PublicKey, ours(good),
			pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3}, Critical: true, Value: []byte{5, 0}}), ErrCertificate},
		{"ours twice", raw(t, key, &key.PublicKey, ours(good), ours(good)), ErrCertificate},
		{"no extension", raw(t, key, &key.PublicKey), ErrExtension},
		{"empty extension", raw(t, key, &key.PublicKey, ours(nil)), ErrExtension},
		{"bytes behind", raw(t, key, &key.PublicKey, ours(append(append([]byte{}, good...), 0))), ErrExtension},
		{"long form of a length", raw(t, key, &key.PublicKey, ours(long)), ErrExtension},
		{"a set", raw(t, key, &key.PublicKey, ours(change(0, 0x31))), ErrExtension},
		{"key of 32 bytes", raw(t, key, &key.PublicKey, ours(append([]byte{0x30, 101, 4, 32}, good[5:]...))), ErrExtension},
		{"stolen extension", raw(t, other, &other.PublicKey, ours(good)), ErrSignature},
		{"another key", raw(t, key, &key.PublicKey, ours(change(10, good[10]^1))), ErrSignature},
		{"another parity", raw(t, key, &key.PublicKey, ours(change(4, good[4]^1))), ErrSignature},
		{"another signature", raw(t, key, &key.PublicKey, ours(change(50, good[50]^1))), ErrSignature},
		{"v of 2", raw(t, key, &key.PublicKey, ours(change(103, 2))), ErrSignature},
		{"v of 27", raw(t, key, &key.PublicKey, ours(change(103, good[103]+27))), ErrSignature},
		{"high s", raw(t, key, &key.PublicKey, ours(highS())), ErrSignature},
	} {
		if got, err := proved(c.certs); !errors.Is(err, c.want) || got != (types.PublicKey{}) {
			t.Errorf("%s: got %v, %v", c.name, got, err)
		}
	}
}

func TestNamesDatesAndFurtherExtensionsAreIgnored(t *testing.T) {
	key := p256(t)
	template := &x509.Certificate{ // expired in 1970, for no one
		SerialNumber: big.NewInt(42), Subject: pkix.Name{CommonName: "someone"}, DNSNames: []string{"example.org"},
		ExtraExtensions: []pkix.Extension{{Id: extensionID, Value: binds(t, key)}}, SubjectKeyId: []byte{1},
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := proved([][]byte{der}); err != nil || got != alice.PublicKey() {
		t.Fatalf("got %v, %v", got, err)
	}
}

// handshake runs TLS over a pipe and returns both ends' errors; the client's
// after a read, which is when it learns what the server thinks of it.
func handshake(t *testing.T, client, server *tls.Config) (clientErr, serverErr error) {
	t.Helper()
	a, b := net.Pipe()
	done := make(chan error, 1)
	go func() {
		s := tls.Server(b, server)
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte{1})
		}
		b.Close()
		done <- err
	}()
	c := tls.Client(a, client)
	clientErr = c.Handshake()
	if clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1))
	}
	a.Close()
	return clientErr, <-done
}

func configs(t *testing.T, acceptClient, acceptServer func(types.PublicKey) error) (client, server *tls.Config) {
	t.Helper()
	bobs, err := ClientConfig(bob, "test/1", acceptClient)
	if err != nil {
		t.Fatal(err)
	}
	server = Listening(bobs, "test/1", acceptClient)
	if client, err = ClientConfig(alice, "test/1", acceptServer); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func TestAHandshakeProvesBothKeys(t *testing.T) {
	var sawClient, sawServer types.PublicKey
	client, server := configs(t,
		func(k types.PublicKey) error { sawClient = k; return nil },
		func(k types.PublicKey) error { sawServer = k; return nil })
	if c, s := handshake(t, client, server); c != nil || s != nil {
		t.Fatalf("client %v, server %v", c, s)
	}
	if sawClient != alice.PublicKey() || sawServer != bob.PublicKey() {
		t.Fatalf("client %v, server %v", sawClient, sawServer)
	}
}

func TestWhoIsNotAcceptedFails(t *testing.T) {
	no := errors.New("not you")
	refuse := func(types.PublicKey) error { return no }
	client, server := configs(t, refuse, anyone)
	if c, s := handshake(t, client, server); c == nil || !errors.Is(s, no) {
		t.Fatalf("client %v, server %v", c, s)
	}
	client, server = configs(t, anyone, refuse)
	if c, s := handshake(t, client, server); !errors.Is(c, no) || s == nil {
		t.Fatalf("client %v, server %v", c, s)
	}
}

func TestOnlyTLS13AndTheProtocolAndOneCertificate(t *testing.T) {
	for name, change := range map[string]func(client *tls.Config){
		"TLS 1.2":        func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 },
		"no certificate": func(c *tls.Config) { c.Certificates = nil },
		"two certificates": func(c *tls.Config) {
			cert := &c.Certificates[0]
			cert.Certificate = append(cert.Certificate, cert.Certificate[0])
		},
		"other protocol": func(c *tls.Config) { c.NextProtos = []string{"test/2"} },
		"no protocol":    func(c *tls.Config) { c.NextProtos = nil; c.VerifyConnection = nil },
	} {
		client, server := configs(t, anyone, anyone)
		change(client)
		if c, s := handshake(t, client, server); c == nil || s == nil {
			t.Errorf("%s: client %v, server %v", name, c, s)
		}
	}
}

func TestNoConnectionIsResumed(t *testing.T) {
	client, server := configs(t, anyone, anyone)
	client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	resumed := false
	verify := client.VerifyConnection
	client.VerifyConnection = func(s tls.ConnectionState) error { resumed = resumed || s.DidResume; return verify(s) }
	for range 2 {
		if c, s := handshake(t, client, server); c != nil || s != nil {
			t.Fatalf("client %v, server %v", c, s)
		}
	}
	if resumed {
		t.Fatal("it was resumed")
	}
}

func FuzzPeer(f *testing.F) {
	cert, err := Certificate(alice)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(cert.Certificate[0])
	f.Fuzz(func(t *testing.T, der []byte) {
		if key, err := proved([][]byte{der}); err == nil && key != alice.PublicKey() {
			t.Fatalf("it proves %v", key)
		} else if err != nil && !strings.HasPrefix(err.Error(), "identity: ") {
			t.Fatalf("got %v", err)
		}
	})
}

func FuzzExtension(f *testing.F) {
	f.Add(binds(f, p256(f)))
	f.Fuzz(func(t *testing.T, value []byte) {
		key, sig, err := readExtension([]pkix.Extension{{Id: extensionID, Value: value}})
		if err != nil {
			return
		}
		if again, _ := asn1.Marshal(binding{key[:], sig[:]}); string(again) != string(value) {
			t.Fatalf("%x is another form of %x", value, again)
		}
	})
}

func BenchmarkCertificate(b *testing.B) {
	for b.Loop() {
		Certificate(alice)
	}
}

func BenchmarkPeer(b *testing.B) {
	cert, _ := Certificate(alice)
	for b.Loop() {
		proved(cert.Certificate)
	}
}
