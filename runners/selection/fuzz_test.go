package selection

import (
	"bytes"
	"testing"
)

// A bitmap comes in a vote, from a validator that may lie: what is read has one
// form, and no bit beyond its length.
func FuzzParseBitmap(f *testing.F) {
	for _, seed := range [][]byte{{}, {0, 0, 0, 0}, {0, 0, 0, 10, 9, 2}, {0, 0, 0, 10, 9, 4}, {0xff, 0xff, 0xff, 0xff},
		bytes.Repeat([]byte{0}, 12)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ParseBitmap(data)
		if err != nil {
			if b != nil {
				t.Fatal("a bitmap and an error")
			}
			return
		}
		if !bytes.Equal(b.Bytes(), data) {
			t.Fatalf("%x was read, and is %x", data, b.Bytes())
		}
		count := 0
		for i := range b.Len() {
			if b.Has(i) {
				count++
			}
		}
		if p := Presence([]*Bitmap{b}, MaxRunners, 1); p.Count() != count || b.Count() != count {
			t.Fatalf("%x has %d bits, counted %d and %d", data, count, b.Count(), p.Count())
		}
	})
}
