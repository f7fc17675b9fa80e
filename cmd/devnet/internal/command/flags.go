package command

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Flags reads the flags that were given; the first invalid value stays as the error.
type Flags struct {
	Context *cli.Context
	piped   string // the flag that standard input was read for, "" for none
	Err     error
}

// ReadFlag reads a flag that was given into a field. as says how a text is bytes.
func (f *Flags) ReadFlag(name, as string, into any) {
	switch into := into.(type) {
	case *string:
		switch {
		case name == "max-wall-time":
			*into = f.Context.Duration(name).String()
		case as == "bytes":
			*into = f.readPayload(name)
		default:
			*into = f.NonEmptyText(name)
		}
	case **string:
		if *into = new(f.Context.String(name)); as == "bytes" {
			*into = new(f.readPayload(name))
		}
	case **uint64:
		*into = f.NumberOf(name)
	case **float64:
		*into = new(f.Context.Float64(name))
	case **types.Wei:
		*into = f.AmountOf(name)
	case *bool:
		*into = f.Context.Bool(name)
	case *[]string:
		*into = f.Context.StringSlice(name)
	case *json.RawMessage:
		*into = f.jsonOf(name, f.NonEmptyText(name), `{"path": "/a"}`)
	}
}

// ReadChecks reads each --check that was given.
func (f *Flags) ReadChecks() (list []json.RawMessage) {
	for _, check := range f.Context.StringSlice("check") {
		list = append(list, f.jsonOf("check", check, `{"Equal": ["/price"]}`))
	}
	return list
}

// NonEmptyText returns a text that is not empty, or "" if none was given.
func (f *Flags) NonEmptyText(name string) string {
	if !f.Context.IsSet(name) {
		return ""
	}
	if err := RefuseEmpty(f.Context, name); err != nil && f.Err == nil {
		f.Err = err
	}
	return f.Context.String(name)
}

// RefuseEmpty refuses an empty text if one was given: leaving it out means something
// different.
func RefuseEmpty(c *cli.Context, name string) error {
	if c.IsSet(name) && c.String(name) == "" {
		return failure.NewUsage("Leave it out, or say one.", "--%s: it is empty", name)
	}
	return nil
}

// readPayload returns bytes as a payload is given. Standard input is read for one flag.
func (f *Flags) readPayload(name string) (payload string) {
	if f.Err != nil {
		return ""
	}
	given := f.Context.String(name)
	if given == "-" && f.piped != "" {
		f.Err = failure.NewUsage("Give one of them as @FILE.", "--%s: standard input is read for --%s already", name, f.piped)
		return ""
	}
	if given == "-" {
		f.piped = name
	}
	payload, f.Err = PayloadOf(f.Context, "--"+name, given)
	return payload
}

// NumberOf is the value of a flag; nil if it was not given.
func (f *Flags) NumberOf(name string) *uint64 {
	if !f.Context.IsSet(name) {
		return nil
	}
	return new(f.Context.Uint64(name))
}

// AmountOf is in CBY.
func (f *Flags) AmountOf(name string) *types.Wei {
	if !f.Context.IsSet(name) {
		return nil
	}
	w, err := ParseCBY(name, f.Context.String(name))
	if f.Err == nil {
		f.Err = err
	}
	return &w
}

// jsonOf returns a text of JSON like example; "" is nil.
func (f *Flags) jsonOf(name, text, example string) json.RawMessage {
	if text == "" {
		return nil
	}
	if !json.Valid([]byte(text)) && f.Err == nil {
		f.Err = failure.NewUsage("Quote it for the shell: '"+example+"'.", "--%s: %.80q is not JSON", name, text)
	}
	return json.RawMessage(text)
}
