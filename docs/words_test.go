package docs

import (
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var wordsSince = flag.String("words", "", "print the habits of the lines that came after this commit")

// maxWords is the length of a sentence that is read once.
const maxWords = 25

// A habit is a turn of phrase that has to be read twice.
type habit struct {
	name    string
	is      *regexp.Regexp
	not     *regexp.Regexp // that of it which is plain; may be nil
	instead string
}

func say(name, is, not, instead string) habit {
	h := habit{name: name, is: regexp.MustCompile(is), instead: instead}
	if not != "" {
		h.not = regexp.MustCompile(not)
	}
	return h
}

// habits are the turns that an author reads again. A sentence is judged without its code.
var habits = []habit{
	say("who-start", `^Who(ever|m)?\b[^?]*$`, "", `begin with the noun: "A runner that …"`),
	say("what-start", `^What\b[^?]*$`, "", `begin with the noun: "Unused escrow is refunded"`),
	say("one-start", `^(One|Those|That) (that|who|whose|which|with|without)\b`, "", "repeat the noun"),
	say("of-start", `^Of \w`, `^Of course\b`, "put the subject first"),
	say("error-start", `^(it|its|they|that|who|what|somebody|nobody|those) `, "", "name what failed"),
	say("whoever", `(?i)\bwhoever\b|\bwhom\b`, "", "name the caller, the owner, the submitter"),
	say("somebody", `(?i)\b(nobody|somebody)\b`, "", "name the party: no validator, another process, the caller"),
	say("of-what", `(?i)\b(by|of|in|into|from|at|behind|after|before|than|with|for|on) what\b`, `(?i)\bdepends? (of|on) what\b`, "name it: the price, the rest"),
	say("to-who", `(?i)\b(for|to|by|with|from|than|as|is|are|of) who\b`, "", "name the party"),
	say("is-none", `(?i)\b(is|are|was|were) (none\b|no [a-z]+)`, `(?i)\b(is|are|was|were) (none of|no (longer|more|less|better|use|doubt|matter|one|other|such|need|reason))\b|there (is|are|was|were) no`,
		"say what it is: is not a …, invalid, missing"),
	say("nothing-but", `(?i)\b(nothing|none) but\b`, "", "only"),
	say("tells-of", `(?i)\b(tells?|told) (\w+ )?of\b|\btells? (how|whether|why|where|which)\b`, "", "reports, shows, prints"),
	say("says-so", `(?i)\b(says?|said|told|tells?) so\b`, "", "say what it says"),
	say("sees-to", `(?i)\bsees? to\b`, "", "ensures, installs, handles"),
	say("behind", `(?i)\bbehind\b`, `(?i)\b(blocks?|falls?|far|stays?|left|lags?|too|are|is) behind\b`, "after, below"),
	say("beside", `(?i)\bbeside\b`, "", "besides, next to, compared with"),
	say("stands", `(?i)\b(stands|stood)\b`, `(?i)\bstands for\b`, "is, is written, is stored"),
	say("goes-on", `(?i)\b(go|goes|went|going) on\b`, "", "continues, resumes"),
	say("comes-back", `(?i)\b(comes?|came) back\b`, "", "rejoins, returns; is refunded"),
	say("becomes-of", `(?i)\b(becomes?|became|comes?|came) of\b`, "", "the outcome of"),
	say("fails-over", `(?i)\b(fail|pass)(s|es|ed)? over\b`, "", "fails on; skips"),
	say("where-there", `(?i)\bwhere (there (is|are|was|were)|(it|one) (is|has|was)|nobody|none|no)\b`, "", "if, when"),
	say("so-many", `(?i)\bso many\b`, `(?i)\bso many (as|that)\b`, "N, the given number of"),
	say("of-its-own", `(?i)\bof (its|their|his|your|our) own\b`, "", "its own, a separate"),
	say("each-once", `(?i)\beach once\b`, "", "without duplicates, exactly once"),
	say("is-there", `(?i)\b(is|are|be|was|were) there\b`, `(?i)\b(is|are|be|was|were) there (is|an?|no|to)\b`, "exists, is present"),
	say("else", `(^|, |; |\()(and )?else\b`, "", "otherwise; default"),
	say("least", `(?i)\b(the|a|its) (least|greatest)\b`, "", "minimum, lowest, largest"),
	say("archaic", `(?i)\b(anew|reckon\w*|for ever|once more|lest|for want of|mend(s|ed|ing)?|bears|borne|at hand|in vain|outside of)\b`, "",
		"again, compute, permanently, missing, fix, carry"),
}

// found are the habits of a sentence, of a class of texts.
func found(class, sentence string) (all []string) {
	for _, h := range habits {
		if h.name == "error-start" && class != "errors" {
			continue
		}
		if s := sentence; h.is.MatchString(s) && (h.not == nil || h.is.MatchString(h.not.ReplaceAllString(s, ""))) {
			all = append(all, h.name+": "+h.instead)
		}
	}
	if n := len(strings.Fields(sentence)); n > maxWords {
		all = append(all, fmt.Sprintf("long: %d words, at most %d", n, maxWords))
	}
	return all
}

// An author's command, and no judgment: the turns of phrase to read again in lines that a change adds.
//
//	make words BASE=HEAD
func TestWordsOfAChange(t *testing.T) {
	if *wordsSince == "" {
		t.Skip("make words BASE=COMMIT prints the turns of phrase that a change adds")
	}
	added, err := addedLines("..", *wordsSince)
	if err != nil {
		t.Fatal(err)
	}
	err = prose(checkout(), func(class, file string, line int, sentence string) {
		if !added[file][line] {
			return
		}
		for _, why := range found(class, sentence) {
			fmt.Printf("%s:%d: %s\n    %.160s\n", file, line, why, sentence)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// addedLines are the lines of each file of a checkout that a commit lacks.
func addedLines(dir, since string) (map[string]map[int]bool, error) {
	cmd := exec.Command("git", "-C", dir, "diff", "--unified=0", "--no-color", "--relative", since)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w", since, err)
	}
	added, file := map[string]map[int]bool{}, ""
	for _, line := range strings.Split(string(out), "\n") {
		if name, is := strings.CutPrefix(line, "+++ b/"); is {
			file = name
			added[file] = map[int]bool{}
			continue
		}
		if m := hunkHead.FindStringSubmatch(line); m != nil && added[file] != nil {
			first, _ := strconv.Atoi(m[1]) // digits
			count := 1
			if m[2] != "" {
				count, _ = strconv.Atoi(m[2])
			}
			for n := range count {
				added[file][first+n] = true
			}
		}
	}
	return added, nil
}

var hunkHead = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// The table finds each of its habits, and no plain sentence.
func TestHabitsAreFound(t *testing.T) {
	for sentence, want := range map[string]string{
		"Who has left keeps its place":                "who-start",
		"What is not used returns":                    "what-start",
		"Where is it, and what is it for?":            "",
		"The address is no URL":                       "is-none",
		"There is no address, and it is no longer up": "",
		"A list of what is forbidden":                 "of-what",
		"It stands behind the door":                   "behind stands",
		"A node that falls behind catches up":         "",
		"The network goes on, and is there":           "goes-on is-there",
		"A validator of its own, mended once more":    "of-its-own archaic",
		strings.Repeat("word ", maxWords+1):           "long",
		strings.Repeat("word ", maxWords):             "",
		"The chain continues after the partition":     "",
	} {
		var names []string
		for _, why := range found("docs", sentence) {
			name, _, _ := strings.Cut(why, ":")
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: found %q, want %q", sentence, got, want)
		}
	}
}
