package docs

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"flag"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/transport/identity"
)

var update = flag.Bool("update", false, "write the examples of WIRE.md again")

// fenced is an example in WIRE.md: its name in a comment and its lines.
var fenced = regexp.MustCompile("(?s)<!-- example: ([a-z ]+) -->\n```text\n(.*?)```\n")

// TestWireExamples: every example of WIRE.md is the code's output, and WIRE.md has
// every example.
func TestWireExamples(t *testing.T) {
	data, err := os.ReadFile("WIRE.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	written := fenced.ReplaceAllStringFunc(string(data), func(block string) string {
		m := fenced.FindStringSubmatch(block)
		name := m[1]
		if seen[name] {
			t.Errorf("example %q is given twice", name)
		}
		seen[name] = true
		example := examples[name]
		if example == nil {
			t.Errorf("there is no example %q", name)
			return block
		}
		var l lines
		example(&l)
		if l.String() != m[2] && !*update {
			t.Errorf("example %q is\n%swant\n%s(go test ./docs -update writes it)", name, m[2], l.String())
		}
		return strings.TrimSuffix(block, m[2]+"```\n") + l.String() + "```\n"
	})
	for name := range examples {
		if !seen[name] {
			t.Errorf("WIRE.md lacks example %q", name)
		}
	}
	if n := strings.Count(string(data), "<!-- example"); n != len(seen) {
		t.Errorf("%d examples are marked, %d can be read", n, len(seen))
	}
	if *update {
		if err := os.WriteFile("WIRE.md", []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The extension of the example, made here, is what identity accepts; and what
// identity makes is what is made here.
func TestWireExtensionIsTheMeshs(t *testing.T) {
	key := certificateKey()
	template := &x509.Certificate{SerialNumber: big.NewInt(1),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 11, 1}, Value: extension(key.spki)}}}
	private := key.private.(*ecdsa.PrivateKey)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	var found types.PublicKey
	config, err := identity.ClientConfig(validator, push.ALPN, func(key types.PublicKey) error { found = key; return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = config.VerifyConnection(tls.ConnectionState{NegotiatedProtocol: push.ALPN, PeerCertificates: []*x509.Certificate{proof}})
	if err != nil || found != validator.PublicKey() {
		t.Fatalf("%v %v", found, err)
	}
	made, err := identity.Certificate(validator)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(made.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(cert.Extensions) != 1 || string(cert.Extensions[0].Value) != string(extension(cert.RawSubjectPublicKeyInfo)) {
		t.Fatalf("extensions %v", cert.Extensions)
	}
}
