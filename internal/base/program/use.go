package program

import "github.com/cowboyinc/devnet/internal/base/types"

// Use is what one line of an actor's code took of a message, as a host reports it
// that was asked to: it is part of no outcome. Lines count from 1.
type Use struct {
	Stack  string // the functions around the line, outermost first, with ; between them
	Line   int
	Hits   uint64 // how often the line began
	Cycles types.Cycles
	Called types.Cycles // of these, for calls of other actors, what they took included
}

// Branch is one of the continuations of code from a line, and how often a message
// took it.
type Branch struct {
	Line  int
	Way   int // from 0, in the order of the code
	Taken uint64
}

// Probed is a message's use of the receiving actor's code, without that of other
// actors.
type Probed struct {
	Code     Code
	Uses     []Use
	Branches []Branch
}

// Prober is a Host that can say what its programs take line by line.
type Prober interface {
	// Probing returns a similar Host that calls tell for each message when it ended,
	// and a function that ends that host. Outcomes are the same.
	Probing(tell func(*Probed)) (host Host, end func())
}
