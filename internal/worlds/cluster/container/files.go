package container

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/environment/home"
)

// inside is the folder of a node in its container, which is its volume.
const inside = "/devnet"

// port is the port of a node's HTTP API in its container, by its settings.
const port = 4000

// imageUser is the user id of the image.
const imageUser = 4000

// genesisFile is what hosts calls it.
const genesisFile = "genesis.cbor"

// archiveFiles are what a node is started with, as an archive: the owner inside is another than
// outside, and the engine may be on another machine.
func (c *Carrier) archiveFiles(name string) (io.Reader, error) {
	var all bytes.Buffer
	w := tar.NewWriter(&all)
	for _, file := range []string{genesisFile, name + ".toml", name + ".key"} {
		data, err := os.ReadFile(filepath.Join(c.config.Dir, file))
		if err != nil {
			return nil, err
		}
		header := &tar.Header{Name: file, Mode: 0o600, Size: int64(len(data)), Uid: imageUser, Gid: imageUser}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	return &all, w.Close()
}

// hasVoteLog reports whether a validator has its log of votes, so that it knows by itself
// that it has run before.
func (n *node) hasVoteLog(ctx context.Context) bool {
	votes := home.NodeFiles(path.Join(inside, "homes", n.Name), n.Name).Votes
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The archive of an existing file has begun; its length does not matter.
	cmd := exec.CommandContext(ctx, "docker", "cp", n.containerName()+":"+votes, "-")
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return false
	}
	_, err = io.ReadFull(out, make([]byte, 1))
	cancel()
	_ = cmd.Wait()
	return err == nil
}
