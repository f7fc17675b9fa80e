// Command devnet runs a Cowboy network on this machine and talks to it.
//
// Package app has the list of commands. Each folder of internal has the commands of one
// thing that a user does; the packages whose names end in text have what they show.
package main

import (
	"os"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/app"
)

func main() {
	os.Exit(app.Run(os.Args, os.Stdout, os.Stderr))
}
