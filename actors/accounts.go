package actors

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// First bytes of keys of state. 't' belongs to the scheduler; the ledger has
// others.
const (
	prefixAccount = 'a' // ‖ address → Account
	prefixActor   = 'r' // ‖ address → Actor
	prefixCode    = 'c' // ‖ keccak256(code) → code
	prefixSchema  = 'e' // ‖ keccak256(code) → its schema, as JSON
	prefixStorage = 's' // ‖ address ‖ keccak256(key) → Entry
	prefixMessage = 'm' // ‖ turn_be8 ‖ sequence number_be8 → Message
	prefixLine    = 'q' // ‖ kind of line ‖ address → line
	prefixCounter = 'n' // ‖ name → the next sequence number
	prefixUpgrade = 'u' // ‖ address → Upgradable
)

// maxRecordBytes bounds what this package reads back from its own state.
const maxRecordBytes = 1 << 26

// Account is what every address has; one with nothing in it is not stored.
type Account struct {
	_       struct{} `cbor:",toarray"`
	Nonce   types.Nonce
	Balance types.Wei
}

// Actor is the record of a deployed actor.
type Actor struct {
	_          struct{} `cbor:",toarray"`
	CodeHash   types.Hash
	Owner      types.Address // who deployed it
	Name       string        // the name in its manifest, may be empty
	DeployedAt types.Height
}

// Entry is one key of an actor's storage. The trie's key holds the key's hash, so
// that no user can choose keys that make a deep path.
type Entry struct {
	_     struct{} `cbor:",toarray"`
	Key   []byte
	Value []byte
}

// Reader is a readable state: a State, or a tree wrapped in Tree.
type Reader interface {
	Get(key []byte) []byte
	Scan(from, to []byte, each func(key, value []byte) bool)
}

// AccountOf returns the account at an address.
func AccountOf(s Reader, at types.Address) Account {
	return decodeAccount(s.Get(addressKey(prefixAccount, at)))
}

// decodeAccount reads an account; nil is one with nothing in it. An account with a
// small nonce and balance is decoded here, since a fire reads four accounts.
func decodeAccount(data []byte) Account {
	if data == nil {
		return Account{}
	}
	if len(data) > 0 && data[0] == 0x82 { // an array of two
		nonce, rest, ok := codec.CutUnsigned(data[1:])
		if balance, rest, fits := codec.CutUnsigned(rest); ok && fits && len(rest) == 0 {
			return Account{Nonce: types.Nonce(nonce), Balance: types.WeiOf(balance)}
		}
	}
	large := new(Account)
	mustDecode(data, large)
	return *large
}

// SetAccount writes an account, or removes it where nothing is left in it.
func (s *State) SetAccount(at types.Address, account Account) {
	if account.Nonce == 0 && account.Balance.IsZero() {
		s.Set(addressKey(prefixAccount, at), nil)
		return
	}
	s.Set(addressKey(prefixAccount, at), codec.Marshal(&account))
}

// Credit adds an amount to a balance. The supply fits into 256 bits, so this
// cannot overflow.
func (s *State) Credit(at types.Address, amount types.Wei) {
	if amount.IsZero() {
		return
	}
	account := AccountOf(s, at)
	account.Balance = account.Balance.Add(amount)
	s.SetAccount(at, account)
}

// Debit takes an amount from a balance; ok is false, and nothing is done, where
// it holds less.
func (s *State) Debit(at types.Address, amount types.Wei) (ok bool) {
	if amount.IsZero() {
		return true
	}
	account := AccountOf(s, at)
	if account.Balance.Less(amount) {
		return false
	}
	account.Balance = account.Balance.Sub(amount)
	s.SetAccount(at, account)
	return true
}

// Move debits one address and credits the other; ok is false, and nothing is
// done, where the first holds less.
func (s *State) Move(from, to types.Address, amount types.Wei) (ok bool) {
	if !s.Debit(from, amount) {
		return false
	}
	s.Credit(to, amount)
	return true
}

// ScanAccounts calls each for every account, by address, until it returns false.
func ScanAccounts(s Reader, each func(types.Address, Account) bool) {
	s.Scan([]byte{prefixAccount}, []byte{prefixAccount + 1}, func(key, value []byte) bool {
		var account Account
		mustDecode(value, &account)
		return each(types.Address(key[1:]), account)
	})
}

// AccountIn reads a key of state and its value, nil if deleted, as an account; ok
// is false if the key is not an account's key.
func AccountIn(key, value []byte) (at types.Address, account Account, ok bool) {
	if len(key) != 1+len(at) || key[0] != prefixAccount {
		return at, account, false
	}
	return types.Address(key[1:]), decodeAccount(value), true
}

// StorageIn reads a key of state and its value as an entry of an actor's storage; ok
// is false where the key is something else's, or the entry is gone.
func StorageIn(actor types.Address, key, value []byte) (entry Entry, ok bool) {
	if len(key) != storageKeyBytes || key[0] != prefixStorage || types.Address(key[1:]) != actor || value == nil {
		return entry, false
	}
	mustDecode(value, &entry)
	return entry, true
}

// ActorOf returns the record of the actor at an address, or nil.
func ActorOf(s Reader, at types.Address) *Actor {
	data := s.Get(addressKey(prefixActor, at))
	if data == nil {
		return nil
	}
	record := new(Actor)
	mustDecode(data, record)
	return record
}

func (s *State) setActor(at types.Address, record *Actor) {
	s.Set(addressKey(prefixActor, at), codec.Marshal(record))
}

// ScanActors calls each for every actor from an address on, by address, until
// it returns false.
func ScanActors(s Reader, from types.Address, each func(types.Address, *Actor) bool) {
	s.Scan(addressKey(prefixActor, from), []byte{prefixActor + 1}, func(key, value []byte) bool {
		record := new(Actor)
		mustDecode(value, record)
		return each(types.Address(key[1:]), record)
	})
}

// CodeOf returns the code with a hash, or nil.
func CodeOf(s Reader, hash types.Hash) []byte { return s.Get(hashKey(prefixCode, hash)) }

// SchemaOf returns what the annotations of the code with a hash say, as JSON; nil of code that has none.
func SchemaOf(s Reader, hash types.Hash) []byte { return s.Get(hashKey(prefixSchema, hash)) }

// StorageOf returns the value under a key of an actor's storage; found is false if
// there is none.
func StorageOf(s Reader, actor types.Address, key []byte) (value []byte, found bool) {
	data := s.Get(storageKey(actor, key))
	if data == nil {
		return nil, false
	}
	var entry Entry
	mustDecode(data, &entry)
	return entry.Value, true
}

// StoredOf returns an entry of an actor's storage as state has it, nil for none. Entries are
// equal exactly if their values are.
func StoredOf(s Reader, actor types.Address, key []byte) []byte { return s.Get(storageKey(actor, key)) }

// SetStorage writes a value under a key of an actor's storage.
func (s *State) SetStorage(actor types.Address, key, value []byte) {
	s.Set(storageKey(actor, key), codec.Marshal(&Entry{Key: key, Value: nonNil(value)}))
}

// DeleteStorage removes a key of an actor's storage.
func (s *State) DeleteStorage(actor types.Address, key []byte) { s.Set(storageKey(actor, key), nil) }

// ScanStorage calls each for all of an actor's storage, in the order of the
// keys' hashes, until it returns false.
func ScanStorage(s Reader, actor types.Address, each func(Entry) bool) {
	from := addressKey(prefixStorage, actor)
	s.Scan(from, keyAfterPrefix(from), func(_, value []byte) bool {
		var entry Entry
		mustDecode(value, &entry)
		return each(entry)
	})
}

// ActorAddress is where a deploy puts its actor:
// keccak256(0xff ‖ deployer ‖ salt ‖ keccak256(code))[12:].
//
// Spec: CIP-6 (docs/DRAFTS.md).
func ActorAddress(deployer types.Address, salt types.Hash, code []byte) types.Address {
	codeHash := types.Keccak(code)
	digest := types.Keccak([]byte{0xff}, deployer[:], salt[:], codeHash[:])
	return types.Address(digest[12:])
}

func addressKey(prefix byte, a types.Address) []byte {
	return append(append(make([]byte, 0, 21), prefix), a[:]...)
}

func hashKey(prefix byte, h types.Hash) []byte {
	return append(append(make([]byte, 0, 33), prefix), h[:]...)
}

// storageKeyBytes is a prefix, an actor's address and the hash of its key.
const storageKeyBytes = 1 + 20 + 32

func storageKey(actor types.Address, key []byte) []byte {
	hash := types.Keccak(key)
	return append(append(append(make([]byte, 0, storageKeyBytes), prefixStorage), actor[:]...), hash[:]...)
}

// keyAfterPrefix returns the smallest key above all that begin with prefix. The prefix has a
// byte other than 0xff, since every prefix here begins with a letter.
func keyAfterPrefix(prefix []byte) []byte {
	end := append([]byte{}, prefix...)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// mustDecode reads what this package wrote. State that does not decode is a bug of
// ours, or a store that lied.
func mustDecode(data []byte, v any) {
	if err := codec.UnmarshalLoose(data, maxRecordBytes, v); err != nil {
		panic(fmt.Sprintf("actors: state holds a %T that does not decode: %v", v, err))
	}
}
