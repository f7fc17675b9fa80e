package byzantine

// withholdBody keeps its blocks from f of the others, the most that a notarization
// can do without, and answers no request for one: such a validator has to find
// another that has it.
func withholdBody(m *Mask, frame []byte, to receiver) [][]byte {
	withheld := m.readProposal(frame) != nil && to.last || m.readBlockAnswer(frame) != nil || m.readBatch(frame) != nil
	if withheld {
		return nil
	}
	return [][]byte{frame}
}
