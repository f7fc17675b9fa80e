// Package network is the operator's side of a network: its nodes, and the faults ordered of nodes and of the links between them. It is one
// body of code for live and for simulated networks. It is direct and blocking. It waits only through a Scheduler: live a wait stops a
// goroutine, and in the simulator it lets virtual time pass.
//
// A Backend has the nodes: those of this process, those of others, or simulated ones.
package network
