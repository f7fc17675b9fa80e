package codec

// CutUnsigned reads an unsigned integer in its shortest form off the front of data:
// for data that is read too often for Unmarshal. ok is false for any other item.
func CutUnsigned(data []byte) (n uint64, rest []byte, ok bool) {
	if len(data) == 0 || data[0] > majorUnsigned|27 {
		return 0, nil, false
	}
	if data[0] < 24 {
		return uint64(data[0]), data[1:], true
	}
	size := 1 << (data[0] - 24)
	if len(data) < 1+size {
		return 0, nil, false
	}
	for _, b := range data[1 : 1+size] {
		n = n<<8 | uint64(b)
	}
	least := uint64(24)
	if size > 1 {
		least = 1 << (4 * size) // what half the bytes could hold
	}
	return n, data[1+size:], n >= least
}
