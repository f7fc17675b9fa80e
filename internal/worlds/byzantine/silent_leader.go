package byzantine

// silentLeader sends no proposal: each view it leads costs the rest a leader
// timeout (decision C4).
func silentLeader(m *Mask, frame []byte, _ receiver) [][]byte {
	if m.readProposal(frame) != nil {
		return nil
	}
	return [][]byte{frame}
}
