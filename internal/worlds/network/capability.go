package network

// Capability is what a network may lack: a network of one node, or one without cheats.
type Capability int

// The capabilities.
const (
	SystemKey  Capability = iota // to sign by the system key: parameters, timers, leaving
	Members                      // to start validators that join
	OwnRunners                   // to start runners that join
)
