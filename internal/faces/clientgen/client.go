package clientgen

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/cowboyinc/devnet/internal/base/typed"
)

// Languages are those that clients are written in; actor is the interface for actors.
var Languages = []string{"py", "ts", "go", "actor"}

// File writes the client of an actor, whose name is what the reader typed for it.
func File(s *typed.Schema, name, language string) ([]byte, error) {
	w := &writer{schema: s, actor: name, language: language}
	w.class = camelCase(s.Actor)
	if w.class == "" {
		w.class = camelCase(name)
	}
	if w.class == "" || unicode.IsDigit(rune(w.class[0])) {
		w.class = "Actor" + w.class // of bare functions, and known only by its address
	}
	switch language {
	case "py":
		w.writePython()
	case "ts":
		w.writeTypeScript()
	case "go":
		return w.writeGo()
	case "actor":
		w.writeInterfaces()
	default:
		return nil, fmt.Errorf("there are no clients in %q: the languages are %s", language, strings.Join(Languages, ", "))
	}
	return []byte(w.out.String()), nil
}

// writer writes one file.
type writer struct {
	schema   *typed.Schema
	actor    string
	language string
	class    string // of the actor
	types    map[string]string
	out      strings.Builder
}

// printLine writes a line.
func (w *writer) printLine(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

// headerComment says what made the file.
func (w *writer) headerComment() string {
	return fmt.Sprintf("devnet actor client %s --lang %s`", commandWord(w.actor), w.language)
}

// commandWord is the actor's name in the command that made the file. A name other than
// a plain word stays out of the code.
func commandWord(name string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", r)
	}
	if name == "" || len(name) > 64 || strings.TrimFunc(name, plain) != "" || strings.HasPrefix(name, "-") {
		return "NAME"
	}
	return name
}

// callableHandlers are the handlers that others than the chain call.
func (w *writer) callableHandlers() (all []*typed.Handler) {
	for i := range w.schema.Handlers {
		if h := &w.schema.Handlers[i]; !h.Chain && h.Name != "init" {
			all = append(all, h)
		}
	}
	return all
}

// nameTypes gives every type of the schema its name, made of the schema's by as.
func (w *writer) nameTypes(free names, as func(string) string) {
	w.types = map[string]string{}
	for i := range w.schema.Types {
		name := w.schema.Types[i].Name
		w.types[name] = free.freeName(as(name))
	}
}

// sameName is a name as it is in the schema.
func sameName(name string) string { return name }

// memberLiteral is the value of a member of an enum; text writes words.
func memberLiteral(m *typed.Member, text func(string) string) string {
	if word, ok := m.Value.(string); ok {
		return text(word)
	}
	return fmt.Sprint(m.Value)
}

// docLines are the lines of a text of the schema, with printable characters only.
func docLines(doc string) (all []string) {
	for _, line := range strings.Split(doc, "\n") {
		line = strings.TrimRightFunc(strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case unicode.IsPrint(r):
				return r
			}
			return -1
		}, line), unicode.IsSpace)
		all = append(all, line)
	}
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// names hands out names without duplicates.
type names map[string]bool

func newNames(words string) names {
	n := names{}
	for _, word := range strings.Fields(words) {
		n[word] = true
	}
	return n
}

// freeName is an unused name: the given one, or it with _ appended.
func (n names) freeName(name string) string {
	for n[name] {
		name += "_"
	}
	n[name] = true
	return name
}

// camelCase writes a name like class names and Go: set_price is SetPrice.
func camelCase(name string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		for _, r := range word {
			if r >= unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return ""
			}
		}
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// allOptional reports whether a handler may be called without any argument.
func allOptional(h *typed.Handler) bool {
	for i := range h.Arguments {
		if !h.Arguments[i].Optional {
			return false
		}
	}
	return true
}

// sortTypes sorts the types so that each comes after the types within it.
func (w *writer) sortTypes() (all []*typed.Named) {
	seen := names{}
	var add func(t *typed.Named)
	var within func(t *typed.Type)
	within = func(t *typed.Type) {
		if named := w.schema.Type(t.Name); t.Form == typed.NamedForm && named != nil {
			add(named)
		}
		for i := range t.Of {
			within(&t.Of[i])
		}
	}
	add = func(t *typed.Named) {
		if seen[t.Name] {
			return
		}
		seen[t.Name] = true
		for i := range t.Fields {
			within(&t.Fields[i].Type)
		}
		all = append(all, t)
	}
	for i := range w.schema.Types {
		add(&w.schema.Types[i])
	}
	return all
}
