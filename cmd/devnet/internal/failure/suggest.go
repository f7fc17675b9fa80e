package failure

import (
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/typo"
)

// NearWords names the words that a person may have meant, otherwise all words.
func NearWords(word string, known []string, path string) string {
	var best []string
	most := 1 // more letters to change make another word
	if len(word) > 5 {
		most = 2
	}
	least := most + 1
	for _, name := range known {
		switch d := typo.Distance(word, name); {
		case strings.HasPrefix(name, word) && len(word) > 1:
			best, least = append(best, name), 0
		case d < least:
			best, least = []string{name}, d
		case d == least && d <= most:
			best = append(best, name)
		}
	}
	if len(best) > 0 {
		return fmt.Sprintf("Did you mean %s? See %s --help.", strings.Join(best, " or "), path)
	}
	if len(known) == 0 {
		return fmt.Sprintf("See %s --help.", path)
	}
	return fmt.Sprintf("There are: %s. See %s --help.", strings.Join(known, ", "), path)
}
