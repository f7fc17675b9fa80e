package command

import (
	"github.com/urfave/cli/v2"
)

// FromFlag is the account that signs.
var FromFlag = &cli.StringFlag{Name: "from", Value: "alice", Usage: "devnet `ACCOUNT` that signs; an actor or address is impersonated"}

// NoWaitFlag has a command end before the receipt of its transaction.
var NoWaitFlag = &cli.BoolFlag{Name: "no-wait", Usage: "hand the transaction in and print its hash; devnet tx HASH shows its end"}
