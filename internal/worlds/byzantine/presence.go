package byzantine

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// fabricatePresence votes that every runner there ever was is present.
func fabricatePresence(m *Mask, frame []byte, _ receiver) [][]byte {
	return m.attestPresence(frame, func(int) bool { return true })
}

// suppressPresence votes that none is.
func suppressPresence(m *Mask, frame []byte, _ receiver) [][]byte {
	return m.attestPresence(frame, func(int) bool { return false })
}

// misshapen are forms that no bitmap has (CIP-11 §12.3), made from the voter's true
// bitmap.
var misshapen = []func(was []byte) []byte{
	func([]byte) []byte { return nil },
	func(was []byte) []byte { return was[:min(len(was), 4)] },
	func(was []byte) []byte { return append(slices.Clone(was), 0) },
	func([]byte) []byte { return []byte{0, 0, 0, 2, 7} },
	func([]byte) []byte { return []byte{0, 0, 0, 0} },
	func([]byte) []byte { return []byte{255, 255, 255, 255, 3} },
	func([]byte) []byte { return make([]byte, 64<<10) },
}

// misshapePresence votes with bytes that are not a bitmap, another form in each
// view.
func misshapePresence(m *Mask, frame []byte, _ receiver) [][]byte {
	v := m.readOwnVote(frame)
	if v == nil || v.Kind != types.Notarize {
		return [][]byte{frame}
	}
	v.Bitmap = misshapen[int(uint64(v.View)%uint64(len(misshapen)))](v.Bitmap)
	return [][]byte{m.signVote(*v)}
}

// attestPresence is a notarize vote with another bitmap than the validator's, of its length:
// what is no such vote goes as it is. In the votes that its own blocks carry the
// validator behind the mask tells the truth.
func (m *Mask) attestPresence(frame []byte, there func(runner int) bool) [][]byte {
	v := m.readOwnVote(frame)
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

// passTruthfully passes frames on: what is a lie of it is said elsewhere.
func passTruthfully(_ *Mask, frame []byte, _ receiver) [][]byte { return [][]byte{frame} }
