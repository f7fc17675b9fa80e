package byzantine

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// fabricatePresence votes that every runner there ever was is present.
func fabricatePresence(m *Mask, frame []byte, _ receiver) [][]byte {
	return m.attest(frame, func(int) bool { return true })
}

// suppressPresence votes that none is.
func suppressPresence(m *Mask, frame []byte, _ receiver) [][]byte {
	return m.attest(frame, func(int) bool { return false })
}

// attest is a notarize vote with another bitmap than the validator's, of its length:
// what is no such vote goes as it is. In the votes that its own blocks carry the
// validator behind the mask tells the truth.
func (m *Mask) attest(frame []byte, there func(runner int) bool) [][]byte {
	v := m.vote(frame)
	if v == nil || v.Kind != types.Notarize {
		return [][]byte{frame}
	}
	bitmap, err := selection.ParseBitmap(v.Bitmap)
	if err != nil {
		return [][]byte{frame}
	}
	for i := range bitmap.Len() {
		bitmap.Set(i, there(i))
	}
	v.Bitmap = bitmap.Bytes()
	return [][]byte{m.signVote(*v)}
}

// truthful passes frames on: what is a lie of it is said elsewhere.
func truthful(_ *Mask, frame []byte, _ receiver) [][]byte { return [][]byte{frame} }
