package trie

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// model is the dumb twin: a map, sorted when order is asked for, and a root
// computed from nothing each time, with keys spelt out as text of zeros and
// ones. It shares no code with the tree.
type model map[string]string

func (m model) put(batch []Change) model {
	after := make(model, len(m))
	for k, v := range m {
		after[k] = v
	}
	for _, c := range batch {
		if c.Value == nil {
			delete(after, string(c.Key))
		} else {
			after[string(c.Key)] = string(c.Value)
		}
	}
	return after
}

func (m model) keys(from, to []byte) (keys []string) {
	for k := range m {
		if bytes.Compare([]byte(k), from) >= 0 && (to == nil || bytes.Compare([]byte(k), to) < 0) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

func (m model) root() types.Hash { return m.rootOf(m.keys(nil, nil)) }

func (m model) rootOf(keys []string) types.Hash {
	if len(keys) == 0 {
		return types.Hash{}
	}
	if len(keys) == 1 {
		k := keys[0]
		return types.Keccak([]byte{0}, binary.BigEndian.AppendUint32(nil, uint32(len(k))), []byte(k), []byte(m[k]))
	}
	spelt := make([]string, len(keys))
	for i, k := range keys {
		spelt[i] = spell(k)
	}
	at := 0
	for all := true; all; at++ {
		for _, s := range spelt {
			all = all && s[at] == spelt[0][at]
		}
	}
	at--
	var zeros, ones []string
	for i, k := range keys {
		if spelt[i][at] == '0' {
			zeros = append(zeros, k)
		} else {
			ones = append(ones, k)
		}
	}
	left, right := m.rootOf(zeros), m.rootOf(ones)
	return types.Keccak([]byte{1}, binary.BigEndian.AppendUint32(nil, uint32(at)), left[:], right[:])
}

// spell writes a key as nine characters a byte and zeros without end, of which
// 400 are enough for the keys of these tests.
func spell(key string) string {
	var s strings.Builder
	for i := range len(key) {
		s.WriteByte('1')
		for shift := 7; shift >= 0; shift-- {
			s.WriteByte('0' + key[i]>>shift&1)
		}
	}
	s.WriteString(strings.Repeat("0", 400))
	return s.String()
}
