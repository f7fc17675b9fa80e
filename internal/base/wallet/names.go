package wallet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// ChainID is a network's that is given none.
const ChainID = 8011

// Names of accounts that are not for users.
const (
	System = "system" // the key that may give system instructions
	Faucet = "faucet" // the genesis account that POST /faucet gives from
)

// Balances of accounts at genesis.
var (
	Funds       = types.WeiOf(1_000_000).Mul(types.CBY)
	FaucetFunds = types.WeiOf(1_000_000_000).Mul(types.CBY)
)

// Balance at genesis of a runner that a devnet starts, besides its entry in the
// registry: its stake (decision J20) and, since it owns itself, the cost of its
// pause and deregistration.
var (
	RunnerStake = types.WeiOf(20_000).Mul(types.CBY)
	RunnerFunds = types.WeiOf(100).Mul(types.CBY)
)

// RunnerJobs is how many jobs a runner that a devnet starts does at once.
const RunnerJobs = 16

// users are the accounts of users, in the order in which they are listed.
var users = []string{"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"}

// Users lists the accounts of users. A request without a name is signed by the
// first.
func Users() []string { return slices.Clone(users) }

// Accounts lists every funded account: the users', then the system's and the
// faucet's.
func Accounts() []string { return append(Users(), System, Faucet) }

// Listed lists the accounts shown to users: all but the faucet's.
func Listed() []string { return append(Users(), System) }

// ValidatorName is the name of the i-th validator, from 0.
func ValidatorName(i int) string { return fmt.Sprintf("v%d", i) }

// RunnerName is the name of the i-th runner that a devnet starts, from 0.
func RunnerName(i int) string { return fmt.Sprintf("r%d", i) }

// IsRunnerName reports whether a name is one of RunnerName.
func IsRunnerName(name string) bool {
	digits, is := strings.CutPrefix(name, "r")
	return is && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// AccountKey derives the key of a named account.
func AccountKey(seed uint64, name string) *crypto.Key {
	return crypto.DeriveKey(seed, "account/"+name)
}

// ValidatorKey derives the key of a validator.
func ValidatorKey(seed uint64, name string) *crypto.Key {
	return crypto.DeriveKey(seed, "validator/"+name)
}

// RunnerKey derives the key of a runner, which is its owner's as well.
func RunnerKey(seed uint64, name string) *crypto.Key { return RunnerIdentity(seed, name, 0) }

// RunnerIdentity derives the n-th key of a runner: from 1 on for its rejoins (fault
// rejoin).
func RunnerIdentity(seed uint64, name string, n int) *crypto.Key {
	if n > 0 {
		name = fmt.Sprintf("%s/%d", name, n)
	}
	return crypto.DeriveKey(seed, "runner/"+name)
}
