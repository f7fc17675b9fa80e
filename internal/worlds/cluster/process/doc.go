// Package process runs the nodes of a network as processes of this machine: it is the
// cluster.Carrier over a folder that devnet init makes.
//
// Nothing outlives who runs it. A node is started with --attached and a pipe as its
// standard input, whose other end only this process has: it ends in good order when
// that does. On Linux the kernel kills it besides when this process dies, frozen ones
// too, and with it the Python hosts that it started. On other systems a node that is
// frozen at that moment ends when it is thawed.
//
//	NAME.toml, NAME.key  settings and key of a node, as hosts wrote them
//	NAME.lost            its home was wiped, and it has not run since
//	homes/NAME           what a validator keeps
//	logs/NAME.log        what a node wrote to both of its outputs; the older in NAME-old.log
package process
