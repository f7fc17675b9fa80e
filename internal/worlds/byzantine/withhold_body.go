package byzantine

// withholdBody keeps its blocks from f of the others, the most that a notarization
// can do without, and answers no request for one: such a validator has to find
// another that has it.
func withholdBody(m *Mask, frame []byte, to receiver) [][]byte {
	withheld := m.proposal(frame) != nil && to.last || m.answer(frame) != nil || m.batch(frame) != nil
	if withheld {
		return nil
	}
	return [][]byte{frame}
}
