package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// maxSaidBytes bounds the shown part of the engine's messages.
const maxSaidBytes = 512

// Limits of the answers to calls: lists of names and settings are short.
const maxAnswerBytes = 4 << 20

// EngineError says that the engine refused something.
type EngineError struct {
	Did  string // the call, without its arguments
	Said string // its last words, at most maxSaidBytes
}

func (e *EngineError) Error() string { return fmt.Sprintf("docker %s: %s", e.Did, e.Said) }

// Available says why no container can run here; nil where one can.
func Available(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("docker is not installed: see docs.docker.com/engine/install")
	}
	if _, err := callDocker(ctx, nil, "version", "--format", "{{.Server.Version}}"); err != nil {
		return fmt.Errorf("no Docker engine answers: %w", err)
	}
	return nil
}

// callDocker makes one call and returns what it wrote, without space around it.
func callDocker(ctx context.Context, input io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdin = input
	var out, said limitedBuffer
	out.most, said.most = maxAnswerBytes, maxAnswerBytes
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("docker %s did not end in time: %w", args[0], ctx.Err())
		}
		text := strings.TrimSpace(said.String())
		if text == "" {
			text = err.Error()
		}
		return "", &EngineError{Did: args[0], Said: endOfText(text, maxSaidBytes)}
	}
	return strings.TrimSpace(out.String()), nil
}

// splitLines are the lines of an answer, none of an empty one.
func splitLines(answer string) []string {
	if answer == "" {
		return nil
	}
	return strings.Split(answer, "\n")
}

// endOfText returns the end of a text, at most most bytes and a mark.
func endOfText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-most:], "")
}

// limitedBuffer keeps the beginning of its input, and accepts all of it.
type limitedBuffer struct {
	bytes.Buffer
	most int
}

func (l *limitedBuffer) Write(data []byte) (int, error) {
	if room := l.most - l.Len(); room > 0 {
		l.Buffer.Write(data[:min(room, len(data))])
	}
	return len(data), nil
}
