// Package audit checks the home of a network that stands still: it trusts no
// header, certificate, receipt or state in it, and no vote in a log, but only the
// genesis.
package audit

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Report is what an audit found.
type Report struct {
	Nodes  []NodeReport `json:"nodes"`
	Lost   string       `json:"lost,omitempty"`   // why the nodes together cannot go on with their chain; "": they can
	Remedy []string     `json:"remedy,omitempty"` // commands that repair the nodes, in their order: Advise

	logged simplex.Logged
	tip    simplex.Root // the highest; its block is that of genesis if no node has state
}

// Join adds the report of other nodes of the same network.
func (r *Report) Join(other *Report) {
	r.Nodes = append(r.Nodes, other.Nodes...)
	r.logged.Join(&other.logged)
	r.noteTip(other.tip)
}

// noteTip notes a node's tip.
func (r *Report) noteTip(tip simplex.Root) {
	if r.tip.Block == nil || tip.Block != nil && tip.Block.Header.Height > r.tip.Block.Header.Height {
		r.tip = tip
	}
}

// Together judges the nodes of a whole network as the only ones that have its chain.
func (r *Report) Together() {
	at := r.tip.Block.Header.Height
	if len(r.Nodes) > 0 && !slices.ContainsFunc(r.Nodes, func(n NodeReport) bool { return !n.emptied }) {
		r.Lost = "the chain is lost: the files of every validator are empty; " +
			"put the state.db of one back from a copy, load a snapshot, or start over with --reset"
		return
	}
	if r.logged.Lost(r.tip) {
		r.Lost = fmt.Sprintf("the chain is lost: height %d was final, and the highest state in this home is of height %d; "+
			"put the state.db of a validator back from a copy, load a snapshot, or start over with --reset", r.logged.Final, at)
	}
}

// NodeReport is what the audit of one node found.
type NodeReport struct {
	Name     string       `json:"name"`
	Height   types.Height `json:"height"`
	From     types.Height `json:"from"`   // of the first stored block, if earlier ones were dropped; otherwise 0
	Blocks   int          `json:"blocks"` // executed again
	Votes    int          `json:"votes"`  // in its log
	Problems []string     `json:"problems"`

	files   home.Node
	emptied bool  // both are there, and nothing in them
	kinds   uint8 // of the problems, one bit each
}

// maxProblems bounds what is listed of one node: after the first few the others
// follow from them.
const maxProblems = 20

// Clean reports whether nothing was found.
func (r *Report) Clean() bool {
	for i := range r.Nodes {
		if len(r.Nodes[i].Problems) > 0 {
			return false
		}
	}
	return r.Lost == ""
}

// noNetwork is why there is nothing to audit, and what makes a network there, where
// something does.
func noNetwork(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, and a home is a folder", dir)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s holds no network, and other files", dir)
	}
	return fmt.Errorf("%s holds no network: devnet up --home %s makes one", dir, dir)
}

// Home audits the home of a network that does not run. For every node it executes
// every block again from genesis and compares header, receipts and final state, and
// counts the signers of every certificate. It checks that the supply adds up, that
// no validator's log contradicts itself, and that all nodes have the same blocks.
// progress, which may be nil, is called for each block. It cannot execute the
// blocks of a node that dropped older ones (--history): it follows their links,
// counts the certificates of the epochs whose sets the state still knows, and
// compares the state's root with the last block's. An error means that the audit
// could not be made.
func Home(dir string, python string, progress func(node string, height, tip types.Height)) (*Report, error) {
	if _, err := home.ReadMeta(dir); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, noNetwork(dir)
		}
		return nil, err
	}
	if pid, running := home.User(dir); running {
		return nil, &home.InUseError{Dir: dir, PID: pid}
	}
	data, err := home.ReadGenesis(dir)
	if err != nil {
		return nil, err
	}
	genesis, err := ledger.DecodeGenesis(data)
	if err != nil {
		return nil, fmt.Errorf("%s: genesis.cbor: %w", dir, err)
	}
	pool := pyhost.New(pyhost.Config{Python: python})
	defer pool.Close()
	verifier := crypto.NewVerifier(true)
	chain := map[types.Height]types.Hash{}
	report := &Report{}
	_, first, err := genesis.State()
	if err != nil {
		return nil, fmt.Errorf("%s: genesis.cbor: %w", dir, err)
	}
	report.noteTip(simplex.Root{Block: first, Hash: first.Hash()})
	meta, err := home.ReadMeta(dir)
	if err != nil {
		return nil, err
	}
	names, err := nodesOf(dir, meta, genesis)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		a := &node{genesis: genesis, verifier: verifier, chain: chain, progress: progress, whole: report,
			executor: &ledger.Executor{Programs: samples.Mux{Other: pool}, Verifier: verifier}}
		a.report.Name, a.report.Problems = name, []string{}
		a.report.files = home.NodeFiles(dir, name)
		if err := a.reportDamage(a.auditNode(a.report.files)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		report.Nodes = append(report.Nodes, a.report)
	}
	if meta.Node == "" {
		report.Together()
	}
	return report, nil
}

// nodesOf lists the validators of genesis, then those that joined; of a home that one
// has for itself, that one.
func nodesOf(dir string, meta home.Meta, genesis *ledger.Genesis) (names []string, err error) {
	if meta.Node != "" {
		return []string{meta.Node}, nil
	}
	for i := range genesis.Validators.Members {
		names = append(names, wallet.ValidatorName(i))
	}
	others, err := home.Nodes(dir)
	for _, name := range others {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}
