package answers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/refusal"
)

// below are the folders whose refusals have their status by the table.
var below = []string{"internal/worlds", "internal/runs", "internal/answers", "internal/environment/fault", "validators", "devnettest"}

// withCodes are the folders of the constants by which they name codes.
var withCodes = append([]string{"internal/base/refusal"}, below...)

// sources calls each with every file of folders, without tests.
func sources(t *testing.T, folders []string, each func(*token.FileSet, *ast.File)) {
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err == nil {
				each(set, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Each code of a refusal below the API has one row of the table, and each row a refusal. Codes
// that the chain decides have none.
func TestEachRefusalHasAStatus(t *testing.T) {
	constants := map[string]string{}
	sources(t, withCodes, func(_ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is {
				for i, value := range spec.Values {
					if literal, is := value.(*ast.BasicLit); is && literal.Kind == token.STRING {
						constants[spec.Names[i].Name], _ = strconv.Unquote(literal.Value)
					}
				}
			}
			return true
		})
	})
	used := map[string]bool{}
	sources(t, below, func(set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			of, is := call.Fun.(*ast.SelectorExpr)
			if !is || of.Sel.Name != "New" {
				return true
			}
			if pkg, is := of.X.(*ast.Ident); !is || pkg.Name != "refusal" {
				return true
			}
			code := ""
			switch first := call.Args[0].(type) {
			case *ast.BasicLit:
				code, _ = strconv.Unquote(first.Value)
			case *ast.Ident:
				code = constants[first.Name]
			case *ast.SelectorExpr:
				if code = constants[first.Sel.Name]; first.Sel.Name == "Code" {
					return true // the chain's
				}
			}
			if code == "" {
				t.Errorf("%s: no constant is the code of this refusal", set.Position(call.Pos()))
			}
			used[code] = true
			return true
		})
	})
	rows := map[string]int{}
	for _, codes := range statuses {
		for _, code := range codes {
			rows[code]++
		}
	}
	for code := range used {
		if rows[code] != 1 {
			t.Errorf("the code %q is in %d rows of statuses, want 1", code, rows[code])
		}
	}
	for code := range rows {
		if !used[code] && !slices.Contains(decided, code) {
			t.Errorf("no refusal has the code %q of statuses", code)
		}
	}
}

// decided are codes in the table that the mempool or a policy gives a refusal.
var decided = []string{"already_known", refusal.CodeNonceGap, refusal.CodeNonceTaken, refusal.CodeNonceTooLow,
	"pool_full", "sender_full", "too_large", "timer_policy_unknown"}
