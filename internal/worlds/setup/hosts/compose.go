package hosts

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Where a node in a container finds what it is started with: its files as secrets, or,
// where keys follow from a seed, what it makes itself in its volume.
const (
	secretsDir = "/run/secrets"
	seededDir  = volume + "/net"
)

// imageOwner is the user that the image runs as.
const imageOwner = 4000

// Compose returns the network as a file of Docker Compose, for the formats Compose and
// Seeded. Ports are published on 127.0.0.1, since the API signs.
func (n *Network) Compose() string {
	var b strings.Builder
	b.WriteString(n.composeHead())
	for i, v := range n.Validators {
		n.writeService(&b, v.Name, "validator", "")
		if n.publishesPort(i) {
			fmt.Fprintf(&b, "    ports: [\"127.0.0.1:%s:%d\"]\n", n.publishedPort(i), Port)
		}
		fmt.Fprintf(&b, "    volumes: [\"%s:%s\"]\n", v.Name, volume)
	}
	for i, r := range n.Runners {
		n.writeService(&b, r.Name, "runner", n.Validators[i%len(n.Validators)].Name)
		if n.isSeeded() {
			fmt.Fprintf(&b, "    volumes: [\"%s:%s\"]\n", r.Name, volume)
		}
	}
	b.WriteString("\nvolumes:\n")
	for _, name := range n.nodesWithVolume() {
		fmt.Fprintf(&b, "  %s:\n", name)
	}
	if !n.isSeeded() {
		n.writeSecrets(&b)
	}
	return b.String()
}

// Swarm returns the file that a Swarm needs besides Compose. Names resolve to containers
// rather than virtual addresses, since QUIC knows its peers by address. A Swarm publishes
// on no single address, so that the ports are open on all addresses of a machine.
func (n *Network) Swarm() string {
	var b strings.Builder
	b.WriteString(`# The stack of a Swarm: docker stack deploy -c compose.yaml -c compose.swarm.yaml NAME
#
# A Swarm cannot publish on 127.0.0.1. The API signs for the named accounts and takes
# faults: close the ports below in the firewall of each machine.
#
# Deploying a changed image changes all services at once, and no block is made meanwhile.
# docker service update --image changes one: docs/CONTAINERS.md has the loop.
version: "3.8"

x-node: &node
  endpoint_mode: dnsrr
  restart_policy: {condition: any, delay: 1s}
  update_config: {order: stop-first, failure_action: rollback, monitor: 30s}

services:
`)
	for i, node := range n.allNodes() {
		fmt.Fprintf(&b, "  %s:\n    deploy: *node\n", node.Name)
		if i < len(n.Validators) && n.publishesPort(i) {
			port := n.publishedPort(i)
			if n.isSeeded() { // a text until the variable has its value
				port = strconv.Quote(port)
			}
			fmt.Fprintf(&b, "    ports: [{target: %d, published: %s, protocol: tcp, mode: host}]\n", Port, port)
		}
	}
	return b.String()
}

const seededHead = `# The network of devnet up, one container per node: docker-compose up. On a Swarm:
# docker stack deploy -c compose.yaml -c compose.swarm.yaml devnet. "make image" makes the
# image first.
#
# All keys follow from the seed below, so that no node has to be given a key. Anyone who
# reads the seed has all keys. devnet init --format compose makes a network with fresh keys.
`

const ownHead = `# A Cowboy network, one container per node: docker-compose up in this folder. On a Swarm:
# docker stack deploy -c compose.yaml -c compose.swarm.yaml NAME. The keys are its secrets.
`

// composeHead is what all services have.
func (n *Network) composeHead() string {
	var b strings.Builder
	image := fmt.Sprintf("%q", n.plan.Image)
	if n.isSeeded() {
		image = fmt.Sprintf("\"${DEVNET_IMAGE:-%s}\"", n.plan.Image)
		b.WriteString(seededHead)
	} else {
		b.WriteString(ownHead)
	}
	b.WriteString("#\n# The API signs for the named accounts and takes faults. It is published only on\n" +
		"# 127.0.0.1.\nversion: \"3.8\"\n\nx-node: &node\n")
	fmt.Fprintf(&b, "  image: %s\n  init: true\n  restart: unless-stopped\n  stop_grace_period: 40s\n"+
		"  environment: [DEVNET_QLOG, DEVNET_KEYLOG, DEVNET_CORS, DEVNET_HOST] # as they are here: "+
		"a folder and a file below %s, origins, names\n", image, volume)
	if uid := os.Getuid(); !n.isSeeded() && uid != 0 { // whose files they are; root gives them to the image's user
		fmt.Fprintf(&b, "  user: \"%d:%d\"\n", uid, os.Getgid())
	}
	b.WriteString("\nx-health: &health # of validators: a Swarm has others find them once they are healthy\n  interval: 5s\n" +
		"  timeout: 10s\n  start_period: 2m\n  retries: 3\n\nservices:\n")
	return b.String()
}

// writeService writes the common part of every node; the part of its kind follows.
func (n *Network) writeService(b *strings.Builder, name, kind, after string) {
	fmt.Fprintf(b, "  %s:\n    <<: *node\n    hostname: %s\n", name, name)
	dir := secretsDir
	if n.isSeeded() {
		dir = seededDir
		fmt.Fprintf(b, "    command: [node, seeded, --name, %s, --dir, %s, --seed, \"%d\", --validators, \"%d\", --runners, \"%d\"]\n",
			name, dir, *n.plan.Seed, len(n.Validators), len(n.Runners))
	} else {
		wait := ""
		if kind == "runner" {
			wait = ", --wait"
		}
		fmt.Fprintf(b, "    command: [node, %s, --config, %s/%s%s]\n", kind, dir, settingsFile(name), wait)
	}
	alone := ""
	if kind == "validator" {
		alone = ", --alone"
	}
	fmt.Fprintf(b, "    healthcheck: {<<: *health, test: [CMD, devnet, node, health, --config, %s/%s%s]}\n", dir, settingsFile(name), alone)
	if after != "" {
		fmt.Fprintf(b, "    depends_on: [%s]\n", after)
	}
	if !n.isSeeded() {
		b.WriteString("    secrets:\n")
		files := []string{settingsFile(name), keyFile(name)}
		if kind == "validator" {
			files = append(files, GenesisFile)
		}
		for _, file := range files {
			fmt.Fprintf(b, "      - {source: %s, target: %s}\n", secretOf(file), file)
		}
	}
}

// publishesPort reports whether a validator's API has a port of this machine.
func (n *Network) publishesPort(validator int) bool { return !n.isSeeded() || validator == 0 }

// publishedPort is the port of this machine at which a validator's API is reached.
func (n *Network) publishedPort(validator int) string {
	if n.isSeeded() {
		return fmt.Sprintf("${DEVNET_PORT:-%d}", n.plan.Port)
	}
	return fmt.Sprint(n.plan.Port + validator)
}

// nodesWithVolume are the nodes that have a volume.
func (n *Network) nodesWithVolume() (names []string) {
	for _, v := range n.Validators {
		names = append(names, v.Name)
	}
	if n.isSeeded() {
		for _, r := range n.Runners {
			names = append(names, r.Name)
		}
	}
	return names
}

// writeSecrets writes where the files of nodes are.
func (n *Network) writeSecrets(b *strings.Builder) {
	b.WriteString("\nsecrets:\n")
	one := func(file string) { fmt.Fprintf(b, "  %s: {file: ./%s}\n", secretOf(file), file) }
	one(GenesisFile)
	for _, node := range n.allNodes() {
		one(settingsFile(node.Name))
		one(keyFile(node.Name))
	}
}

// secretOf is the name of a file as a secret.
func secretOf(file string) string { return strings.ReplaceAll(file, ".", "_") }
