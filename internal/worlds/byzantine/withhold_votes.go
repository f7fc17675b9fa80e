package byzantine

// withholdVotes sends no vote: the rest must form quorums without it. Its
// proposals and the certificates it has gathered leave it.
func withholdVotes(m *Mask, frame []byte, _ receiver) [][]byte {
	if m.readOwnVote(frame) != nil {
		return nil
	}
	return [][]byte{frame}
}
