package devnet

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"

	moby "github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// folder is the output folder of devnet init in a separate container.
const folder = inside + "/net"

// maxFile bounds a file of a network: the genesis is the largest.
const maxFile = 16 << 20

// writeFolder lets the image make keys, genesis and settings, so that writer and readers have
// the same version.
func (c *Cluster) writeFolder(ctx context.Context) (err error) {
	maker, err := testcontainers.Run(ctx, c.image, testcontainers.WithCmd(c.settings.initCommand()...), c.claim.labelOption(),
		testcontainers.WithWaitStrategy(wait.ForExit().WithPollInterval(answerEvery).WithExitTimeout(readyPatience)))
	defer func() { err = errors.Join(err, testcontainers.TerminateContainer(maker)) }()
	if err != nil {
		return fmt.Errorf("devnet init: %w", err)
	}
	state, err := maker.State(ctx)
	if err != nil {
		return err
	}
	if state.ExitCode != 0 {
		return fmt.Errorf("devnet init ended with %d: %s", state.ExitCode, lastLog(maker))
	}
	copied, err := c.engine.CopyFromContainer(ctx, maker.GetContainerID(), moby.CopyFromContainerOptions{SourcePath: folder})
	if err != nil {
		return err
	}
	defer copied.Content.Close()
	c.files, err = unpackFiles(copied.Content)
	return err
}

// unpackFiles are the files of an archive, by their names without folder.
func unpackFiles(from io.Reader) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		switch {
		case err == io.EOF:
			return files, nil
		case err != nil:
			return nil, err
		case header.Typeflag != tar.TypeReg:
			continue
		case header.Size > maxFile:
			return nil, fmt.Errorf("%s has %d bytes, more than %d", header.Name, header.Size, maxFile)
		}
		if files[path.Base(header.Name)], err = io.ReadAll(archive); err != nil {
			return nil, err
		}
	}
}

// initCommand is devnet init with these settings.
func (s *settings) initCommand() []string {
	command := []string{"init", "--format", "compose", "--out", folder, "--validators", strconv.Itoa(s.validators),
		"--runners", strconv.Itoa(s.runners), "--seed", strconv.FormatUint(s.seed, 10), "--block-time", s.blockTimeFlag()}
	for _, key := range slices.Sorted(maps.Keys(s.params)) {
		command = append(command, "--param", key+"="+s.params[key])
	}
	return command
}
