package clientgen

import (
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/typed"
)

// interfaces writes the class by which another actor calls this one.
func (w *writer) interfaces() {
	class := w.pyNames()
	w.p("# Made by `%s: copy it into the actor that calls.", w.made())
	w.p("# Its schema is %s.", w.schema.Hash)
	all, sdk := w.ordered(), w.imports()
	if slices.ContainsFunc(all, func(t *typed.Named) bool { return !t.IsEnum() }) {
		w.p("from dataclasses import dataclass")
	}
	if slices.ContainsFunc(all, (*typed.Named).IsEnum) {
		w.p("from enum import Enum")
	}
	if slices.Contains(sdk, "Bounds") {
		w.p("from typing import Annotated")
	}
	w.p("")
	w.p("from cowboy_sdk import %s", strings.Join(sdk, ", "))
	for _, t := range all {
		w.annotated(t)
	}
	w.p("")
	w.p("")
	w.p("@interface")
	w.p("class %s:", class)
	w.pyDoc("    ", w.schema.Doc)
	called := w.called()
	for _, h := range called {
		w.p("")
		w.p("    def %s%s: ...", h.Name, w.signature(h))
	}
	if len(called) == 0 {
		w.p("    pass")
	}
}

// imports are the words of the SDK that the class has, sorted as Python's tools sort them.
func (w *writer) imports() []string {
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
	for _, h := range w.called() {
		for i := range h.Arguments {
			see(&h.Arguments[i].Type)
		}
		if h.Returns != nil {
			see(h.Returns)
		}
	}
	return found.sorted()
}

func (n names) sorted() (all []string) {
	for name := range n {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// annotated writes a record or an enum with the annotations of the contract.
func (w *writer) annotated(t *typed.Named) {
	w.p("")
	w.p("")
	if t.IsEnum() {
		w.p("class %s(Enum):", w.types[t.Name])
		w.pyMembers(t)
		return
	}
	w.p("@dataclass")
	w.p("class %s:", w.types[t.Name])
	for i := range t.Fields {
		f := &t.Fields[i]
		w.p("    %s: %s%s", f.Name, w.annotation(&f.Type), w.pyDefault(f))
	}
	if len(t.Fields) == 0 {
		w.p("    pass")
	}
}

func (w *writer) signature(h *typed.Handler) string {
	if h.Raw {
		return "(self, payload)"
	}
	all := []string{"self"}
	for i := range h.Arguments {
		f := &h.Arguments[i]
		if f.Name == "self" {
			all[0] = "_self"
		}
		all = append(all, f.Name+": "+w.annotation(&f.Type)+w.pyDefault(f))
	}
	returns := "None"
	if h.Returns != nil {
		returns = w.annotation(h.Returns)
	}
	return "(" + strings.Join(all, ", ") + ") -> " + returns
}

// annotation is a type as in the contract.
func (w *writer) annotation(t *typed.Type) string {
	switch t.Form {
	case typed.Integer, typed.Bool, typed.Text, typed.Binary:
		return t.String()
	}
	return w.pyComposed(t, w.annotation)
}
