package push

import (
	"math"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The fixed parts of what a new connection begins with, each up to the next value. The
// version is part of them: another is judged by the form.
const (
	greetingRole    = "\xa5\x67version\x01\x6aparty_role"
	greetingHeight  = "\x6cblock_height"
	greetingKey     = "\x6cparty_pubkey\x58\x21"
	helloChallenge  = "\x6fchallenge_nonce\x58\x20"
	ackSigned       = "\x70signed_challenge\x58\x41"
	loadActive      = "\xa4\x66reason\xf6\x6bactive_jobs"
	loadAccepting   = "\x6daccepting_new"
	loadMost        = "\x6emax_concurrent"
	roleOfRunner    = "\x66" + string(Runner)
	roleOfValidator = "\x69" + string(Validator)
	cborFalse       = "\xf4"
	cborTrue        = "\xf5"
)

// takeParty takes what Hello and HelloAck have in common off the front.
func (l *layout) takeParty(role *Role, height *types.Height, key *types.PublicKey) {
	l.takeLiteral(greetingRole)
	*role = Validator
	if l.takeEither(roleOfRunner, roleOfValidator) {
		*role = Runner
	}
	l.takeLiteral(greetingHeight)
	*height = types.Height(l.takeNumber())
	l.takeLiteral(greetingKey)
	l.takeBytes(key[:])
}

func (l *layout) takeHello() *Hello {
	f := &Hello{Version: Version}
	l.takeParty(&f.PartyRole, &f.BlockHeight, &f.PartyPubkey)
	l.takeLiteral(helloChallenge)
	l.takeBytes(f.ChallengeNonce[:])
	return f
}

func (l *layout) takeHelloAck() *HelloAck {
	f := &HelloAck{Version: Version}
	l.takeParty(&f.PartyRole, &f.BlockHeight, &f.PartyPubkey)
	l.takeLiteral(ackSigned)
	l.takeBytes(f.SignedChallenge[:])
	return f
}

// takeBackpressure takes a signal without a reason, which is the usual one.
func (l *layout) takeBackpressure() *BackpressureSignal {
	l.takeLiteral(loadActive)
	active := l.takeNumber()
	l.takeLiteral(loadAccepting)
	accepting := l.takeEither(cborTrue, cborFalse)
	l.takeLiteral(loadMost)
	most := l.takeNumber()
	l.ok = l.ok && max(active, most) <= math.MaxUint32
	return &BackpressureSignal{ActiveJobs: uint32(active), MaxConcurrent: uint32(most), AcceptingNew: accepting}
}

// appendParty writes what Hello and HelloAck have in common, after their type.
func appendParty(dst []byte, t Type, role Role, height types.Height, key types.PublicKey) []byte {
	dst = append(append(dst, byte(t)), greetingRole...)
	dst = append(codec.AppendText(dst, string(role)), greetingHeight...)
	dst = append(codec.AppendUnsigned(dst, uint64(height)), greetingKey...)
	return append(dst, key[:]...)
}

// isOfParty reports whether a greeting states this version, and a role that there is.
func isOfParty(version uint16, role Role) bool {
	return version == Version && (role == Runner || role == Validator)
}

// appendTo returns nil where the form has to refuse.
func (f *Hello) appendTo(dst []byte) []byte {
	if !isOfParty(f.Version, f.PartyRole) {
		return nil
	}
	dst = append(appendParty(dst, TypeHello, f.PartyRole, f.BlockHeight, f.PartyPubkey), helloChallenge...)
	return append(dst, f.ChallengeNonce[:]...)
}

// appendTo returns nil where the form has to refuse.
func (f *HelloAck) appendTo(dst []byte) []byte {
	if !isOfParty(f.Version, f.PartyRole) {
		return nil
	}
	dst = append(appendParty(dst, TypeHelloAck, f.PartyRole, f.BlockHeight, f.PartyPubkey), ackSigned...)
	return append(dst, f.SignedChallenge[:]...)
}

// appendTo returns nil for a signal with a reason.
func (f *BackpressureSignal) appendTo(dst []byte) []byte {
	if f.Reason != nil {
		return nil
	}
	dst = append(append(dst, byte(TypeBackpressureSignal)), loadActive...)
	dst = append(codec.AppendUnsigned(dst, uint64(f.ActiveJobs)), loadAccepting...)
	dst = append(codec.AppendBool(dst, f.AcceptingNew), loadMost...)
	return codec.AppendUnsigned(dst, uint64(f.MaxConcurrent))
}
