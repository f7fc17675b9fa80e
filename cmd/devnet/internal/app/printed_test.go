package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
)

// A command that a text advises is called as this program was, which need not be on the PATH: what a command prints goes
// through self.ReplaceName, as its errors do.
func TestPrintedCommandsAreCalledAsThisProgramIs(t *testing.T) {
	sources := token.NewFileSet()
	err := filepath.WalkDir("..", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		tree, err := parser.ParseFile(sources, name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || !printing[calledName(call)] {
				return true
			}
			ast.Inspect(call, func(n ast.Node) bool {
				if inner, is := n.(*ast.CallExpr); is && calledName(inner) == "ReplaceName" {
					return false
				}
				if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING && self.CommandLine().MatchString(text.Value) {
					t.Errorf("%v: %s", sources.Position(text.Pos()), text.Value)
				}
				return true
			})
			return false
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// printing are the functions that print to who called a command.
var printing = map[string]bool{"Fprint": true, "Fprintf": true, "Fprintln": true, "printLine": true, "PrintTable": true, "PrintFacts": true}

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
