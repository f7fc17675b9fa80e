// Package hosts is a network whose nodes run in separate processes, on one machine or on many. It has the folder of files that devnet init
// writes, and the settings that open one validator.
//
//	genesis.cbor     what the chain begins with, and where each validator is reached
//	NAME.toml        the settings of a node
//	NAME.key         its key, 0x and 64 hexadecimal digits, for its owner's eyes
//	homes/NAME       what a validator keeps; made by its first start
//	compose.yaml     of a network in containers; compose.swarm.yaml is what a Swarm needs besides
//	kubernetes.yaml  of one in pods, with settings and keys
//
// Each validator and runner has a separate key, from the system's random source.
// Only the named accounts, for which a devnet signs, follow from a seed.
package hosts
