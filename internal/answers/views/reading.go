package views

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Told is a part of a table.
type Told struct {
	Views   []View
	Members []types.Address // by the positions of votes
	Now     types.Time      // time of the last report
	Latest  types.View
	First   types.View // the lowest kept view; 0 without any
	Failed  uint64     // that were nullified, also those that are not kept
}

// Last lists at most most of the views that began last, in the order they began.
func (t *Table) Last(most int) Told {
	t.mu.Lock()
	defer t.mu.Unlock()
	told := t.tableState()
	for i := max(0, len(t.rows)-most); i < len(t.rows); i++ {
		told.Views = append(told.Views, t.rows[(t.first+i)%len(t.rows)].copyView())
	}
	return told
}

// Between lists the views of numbers from one to another, by number.
func (t *Table) Between(from, to types.View) Told {
	t.mu.Lock()
	defer t.mu.Unlock()
	told := t.tableState()
	for _, v := range t.rows {
		if from <= v.View.View && v.View.View <= to {
			told.Views = append(told.Views, v.copyView())
		}
	}
	slices.SortFunc(told.Views, func(a, b View) int { return cmp.Or(cmp.Compare(a.View, b.View), cmp.Compare(a.Epoch, b.Epoch)) })
	return told
}

// FailedAfter lists the nullified views but the first known ones, in the order of their
// end, as long as they are kept. A number above Told.Failed comes from before Forget: then it
// lists all.
func (t *Table) FailedAfter(known uint64) Told {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known == t.failed {
		return Told{Failed: known, Now: t.now}
	}
	if known > t.failed {
		known = 0
	}
	told, rows := t.tableState(), []*row{}
	for _, v := range t.rows {
		if v.failure > known {
			rows = append(rows, v)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.failure, b.failure) })
	for _, v := range rows {
		told.Views = append(told.Views, v.copyView())
	}
	return told
}

func (t *Table) tableState() Told {
	told := Told{Members: slices.Clone(t.members), Now: t.now, Latest: t.latest, Failed: t.failed}
	for _, v := range t.rows {
		if told.First == 0 || v.View.View < told.First {
			told.First = v.View.View
		}
	}
	return told
}

func (v *row) copyView() View {
	out := v.View
	out.GaveUp = slices.Clone(v.GaveUp)
	for kind := range v.votes {
		out.Votes[kind] = v.votes[kind].listMembers()
	}
	return out
}

// Text returns the outcome of a view until now, in words; unit follows the seconds that
// it took.
func (v *View) Text(now types.Time, unit string) string {
	took := func(at types.Time) string { return fmt.Sprintf("%.3f%s", at.Sub(v.Began).Seconds(), unit) }
	switch {
	case v.Final != 0:
		return fmt.Sprintf("block %d, final after %s", v.Height, took(v.Final)) + v.listSurrenders("; but ")
	case v.Nullified != 0:
		return "nullified after " + took(v.Nullified) + v.listSurrenders(": ")
	case v.Notarized != 0:
		return fmt.Sprintf("block %d, notarized after %s and not final", v.Height, took(v.Notarized)) + v.listSurrenders("; but ")
	}
	return "open for " + took(now) + v.listSurrenders(": ")
}

// Sentence describes the end of a nullified view. The leader is a name, empty if unknown.
func (v *View) Sentence(leader string) string {
	of := fmt.Sprintf("view %d", v.View)
	if leader != "" {
		of += " of " + leader
	}
	took := "at once"
	if after := v.Nullified.Sub(v.Began); after >= time.Millisecond {
		took = fmt.Sprintf("after %.3f s", after.Seconds())
	}
	text := fmt.Sprintf("%s nullified %s%s", of, took, v.listSurrenders(": "))
	if v.Final != 0 {
		text += fmt.Sprintf("; but block %d is final", v.Height)
	}
	return text
}

// causeWords is a cause in words.
func (s *Surrender) causeWords() string {
	text := strings.ReplaceAll(s.Cause.String(), "_", " ")
	if s.Detail != "" {
		text += ": " + s.Detail
	}
	return text
}

// listSurrenders lists why validators gave the view up, those of one reason together.
func (v *View) listSurrenders(lead string) string {
	var reasons []string
	who := map[string][]string{} // looked up only
	for i := range v.GaveUp {
		s := &v.GaveUp[i]
		why := s.causeWords()
		if who[why] == nil {
			reasons = append(reasons, why)
		}
		if !slices.Contains(who[why], s.Node) {
			who[why] = append(who[why], s.Node)
		}
	}
	for i, reason := range reasons {
		slices.Sort(who[reason])
		reasons[i] = fmt.Sprintf("%s (%s)", reason, nameValidators(who[reason]))
	}
	if len(reasons) == 0 {
		return ""
	}
	return lead + strings.Join(reasons, "; ")
}

// fewNames is how many validators are named one by one.
const fewNames = 8

// numbered is a name that ends in a number, such as v17.
type numbered struct {
	stem   string
	number uint64
}

func (n numbered) String() string { return n.stem + strconv.FormatUint(n.number, 10) }

// readNumberedName parts a name from its number; false without one that is written as Go writes it.
func readNumberedName(name string) (n numbered, isNumbered bool) {
	n.stem = strings.TrimRight(name, "0123456789")
	number, err := strconv.ParseUint(name[len(n.stem):], 10, 64)
	n.number = number
	return n, err == nil && n.String() == name
}

// nameValidators lists sorted names. Of many, those whose numbers follow one another are a range: v0-v39.
func nameValidators(names []string) string {
	if len(names) <= fewNames {
		return strings.Join(names, " ")
	}
	var words []string
	var rest []numbered
	for _, name := range names {
		if n, isNumbered := readNumberedName(name); isNumbered {
			rest = append(rest, n)
		} else {
			words = append(words, name)
		}
	}
	slices.SortFunc(rest, func(a, b numbered) int { return cmp.Or(cmp.Compare(a.stem, b.stem), cmp.Compare(a.number, b.number)) })
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && rest[n].stem == rest[0].stem && rest[n].number == rest[n-1].number+1 {
			n++
		}
		if n > 2 {
			words = append(words, rest[0].String()+"-"+rest[n-1].String())
		} else {
			words = append(words, rest[0].String())
			n = 1
		}
		rest = rest[n:]
	}
	return strings.Join(words, " ")
}

// Cause is the cause that most validators gave the view up for, the first of equals, or
// NoCause.
func (v *View) Cause() simplex.Cause {
	var counts [simplex.Causes]int
	best := simplex.NoCause
	for i := range v.GaveUp {
		if c := v.GaveUp[i].Cause; c < simplex.Causes {
			counts[c]++
		}
	}
	for i := range v.GaveUp {
		if c := v.GaveUp[i].Cause; c < simplex.Causes && counts[c] > counts[best] {
			best = c
		}
	}
	return best
}
