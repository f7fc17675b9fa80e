package ethsend

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// blobType is the first byte of a transaction with blobs (EIP-4844).
const blobType = 0x03

var errBlob = errors.New("it is no transaction with blobs: want 0x03 and a list (EIP-4844)")

// hashOf returns the hash of a signed transaction: keccak256 of its bytes. Nodes take a
// transaction with blobs in a list together with these, which the hash leaves out.
//
// Spec: EIP-2718, EIP-4844 ("Networking").
func hashOf(signed []byte) (types.Hash, error) {
	if len(signed) == 0 || signed[0] != blobType {
		return types.Keccak(signed), nil
	}
	start, end, list, ok := itemBounds(signed, 1)
	if !ok || !list || end != len(signed) {
		return types.Hash{}, errBlob
	}
	_, payloadEnd, wrapped, ok := itemBounds(signed, start)
	if !ok || payloadEnd > end {
		return types.Hash{}, errBlob
	}
	if !wrapped { // the payload alone: its first member is the chain's number
		return types.Keccak(signed), nil
	}
	return types.Keccak([]byte{blobType}, signed[start:payloadEnd]), nil
}

// itemBounds returns the bounds of the content of the RLP item that begins at a byte, and whether
// it is a list. ok is false if the data do not hold the whole item.
func itemBounds(data []byte, at int) (start, end int, list, ok bool) {
	if at >= len(data) {
		return 0, 0, false, false
	}
	first := int(data[at])
	short, list := 0x80, first >= 0xc0
	switch {
	case first < 0x80:
		return at, at + 1, false, true
	case list:
		short = 0xc0
	}
	start = at + 1
	length := first - short
	if length > 55 { // the length has its own length
		digits := length - 55
		if start+digits > len(data) || digits > 4 {
			return 0, 0, false, false
		}
		length = 0
		for _, digit := range data[start : start+digits] {
			length = length<<8 | int(digit)
		}
		start += digits
	}
	return start, start + length, list, length <= len(data)-start
}
