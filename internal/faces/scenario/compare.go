package scenario

import (
	"fmt"

	"go.starlark.net/syntax"
)

type syntaxToken = syntax.Token

// compareForEquality answers == and != of values that have no order.
func compareForEquality(op syntaxToken, same bool, kind string) (bool, error) {
	switch op {
	case syntax.EQL:
		return same, nil
	case syntax.NEQ:
		return !same, nil
	}
	return false, fmt.Errorf("values of type %s cannot be ordered: compare them by == or !=", kind)
}
