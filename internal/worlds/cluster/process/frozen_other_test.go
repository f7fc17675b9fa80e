//go:build !linux

package process

// killsTheFrozen says that the kernel kills a frozen node when who runs it dies.
const killsTheFrozen = false
