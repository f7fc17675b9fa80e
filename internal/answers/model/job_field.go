package model

import (
	"reflect"
	"strings"
	"sync"
)

// JobField describes a field of JobRequest by its tags. The API, scripts and the command
// line follow it for the fields of one kind.
type JobField struct {
	reflect.StructField
	Name string // in JSON and scripts
	Kind string // the kind of jobs that has it; "": all
	// Wire is the field of the kind's part of a spec (CIP-2) that it sets.
	Wire string
	// Needed means that a job of the kind must have it. Otherwise is the value of a missing
	// field, as the command line writes it.
	Needed    bool
	Otherwise string
	// As is "bytes" if the field is text, or 0x and hexadecimal digits, and "hex" if only the
	// latter; "" of a field without bytes.
	As string
	// Long marks the field that makes a job of the kind long.
	Long bool
	// Usage is its phrase on the command line, with the value in backquotes.
	Usage string
}

// JobFields lists the fields of JobRequest, in their order.
func JobFields() []JobField { return jobFields() }

var jobFields = sync.OnceValue(func() (list []JobField) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[JobRequest]()) {
		one := JobField{StructField: f, Kind: f.Tag.Get("kind"), Wire: f.Tag.Get("wire"), Needed: f.Tag.Get("needed") == "true",
			Otherwise: f.Tag.Get("otherwise"), As: f.Tag.Get("as"), Long: f.Tag.Get("long") == "true",
			Usage: strings.NewReplacer("{", "`", "}", "`").Replace(f.Tag.Get("flag"))}
		if one.Name, _, _ = strings.Cut(f.Tag.Get("json"), ","); one.Wire == "" {
			one.Wire = one.Name
		}
		list = append(list, one)
	}
	return list
})

// Given reports whether a request has the field.
func (f *JobField) Given(r *JobRequest) bool {
	v := reflect.ValueOf(r).Elem().FieldByIndex(f.Index)
	if v.Kind() == reflect.Slice {
		return v.Len() > 0
	}
	return !v.IsZero()
}
