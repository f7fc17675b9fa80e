package identity

import (
	"crypto/tls"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Listening returns the TLS configuration of a listener that speaks only alpn, with the
// certificate of config. It asks accept about every key that a client proved. An error of
// accept ends the handshake and is not shown to the client.
func Listening(config *tls.Config, alpn string, accept func(types.PublicKey) error) *tls.Config {
	config = config.Clone()
	config.NextProtos, config.ClientAuth, config.InsecureSkipVerify = []string{alpn}, tls.RequireAnyClientCert, false
	return Accepting(config, accept)
}

// ClientConfig returns the TLS configuration of a dialer, likewise. Note that in
// TLS 1.3 a client is done before the server has judged its certificate: a
// connection counts only when the server has said something on it.
func ClientConfig(signer env.Signer, alpn string, accept func(types.PublicKey) error) (*tls.Config, error) {
	config, err := newConfig(signer)
	if err != nil {
		return nil, err
	}
	config.NextProtos = []string{alpn}
	config.InsecureSkipVerify = true // no name and no authority; VerifyConnection checks the key
	return Accepting(config, accept), nil
}

func newConfig(signer env.Signer) (*tls.Config, error) {
	certificate, err := Certificate(signer)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates:           []tls.Certificate{certificate},
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true,
		// Without the post-quantum groups a ClientHello fits one packet.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256},
	}, nil
}

// Accepting returns config with another accept, and the certificate it has.
func Accepting(config *tls.Config, accept func(types.PublicKey) error) *tls.Config {
	config = config.Clone()
	alpn := config.NextProtos[0]
	config.VerifyConnection = func(state tls.ConnectionState) error { return verifyPeer(state, alpn, accept) }
	return config
}

func verifyPeer(state tls.ConnectionState, alpn string, accept func(types.PublicKey) error) error {
	if state.NegotiatedProtocol != alpn {
		return fmt.Errorf("%w: %q, want %q", ErrALPN, state.NegotiatedProtocol, alpn)
	}
	if len(state.PeerCertificates) != 1 {
		return fmt.Errorf("%w: %d", ErrNotOne, len(state.PeerCertificates))
	}
	key, err := peerKey(state.PeerCertificates[0])
	if err != nil {
		return err
	}
	return accept(key)
}

// Process names the process of the peer of a connection: each draws a certificate's key
// at its start, and signs it.
func Process(state tls.ConnectionState) types.Hash {
	if len(state.PeerCertificates) != 1 {
		return types.Hash{}
	}
	return types.Keccak(state.PeerCertificates[0].RawSubjectPublicKeyInfo)
}

// Of returns the secp256k1 key of the peer of a connection that came up under a
// configuration of this package: its handshake has judged the certificate, and no
// signature is checked again.
func Of(state tls.ConnectionState) (types.PublicKey, error) {
	if len(state.PeerCertificates) != 1 {
		return types.PublicKey{}, fmt.Errorf("%w: %d", ErrNotOne, len(state.PeerCertificates))
	}
	key, _, err := readExtension(state.PeerCertificates[0].Extensions)
	return key, err
}
