package home

import "fmt"

// IncompatibleError says that the home's format is another than the binary's.
type IncompatibleError struct {
	Dir       string
	Home      int    // format of the home
	WrittenBy string // version of the devnet that made it
	Binary    string // version of this one
}

func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("home %s has format %d of devnet %s; this devnet %s has format %d: "+
		"run that version, start over with --reset, or choose another --home", e.Dir, e.Home, e.WrittenBy, e.Binary, Format)
}

// MismatchError reports that the home belongs to another network.
type MismatchError struct {
	Dir          string
	What         string // chain id or seed
	Home, Wanted uint64
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("home %s has %s %d, and %d was asked for: leave that out, start over with --reset, or choose another --home",
		e.Dir, e.What, e.Home, e.Wanted)
}

// OwnerError reports that the home belongs to another node, or to a whole network.
type OwnerError struct {
	Dir          string
	Home, Wanted string // nodes; "": a whole network
}

func (e *OwnerError) Error() string {
	whose := func(node string) string {
		if node == "" {
			return "a whole network"
		}
		return node + " alone"
	}
	return fmt.Sprintf("home %s belongs to %s, not to %s: choose another home", e.Dir, whose(e.Home), whose(e.Wanted))
}

// ApartError reports that the home's nodes run in separate processes, or in one, unlike
// the request.
type ApartError struct {
	Dir   string
	Apart bool // so is the home
}

func (e *ApartError) Error() string {
	if e.Apart {
		return fmt.Sprintf("home %s has a network with one process per node: start it with --processes, or choose another --home", e.Dir)
	}
	return fmt.Sprintf("home %s has a network in one process: start it without --processes, or choose another --home", e.Dir)
}

// InUseError says that a process runs on the home.
type InUseError struct {
	Dir string
	PID int // of that process, 0 when it has not said
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("home %s is in use by another process: stop it (devnet down --home %s), or choose another --home", e.Dir, e.Dir)
	}
	return fmt.Sprintf("home %s is in use by process %d: stop it (devnet down --home %s), or choose another --home", e.Dir, e.PID, e.Dir)
}

// ForeignError says that a directory holds something that no devnet made.
type ForeignError struct {
	Dir  string
	Name string // of something in it
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is not a devnet home and not empty (it holds %s): choose an empty or new directory for --home", e.Dir, e.Name)
}

// BrokenError says that a file of the home cannot be read.
type BrokenError struct {
	Path  string
	Cause error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s cannot be read (%v): start over with --reset, or choose another --home", e.Path, e.Cause)
}

func (e *BrokenError) Unwrap() error { return e.Cause }

// LinkError says that a folder or file that devnet makes itself is a symbolic link.
type LinkError struct{ Path string }

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is a symbolic link, and devnet makes no links: remove it, or choose another --home", e.Path)
}
