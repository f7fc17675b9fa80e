package log

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/cowboyinc/devnet/internal/environment/env"
)

// The file: a header, then records.
//
//	header  magic "cowboylg" · u32 version · u32 checksum of these 12 bytes
//	record  u32 size and flag · u32 checksum · the record
//
// All numbers are big-endian; a checksum is CRC-32C. A record's checksum covers its
// first word too, so a run of zeros is not a record. The flag is set on the first
// record of an Append: its presence proves that all earlier bytes had been written
// whole.
const (
	magic       = "cowboylg"
	version     = 1
	headerBytes = len(magic) + 4 + 4
	frameBytes  = 8 // before each record
	flagFirst   = 1 << 31
)

// Limits of writing, so that a reader can judge lengths.
const (
	MaxRecordBytes = env.MaxFrameBytes // a block body and its framing
	MaxAppendBytes = 16 << 20          // of one Append with its framing: no torn tail is longer
)

// checksumOf is the checksum of two parts, one after the other. Package crc32 makes the table once.
func checksumOf(head, rest []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, rest)
}

func fileHeader() []byte {
	h := binary.BigEndian.AppendUint32([]byte(magic), version)
	return binary.BigEndian.AppendUint32(h, checksumOf(h, nil))
}

// appendRecord appends a record with its frame.
func appendRecord(buf, record []byte, first bool) []byte {
	word := uint32(len(record))
	if first {
		word |= flagFirst
	}
	start := len(buf)
	buf = binary.BigEndian.AppendUint32(buf, word)
	sum := checksumOf(buf[start:], record)
	buf = binary.BigEndian.AppendUint32(buf, sum)
	return append(buf, record...)
}

// parseRecord reads the record that data begins with. ok is false unless the record
// is complete and correct.
func parseRecord(data []byte) (record []byte, first, ok bool) {
	if len(data) < frameBytes {
		return nil, false, false
	}
	size, first := sizeOf(data)
	if size > MaxRecordBytes || size > len(data)-frameBytes {
		return nil, false, false
	}
	record = data[frameBytes : frameBytes+size]
	sum := checksumOf(data[:4], record)
	return record, first, sum == binary.BigEndian.Uint32(data[4:])
}

func sizeOf(data []byte) (size int, first bool) {
	word := binary.BigEndian.Uint32(data)
	return int(word &^ flagFirst), word&flagFirst != 0
}

// isTornTail reports whether rest, which begins with no record, can be what a crash
// left of one Append: it is no longer than one, and no other was begun in it.
//
// A record that lies deeper in rest without beginning an Append proves nothing,
// since a disk may write the pages of one Append in any order.
func isTornTail(rest []byte) bool {
	if len(rest) > MaxAppendBytes {
		return false
	}
	for at := 1; at+frameBytes <= len(rest); at++ {
		if !isPlausible(rest[at:]) {
			continue
		}
		if _, first, ok := parseRecord(rest[at:]); ok && first {
			return false
		}
	}
	return true
}

// isPlausible avoids the checksum at most places without an Append: the record must
// fit, and be followed by the end or something like a record.
func isPlausible(data []byte) bool {
	size, first := sizeOf(data)
	if !first || size > MaxRecordBytes || size > len(data)-frameBytes {
		return false
	}
	after := data[frameBytes+size:]
	if len(after) < 4 {
		return true
	}
	next, _ := sizeOf(after)
	return next <= MaxRecordBytes
}
