package api

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// minPrefix is the minimum number of hexadecimal digits of a prefix: fewer are a
// typo rather than an id.
const minPrefix = 4

// shortID is an id or address as people shorten it: its beginning, and its
// end where tables show that too (0x2f370e…d67b).
type shortID struct {
	text       string
	begin, end string // hexadecimal digits
}

// parseShortID reads a shortened id of size bytes; ok is false if the text is too
// short, a whole id, or not hexadecimal.
func parseShortID(text string, size int) (a shortID, ok bool) {
	digits, found := strings.CutPrefix(text, "0x")
	if !found {
		return a, false
	}
	for _, gap := range []string{"…", "..."} {
		if begin, end, cut := strings.Cut(digits, gap); cut {
			a.begin, a.end = begin, end
			break
		}
		a.begin = digits
	}
	a.text, a.begin, a.end = text, strings.ToLower(a.begin), strings.ToLower(a.end)
	all := a.begin + a.end
	return a, len(a.begin) >= minPrefix && len(all) < 2*size && strings.Trim(all, "0123456789abcdef") == ""
}

// idBounds fills first and last, which are as long as an id, with the lowest and the
// highest id that begins like a.
func (a shortID) idBounds(first, last []byte) {
	for fill, into := range map[string][]byte{"0": first, "f": last} {
		_, _ = hex.Decode(into, []byte(a.begin+strings.Repeat(fill, 2*len(into)-len(a.begin)))) // the digits were checked
	}
}

func (a shortID) fitsID(id fmt.Stringer) bool { return strings.HasSuffix(id.String(), a.end) }

// onlyMatch returns the only id that fits a, or says why there is none.
func onlyMatch[T fmt.Stringer](a shortID, found []T, what, field string) (id T, err error) {
	switch len(found) {
	case 0:
		return id, Refuse(http.StatusNotFound, "unknown_prefix", "no %s begins with %s", what, clipText(a.text)).At(field)
	case 1:
		return found[0], nil
	}
	return id, Refuse(http.StatusConflict, "ambiguous_prefix", "more than one %s begins with %s: %s and %s among them", what, clipText(a.text),
		found[0], found[1]).
		Hint("Give more of its digits.").At(field)
}

// hashNames are what people call what hashes stand for.
var hashNames = map[history.HashKind]string{history.TimerHash: "timer", history.JobHash: "job", history.ExecutionHash: "execution",
	history.BlockHash: "final block"}

// findHash reads a hash, or finds the one of a kind that a client shortened.
func findHash(v answers.Reader, of history.HashKind, text, field string) (types.Hash, error) {
	a, ok := parseShortID(text, len(types.Hash{}))
	if !ok {
		return parseHash(text, field)
	}
	var first, last types.Hash
	a.idBounds(first[:], last[:])
	var found []types.Hash
	err := v.Hashes(of, first, last, func(h types.Hash) bool {
		if a.fitsID(h) {
			found = append(found, h)
		}
		return len(found) < 2
	})
	if err != nil {
		return types.Hash{}, err
	}
	id, err := onlyMatch(a, found, hashNames[of], field)
	if refused := Answer(err); len(found) == 0 && refused != nil {
		err = orPruned(v, refused)
	}
	return id, err
}

// findAddress finds the account or actor whose address a client shortened.
func (d directory) findAddress(v answers.Reader, a shortID, field string) (types.Address, error) {
	var found []types.Address
	var first, last types.Address
	a.idBounds(first[:], last[:])
	for _, known := range d.listNames() {
		if in := known.Address; first.Compare(in) <= 0 && in.Compare(last) <= 0 && a.fitsID(in) {
			found = append(found, in)
		}
	}
	actors, err := v.Addresses(first, last)
	if err != nil {
		return types.Address{}, err
	}
	for _, in := range actors {
		if a.fitsID(in) {
			found = append(found, in)
		}
	}
	return onlyMatch(a, found, "account or actor", field)
}
