// Command devnet runs a Cowboy network on this machine and talks to it.
//
// A file of this package is one group of commands. A command reads its flags, calls
// the network through package client, and prints. up and node start networks and
// nodes, through internal/worlds.
package main

import "os"

func main() {
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}
