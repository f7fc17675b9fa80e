package clientgen

import (
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/typed"
)

// writeInterfaces writes the class by which another actor calls this one.
func (w *writer) writeInterfaces() {
	class := w.pyNames()
	w.printLine("# Made by `%s: copy it into the actor that calls.", w.headerComment())
	w.printLine("# Its schema is %s.", w.schema.Hash)
	all, sdk := w.sortTypes(), w.sdkImports()
	if slices.ContainsFunc(all, func(t *typed.Named) bool { return !t.IsEnum() }) {
		w.printLine("from dataclasses import dataclass")
	}
	if slices.ContainsFunc(all, (*typed.Named).IsEnum) {
		w.printLine("from enum import Enum")
	}
	if slices.Contains(sdk, "Bounds") {
		w.printLine("from typing import Annotated")
	}
	w.printLine("")
	w.printLine("from cowboy_sdk import %s", strings.Join(sdk, ", "))
	for _, t := range all {
		w.writeAnnotated(t)
	}
	w.printLine("")
	w.printLine("")
	w.printLine("@interface")
	w.printLine("class %s:", class)
	w.pyDoc("    ", w.schema.Doc)
	called := w.callableHandlers()
	for _, h := range called {
		w.printLine("")
		w.printLine("    def %s%s: ...", h.Name, w.handlerSignature(h))
	}
	if len(called) == 0 {
		w.printLine("    pass")
	}
}

// sdkImports are the words of the SDK that the class has, sorted as Python's tools sort them.
func (w *writer) sdkImports() []string {
	found := names{"interface": true}
	var see func(t *typed.Type)
	see = func(t *typed.Type) {
		switch {
		case t.Bounded(), t.Form == typed.Text && t.Max > 0:
			found["Bounds"] = true
		case slices.Contains([]string{"u8", "u16", "u32", "u64", "Amount", "Address", "Hash"}, t.Name) && t.Form != typed.NamedForm:
			found[t.Name] = true
		}
		for i := range t.Of {
			see(&t.Of[i])
		}
	}
	for i := range w.schema.Types {
		for j := range w.schema.Types[i].Fields {
			see(&w.schema.Types[i].Fields[j].Type)
		}
	}
	for _, h := range w.callableHandlers() {
		for i := range h.Arguments {
			see(&h.Arguments[i].Type)
		}
		if h.Returns != nil {
			see(h.Returns)
		}
	}
	return found.sortedNames()
}

func (n names) sortedNames() (all []string) {
	for name := range n {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// writeAnnotated writes a record or an enum with the annotations of the contract.
func (w *writer) writeAnnotated(t *typed.Named) {
	w.printLine("")
	w.printLine("")
	if t.IsEnum() {
		w.printLine("class %s(Enum):", w.types[t.Name])
		w.pyMembers(t)
		return
	}
	w.printLine("@dataclass")
	w.printLine("class %s:", w.types[t.Name])
	for i := range t.Fields {
		f := &t.Fields[i]
		w.printLine("    %s: %s%s", f.Name, w.typeAnnotation(&f.Type), w.pyDefault(f))
	}
	if len(t.Fields) == 0 {
		w.printLine("    pass")
	}
}

func (w *writer) handlerSignature(h *typed.Handler) string {
	if h.Raw {
		return "(self, payload)"
	}
	all := []string{"self"}
	for i := range h.Arguments {
		f := &h.Arguments[i]
		if f.Name == "self" {
			all[0] = "_self"
		}
		all = append(all, f.Name+": "+w.typeAnnotation(&f.Type)+w.pyDefault(f))
	}
	returns := "None"
	if h.Returns != nil {
		returns = w.typeAnnotation(h.Returns)
	}
	return "(" + strings.Join(all, ", ") + ") -> " + returns
}

// typeAnnotation is a type as in the contract.
func (w *writer) typeAnnotation(t *typed.Type) string {
	switch t.Form {
	case typed.Integer, typed.Bool, typed.Text, typed.Binary:
		return t.String()
	}
	return w.pyComposedType(t, w.typeAnnotation)
}
