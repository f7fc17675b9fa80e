// Package container runs the nodes of a network as containers of a Docker engine: it is
// the cluster.Carrier over a folder that devnet init --format compose makes. It works by
// the docker command line. With an engine on another machine the nodes run, and are not
// reached: their ports are published on 127.0.0.1 of that machine.
//
// Every network has a separate Docker network, and every node a container and a volume,
// which holds its settings, its key and its home at /devnet. All of them are called
// devnet-ID-… and have labels: their owner, and their folder with its machine. In that
// folder carrier.lock is locked for as long as their owner lives, so that Reap finds
// what a dead one left.
//
//	NAME.toml, NAME.key  settings and key of a node, as hosts wrote them
//	genesis.cbor         what the chain begins with
//	logs/NAME.log        what a node wrote in containers that are gone
//	carrier.lock         locked by the owner of the containers
package container
