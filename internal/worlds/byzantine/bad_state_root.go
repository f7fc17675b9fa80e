package byzantine

import "github.com/cowboyinc/devnet/internal/base/types"

// badStateRoot proposes its blocks with a state root that is not theirs, well
// signed: who votes without executing (decision C2) would finalize a lie.
func badStateRoot(m *Mask, frame []byte, _ receiver) [][]byte {
	p := m.readProposal(frame)
	if p == nil {
		return [][]byte{frame}
	}
	block := *p.Block
	block.Header.StateRoot = types.Keccak(block.Header.StateRoot[:])
	return [][]byte{m.signProposal(types.Proposal{View: p.View, Block: &block})}
}
