package layers

import (
	"go/ast"
	"go/types"
	"strings"
)

// mapRange finds loops over a map.
func (j *judge) mapRange(n *ast.RangeStmt, excused map[int]bool) {
	over := j.pkg.info.Types[n.X].Type
	if over == nil || excused[j.fset.Position(n.Pos()).Line] {
		return
	}
	if mapLike(over) && !deletesOnly(n) {
		j.report(n, "ranges over a map", mapReason)
	}
}

// mapLike reports whether a type is a map, or a type parameter that may be one.
func mapLike(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Interface: // what a type parameter is constrained by
		for i := range u.NumEmbeddeds() {
			if union, ok := u.EmbeddedType(i).(*types.Union); ok {
				for k := range union.Len() {
					if mapLike(union.Term(k).Type()) {
						return true
					}
				}
			} else if mapLike(u.EmbeddedType(i)) {
				return true
			}
		}
	}
	return false
}

// deletesOnly reports whether a loop only deletes keys from the map it ranges over,
// perhaps under a condition: the rest has no order.
func deletesOnly(n *ast.RangeStmt) bool {
	body := n.Body.List
	if len(body) == 1 {
		if condition, ok := body[0].(*ast.IfStmt); ok && condition.Init == nil && condition.Else == nil {
			body = condition.Body.List
		}
	}
	if len(body) != 1 || n.Key == nil {
		return false
	}
	statement, _ := body[0].(*ast.ExprStmt)
	if statement == nil {
		return false
	}
	call, _ := statement.X.(*ast.CallExpr)
	return call != nil && len(call.Args) == 2 && types.ExprString(call.Fun) == "delete" &&
		types.ExprString(call.Args[0]) == types.ExprString(n.X) && types.ExprString(call.Args[1]) == types.ExprString(n.Key)
}

// mapCall finds iterators over a map that are not sorted at once.
func (j *judge) mapCall(n *ast.CallExpr, sorted map[ast.Expr]bool, excused map[int]bool) {
	selector, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || j.packageOf(selector) != "maps" || !has([]string{"Keys", "Values", "All"}, selector.Sel.Name) {
		return
	}
	if !sorted[n] && !excused[j.fset.Position(n.Pos()).Line] {
		j.report(n, "uses maps."+selector.Sel.Name+" unsorted", mapReason)
	}
}

// sortedCalls are the arguments of slices.Sorted and its kin.
func (j *judge) sortedCalls(file *ast.File) map[ast.Expr]bool {
	sorted := make(map[ast.Expr]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if ok && j.packageOf(selector) == "slices" && strings.HasPrefix(selector.Sel.Name, "Sorted") {
				sorted[call.Args[0]] = true
			}
		}
		return true
	})
	return sorted
}

// excuseSortedLoops adds the loops that only collect from a map what the very
// next statement sorts.
func (j *judge) excuseSortedLoops(file *ast.File, excused map[int]bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i := 0; i+1 < len(block.List); i++ {
			loop, ok := block.List[i].(*ast.RangeStmt)
			if !ok {
				continue
			}
			if list := collected(loop.Body); list != "" && list == j.sortedBy(block.List[i+1]) {
				excused[j.fset.Position(loop.Pos()).Line] = true
			}
		}
		return true
	})
}

// collected is the name of the list to which body appends and does nothing
// else, or "".
func collected(body *ast.BlockStmt) string {
	if len(body.List) != 1 {
		return ""
	}
	assign, ok := body.List[0].(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return ""
	}
	list, isName := assign.Lhs[0].(*ast.Ident)
	call, isCall := assign.Rhs[0].(*ast.CallExpr)
	if !isName || !isCall || len(call.Args) == 0 {
		return ""
	}
	function, _ := call.Fun.(*ast.Ident)
	first, _ := call.Args[0].(*ast.Ident)
	if function == nil || first == nil || function.Name != "append" || first.Name != list.Name {
		return ""
	}
	return list.Name
}

// sortedBy is the name of the list that a statement sorts, or "".
func (j *judge) sortedBy(statement ast.Stmt) string {
	expression, ok := statement.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := expression.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	sorts := j.packageOf(selector) == "slices" && strings.HasPrefix(selector.Sel.Name, "Sort") ||
		j.packageOf(selector) == "sort" && has([]string{"Slice", "SliceStable", "Strings", "Ints"}, selector.Sel.Name)
	if !sorts {
		return ""
	}
	if list, ok := call.Args[0].(*ast.Ident); ok {
		return list.Name
	}
	return ""
}

// excusedLines carry an order comment with a reason.
func (j *judge) excusedLines(file *ast.File) map[int]bool {
	lines := make(map[int]bool)
	for _, group := range file.Comments {
		for _, comment := range group.List {
			reason, found := strings.CutPrefix(comment.Text, "// order:")
			if found && strings.TrimSpace(reason) != "" {
				lines[j.fset.Position(comment.Pos()).Line] = true
			}
		}
	}
	return lines
}
