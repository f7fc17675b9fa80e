package params

import (
	_ "embed"
	"fmt"
	"strings"
)

// oldest lists the parameters that homes of the oldest format were made with, a line each: the
// key, and the default of that version. State at height 0 of such a home holds each of them, and
// no other unless its genesis states it. So a parameter that is not in this list may be added
// without a new format (decision C12).
//
//go:embed format12.txt
var oldest string

// oldDefaults is the defaults that older homes were made with, by key.
type oldDefaults map[string]string

func firstDefaults(list string) oldDefaults {
	first := oldDefaults{}
	for line := range strings.Lines(list) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		first[key] = value
	}
	return first
}

// takeKey reports whether older homes were made with a parameter, and takes it out.
func (m oldDefaults) takeKey(e *entry) bool {
	value, found := m[e.Key]
	if found && value != e.Default {
		panic(fmt.Sprintf("params: the default of %s is %s, and older homes were made with %s: keep that, and give what new chains begin "+
			"with by the tag begins", e.Key, e.Default, value))
	}
	delete(m, e.Key)
	return found
}

// ForNewChains is what a new genesis states though nobody asked for it: values of parameters whose
// default is what older chains keep.
func ForNewChains() Overrides {
	stated := Overrides{}
	for _, e := range readEntries() {
		if e.Begins != "" {
			stated[e.Key] = e.Begins
		}
	}
	return stated
}

// Addition plays the addition of parameters for tests of older homes: the table first lacks
// them, as an older version did, and then has them as later ones. Nothing else may use the
// table while it changes.
type Addition struct {
	whole []entry
	added map[string]bool
}

// BeforeAdding takes parameters out of the table.
func BeforeAdding(keys ...string) *Addition {
	a := &Addition{whole: readEntries(), added: map[string]bool{}}
	for _, key := range keys {
		if _, err := findEntry(key); err != nil {
			panic(err)
		}
		a.added[key] = true
	}
	var kept []entry
	for _, e := range a.whole {
		if !a.added[e.Key] {
			kept = append(kept, e)
		}
	}
	a.replaceTable(kept)
	return a
}

// Add puts them into the table, as ones that older chains lack.
func (a *Addition) Add() {
	var all []entry
	for _, e := range a.whole {
		e.Later = e.Later || a.added[e.Key]
		all = append(all, e)
	}
	a.replaceTable(all)
}

// Undo makes the table what it was.
func (a *Addition) Undo() { a.replaceTable(a.whole) }

func (a *Addition) replaceTable(entries []entry) {
	t := readTable()
	t.entries = entries
	t.indexKeys()
}
