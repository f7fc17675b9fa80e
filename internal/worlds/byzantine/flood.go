package byzantine

import (
	"bytes"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
)

// floodFrames is how many frames a flooder adds to each true one.
const floodFrames = 32

// floodBytes is the size of the largest of them.
const floodBytes = 64 << 10

// floodPeers sends the true frames, and floodFrames extra ones with each: votes and
// nullify votes that are badly signed, certificates that all have, requests for
// ranges, blocks and transactions that are not needed, and invalid bytes.
func floodPeers(m *Mask, frame []byte, _ receiver) [][]byte {
	sent := make([][]byte, 0, floodFrames+1)
	sent = append(sent, frame)
	for i := range floodFrames {
		sent = append(sent, m.rubbishFrame(frame, i))
	}
	return sent
}

// rubbishFrame makes the i-th frame that goes with a frame.
func (m *Mask) rubbishFrame(frame []byte, i int) []byte {
	bad := types.Vote{Kind: types.Nullify, View: types.View(i + 1), Validator: m.signer.Address(), Signature: types.Signature{byte(i)}}
	switch i % 8 {
	case 0:
		return encodeFrame(mesh.Vote, &bad)
	case 1:
		bad.Kind, bad.Height, bad.Block = types.Notarize, 1, types.Keccak(frame)
		return encodeFrame(mesh.Vote, &bad)
	case 2:
		return frame // again: stale by now if it is a certificate
	case 3:
		return encodeFrame(mesh.RangeRequest, &rangeRequest{From: 1, To: 64})
	case 4:
		return encodeFrame(mesh.Batch, &batch{From: types.Height(i)})
	case 5:
		return encodeFrame(mesh.Transactions, &transactions{Raw: [][]byte{frame, frame}})
	case 6:
		return encodeFrame(mesh.BlockAnswer, &blockAnswer{Block: &types.Block{Header: types.Header{ChainID: m.chainID, Height: types.Height(i)}}})
	}
	return bytes.Repeat([]byte{0xff}, floodBytes)
}
