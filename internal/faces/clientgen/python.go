package clientgen

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"github.com/cowboyinc/devnet/internal/base/typed"
)

// Names that classes may not have: the file's imports, and the built-in names it uses.
const pyTypes = "Address AddressLike Amount Handle Handlers Receipt Schema SCHEMA Terms Unpack annotations dataclass enum field bool " +
	"bytes dict int list str tuple property interface Annotated Bounds Hash u8 u16 u32 u64"

// PythonTerms are the arguments that every call of a handle takes besides the handler's.
const PythonTerms = "sender value sponsor cycles cells read dry_run"

// PythonAttributes are the attributes of a handle itself. A handler with such a name is
// reached only by `handlers`.
const PythonAttributes = "address balance by call chain dry_run events handlers logs name read schema send state timers"

func (w *writer) writePython() {
	class := w.pyNames()
	w.printLine("# Made by `%s. Do not edit.", w.headerComment())
	w.printLine("# Its schema is %s.", w.schema.Hash)
	w.printLine("# flake8: noqa")
	w.pyDoc("", w.schema.Doc)
	w.printLine("from __future__ import annotations")
	w.printLine("")
	w.printLine("import enum")
	w.printLine("from dataclasses import dataclass, field")
	w.printLine("from typing import Unpack")
	w.printLine("")
	w.printLine("from cowboy_sdk.client import AddressLike, Handle, Handlers, Receipt, Schema, Terms")
	w.pyTypes()
	var types []string
	for i := range w.schema.Types {
		types = append(types, fmt.Sprintf("%s: %s", pyText(w.schema.Types[i].Name), w.types[w.schema.Types[i].Name]))
	}
	w.printLine("")
	w.printLine("")
	w.printLine("SCHEMA = Schema(")
	w.printLine("    %s,", pyText(w.schema.Hash.String()))
	w.printLine("    %s,", pyText(string(w.schema.Brief())))
	w.printLine("    {%s},", strings.Join(types, ", "))
	w.printLine(")")
	handlers := newNames(pyTypes).freeName(class + "Handlers")
	hidden := newNames(PythonAttributes)
	mark := ""
	w.printLine("")
	w.printLine("")
	w.printLine("class %s(Handlers):", handlers)
	w.printLine("    schema = SCHEMA")
	for _, h := range w.callableHandlers() {
		w.pyHandler(h)
		if hidden[h.Name] {
			mark = "  # type: ignore[misc]"
		}
	}
	w.printLine("")
	w.printLine("")
	w.printLine("class %s(Handle, %s):%s", class, handlers, mark)
	w.pyDoc("    ", w.schema.Doc)
	w.printLine("    schema = SCHEMA")
	w.printLine("")
	w.printLine("    @property")
	w.printLine("    def handlers(self) -> %s:", handlers)
	w.printLine("        \"\"\"Every handler, also one that has the name of an attribute of the handle.\"\"\"")
	w.printLine("        return %s(self)", handlers)
}

// pyNames gives every type its name, and returns the actor's class.
func (w *writer) pyNames() string {
	free := newNames(pyTypes)
	w.nameTypes(free, sameName)
	return free.freeName(w.class)
}

// pyDoc writes a text as a docstring.
func (w *writer) pyDoc(indent, doc string) {
	all := docLines(strings.ReplaceAll(doc, `\`, `\\`))
	if len(all) == 0 {
		return
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], `"`, `\"`)
		if !strings.Contains(all[i], `\"\"\"`) && !strings.HasSuffix(all[i], `\"`) {
			all[i] = strings.ReplaceAll(all[i], `\"`, `"`)
		}
		if i > 0 && all[i] != "" && strings.TrimLeft(all[i], " ") == all[i] {
			all[i] = indent + all[i]
		}
	}
	text := strings.Join(all, "\n")
	if len(all) > 1 {
		text += "\n" + indent
	}
	w.printLine("%s\"\"\"%s\"\"\"", indent, text)
}

// pyText is a literal of ASCII.
func pyText(text string) string {
	var out strings.Builder
	out.WriteByte('\'')
	for _, r := range text {
		switch {
		case r == '\'' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < unicode.MaxASCII && unicode.IsPrint(r):
			out.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	return out.String() + "'"
}

func (w *writer) pyTypes() {
	for _, t := range w.sortTypes() {
		w.printLine("")
		w.printLine("")
		if t.IsEnum() {
			w.pyEnum(t)
			continue
		}
		w.printLine("@dataclass")
		w.printLine("class %s:", w.types[t.Name])
		w.pyDoc("    ", t.Doc)
		for j := range t.Fields {
			f := &t.Fields[j]
			given := w.pyDefault(f)
			if made, ok := strings.CutPrefix(given, " = "); ok && (strings.ContainsAny(made[:1], "[{") || strings.HasSuffix(made, ")")) {
				given = " = field(default_factory=lambda: " + made + ")"
			}
			w.printLine("    %s: %s%s", f.Name, w.pyOf(&f.Type), given)
		}
		if t.Doc == "" && len(t.Fields) == 0 {
			w.printLine("    pass")
		}
	}
}

func (w *writer) pyEnum(t *typed.Named) {
	w.printLine("class %s(enum.Enum):", w.types[t.Name])
	w.pyDoc("    ", t.Doc)
	w.pyMembers(t)
}

func (w *writer) pyMembers(t *typed.Named) {
	for i := range t.Values {
		w.printLine("    %s = %s", t.Values[i].Name, memberLiteral(&t.Values[i], pyText))
	}
}

// pyHandler writes a method. It takes the terms of a call too, unless the handler has an
// argument of such a name: then `by` gives them.
func (w *writer) pyHandler(h *typed.Handler) {
	w.printLine("")
	if h.Raw {
		w.printLine("    def %s(self, payload: bytes | str = b\"\", **terms: Unpack[Terms]) -> Receipt[bytes]:", h.Name)
		w.pyDoc("        ", h.Doc)
		w.printLine("        return self._send(%s, payload, terms)", pyText(h.Name))
		return
	}
	reserved, own := newNames(PythonTerms), "self"
	terms := ", **terms: Unpack[Terms]"
	var signature, passed []string
	for i := range h.Arguments {
		f := &h.Arguments[i]
		if f.Name == "self" {
			own = "_self"
		}
		if f.Name == "terms" || reserved[f.Name] {
			terms = ""
		}
		signature = append(signature, f.Name+": "+w.pyLike(&f.Type)+w.pyDefault(f))
		passed = append(passed, pyText(f.Name)+": "+f.Name)
	}
	head := own
	if len(signature) > 0 {
		head += ", *, " + strings.Join(signature, ", ")
	}
	returns := "None"
	if h.Returns != nil {
		returns = w.pyOf(h.Returns)
	}
	w.printLine("    def %s(%s%s) -> Receipt[%s]:", h.Name, head, terms, returns)
	w.pyDoc("        ", h.Doc)
	last := "terms"
	if terms == "" {
		last = "{}"
	}
	w.printLine("        return %s._call(%s, {%s}, %s)", own, pyText(h.Name), strings.Join(passed, ", "), last)
}

// pyLike is what an argument may be given as: an address also as a name or a handle.
func (w *writer) pyLike(t *typed.Type) string {
	if t.Form == typed.Binary && t.Name == "Address" {
		return "AddressLike"
	}
	if t.Form == typed.OptionalForm {
		return w.pyLike(&t.Of[0]) + " | None"
	}
	return w.pyOf(t)
}

func (w *writer) pyOf(t *typed.Type) string {
	switch t.Form {
	case typed.Integer:
		return "int"
	case typed.Bool:
		return "bool"
	case typed.Text:
		return "str"
	case typed.Binary:
		return "bytes"
	}
	return w.pyComposedType(t, w.pyOf)
}

// pyComposedType is a type of others, each written by within, or a named one.
func (w *writer) pyComposedType(t *typed.Type, within func(*typed.Type) string) string {
	var of []string
	for i := range t.Of {
		of = append(of, within(&t.Of[i]))
	}
	inner := strings.Join(of, ", ")
	switch t.Form {
	case typed.OptionalForm:
		return inner + " | None"
	case typed.ListForm:
		return "list[" + inner + "]"
	case typed.TupleForm:
		return "tuple[" + inner + "]"
	case typed.DictForm:
		return "dict[" + inner + "]"
	}
	return w.types[t.Name]
}

// pyDefault is the default of a field after its type; "" without one.
func (w *writer) pyDefault(f *typed.Field) string {
	if !f.Optional {
		return ""
	}
	return " = " + w.pyValue(&f.Type, f.Default)
}

// pyValue is a value as an expression.
func (w *writer) pyValue(t *typed.Type, v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case bool:
		if x {
			return "True"
		}
		return "False"
	case []byte:
		return fmt.Sprintf("bytes.fromhex('%s')", hex.EncodeToString(x))
	}
	switch t.Form {
	case typed.OptionalForm:
		return w.pyValue(&t.Of[0], v)
	case typed.ListForm, typed.TupleForm:
		return w.pyItems(t, v.([]any))
	case typed.DictForm:
		return w.pyDict(t, v.(map[string]any))
	case typed.NamedForm:
		return w.pyNamedValue(w.schema.Type(t.Name), v)
	}
	if number, ok := v.(*big.Int); ok {
		return number.String()
	}
	return pyText(v.(string))
}

func (w *writer) pyItems(t *typed.Type, items []any) string {
	var all []string
	for i, item := range items {
		of := &t.Of[0]
		if t.Form == typed.TupleForm {
			of = &t.Of[i]
		}
		all = append(all, w.pyValue(of, item))
	}
	if t.Form == typed.ListForm {
		return "[" + strings.Join(all, ", ") + "]"
	}
	return "(" + strings.Join(all, ", ") + ",)"
}

func (w *writer) pyDict(t *typed.Type, entries map[string]any) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		written := pyText(key)
		switch t.Of[0].Form {
		case typed.Integer:
			written = key
		case typed.Binary:
			written = "bytes.fromhex('" + key[2:] + "')"
		}
		all = append(all, written+": "+w.pyValue(&t.Of[1], entries[key]))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func (w *writer) pyNamedValue(named *typed.Named, v any) string {
	if named.IsEnum() {
		for _, m := range named.Values {
			if fmt.Sprint(m.Value) == fmt.Sprint(v) {
				return w.types[named.Name] + "." + m.Name
			}
		}
	}
	given := v.(map[string]any)
	var all []string
	for i := range named.Fields {
		f := &named.Fields[i]
		if value, there := given[f.Name]; there {
			all = append(all, f.Name+"="+w.pyValue(&f.Type, value))
		}
	}
	return w.types[named.Name] + "(" + strings.Join(all, ", ") + ")"
}
