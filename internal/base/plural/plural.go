// Package plural counts things in messages that people read. It leaves to others the
// words whose plural is not made by an s or es, and numbers with their thousands apart.
package plural

import (
	"fmt"
	"strings"
)

// Of returns a number with the word for the counted things: "1 byte", and "0 bytes"
// or "2 bytes" for every other; a word that ends in s gets one more syllable: "2
// processes".
func Of[N ~int | ~int64 | ~uint32 | ~uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "s") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// List joins words as a sentence lists them: "a, b and c", for last "and".
func List(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + " " + last + " " + words[end]
}
