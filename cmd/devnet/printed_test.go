package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// A command that a text advises is called as this program was, which need not be on the PATH: what a command prints goes
// through replaceProgramName, as its errors do.
func TestPrintedCommandsAreCalledAsThisProgramIs(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	sources := token.NewFileSet()
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(sources, f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || !printing[calledName(call)] {
				return true
			}
			ast.Inspect(call, func(n ast.Node) bool {
				if inner, is := n.(*ast.CallExpr); is && calledName(inner) == "replaceProgramName" {
					return false
				}
				if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING && commandLine().MatchString(text.Value) {
					t.Errorf("%v: %s", sources.Position(text.Pos()), text.Value)
				}
				return true
			})
			return false
		})
	}
}

// printing are the functions that print to who called a command.
var printing = map[string]bool{"Fprint": true, "Fprintf": true, "Fprintln": true, "printLine": true, "printTable": true, "printFacts": true}

// calledName is the last part of the name of what is called.
func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
