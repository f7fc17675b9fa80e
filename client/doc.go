// Package client speaks to a Cowboy devnet: to one of devnet up, to one node of processes
// or containers, or to one of package devnettest.
//
//	n, err := client.Connect(ctx, "http://127.0.0.1:4000")
//	counter, err := n.DeployFile(ctx, "counter.py", client.Deployment{})
//	receipt, err := counter.Call(ctx, "alice", "add", []byte("3"))
//
// Accounts, actors, validators and runners go by their names; an address in
// hexadecimal works as well. Methods that change the chain return once the change
// is final. Lists are whole. Amounts are in wei; CBY makes them of coins. An API has
// every operation of the HTTP API in its forms, and a Client is built on it.
//
// Errors are typed: an *Error is what the network answered, an *Unreachable that
// nothing answered, an *ExecutionError an execution that failed on chain, a *JobError
// a job that failed, and a *WithinError a condition that did not come true. The end
// of a context is the context's own error.
//
// docs/GO.md lists all that is exported here and in devnettest.
package client
