// Package devnet runs a Cowboy network in containers, for the tests of those who build
// on it: by testcontainers-go, and with the typed client of package client.
//
//	n, err := devnet.Run(ctx, devnet.Image)
//	devnet.CleanUp(t, n)
//
// Run has the whole network in one container, and RunCluster one container per node,
// each with a separate key, disk and address. Both return when the network is ready.
// CleanUp removes the containers at the end of a test, and shows what they logged where
// it failed. The next Run or RunCluster removes the containers of a test that was
// killed.
//
// The image is made by make image in the repository of devnet. Where Docker can pull no
// images, testcontainers' own reaper cannot run either: set
// TESTCONTAINERS_RYUK_DISABLED=true.
package devnet
