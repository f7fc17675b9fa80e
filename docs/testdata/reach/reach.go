// Package reach is what a test of the coverage's reader looks at.
package reach

// T has methods.
type T struct{}

func Ran(n int) int {
	return n
}

func (T) Idle() int {
	return 1
}

func (*T) Behind() int {
	return 2
}
