package box

import (
	"errors"
	"strings"
	"syscall"
)

// errnosOfRoom are the refusals of a disk that has no room for a write: full, above a quota, or
// above a limit of one file's size.
var errnosOfRoom = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// lacksRoom reports whether an error is a write that found no room. That of a process elsewhere is
// known by its words.
func lacksRoom(err error) bool {
	for _, errno := range errnosOfRoom {
		if errors.Is(err, errno) || err != nil && strings.Contains(err.Error(), errno.Error()) {
			return true
		}
	}
	return false
}

// withoutRoom lists the validators that stopped since their disk had no room.
func (n *Network) withoutRoom() (names []string) {
	for _, node := range n.List() {
		if lacksRoom(node.Failure()) {
			names = append(names, node.Name)
		}
	}
	return names
}
