package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

func (s *Server) registerNodeLog() {
	serveRoute(s, operation{id: "node_log", path: "/nodes/{name}/log", tag: tagNetwork,
		summary: "A node's log, from the end of its file backwards",
		description: "At most 1 MiB is read at once, so an answer may have fewer lines than limit; continue with before. A file that is " +
			"full is started again. Actors' own lines are in GET /actor/{address}/logs.",
		errors: []int{404}, response: exampleNodeLog}, s.nodeLog)
}

var exampleNodeLog = model.NodeLog{Node: "v0", Before: new(int64(4096)), Size: 4170, Lines: []model.NodeLogLine{{At: 4096,
	Time: "2026-01-02T03:04:05.678Z", Level: "INFO", Text: "time=2026-01-02T03:04:05.678Z level=INFO msg=\"the node starts\" node=v0"}}}

type nodeLogInput struct {
	Name   string          `path:"name" maxLength:"64" example:"v0" doc:"Name of a validator or a runner."`
	Before optional[int64] `query:"before" minimum:"0" doc:"Return lines that end at or before this byte of the file; default: the last lines."`
	Limit  int             `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number of lines."`
	Level  string          `query:"level" enum:"DEBUG,INFO,WARN,ERROR" doc:"Only lines of this level or above, and those without one."`
}

func (s *Server) nodeLog(_ context.Context, in *nodeLogInput) (m model.NodeLog, err error) {
	if !s.isNode(in.Name) {
		return m, Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", clipText(in.Name)).Hint("GET /ready lists them.").At("name")
	}
	free, err := s.ranges.takePlace()
	if err != nil {
		return m, err
	}
	defer free()
	path := s.backend.LogPath(in.Name)
	if path == "" {
		return m, noLog(in.Name)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, noLog(in.Name)
	}
	if err != nil {
		return m, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return m, err
	}
	m = model.NodeLog{Node: in.Name, Size: info.Size(), Lines: []model.NodeLogLine{}}
	end := info.Size()
	return m, readBack(file, min(end, in.Before.orElse(end)), in.Limit, in.Level, &m)
}

func noLog(node string) *Error {
	return Refuse(http.StatusNotFound, "no_log", "node %s has no log file", clipText(node)).
		Hint("A network with --ephemeral keeps none, nor a node that logs to its terminal.").At("name")
}

// isNode reports whether a node has a name; an unknown name opens no file.
func (d directory) isNode(name string) bool {
	return slices.ContainsFunc(d.backend.Nodes(), func(n answers.Node) bool { return n.Name == name }) ||
		slices.ContainsFunc(d.backend.RunnerNodes(), func(r answers.RunnerNode) bool { return r.Name == name })
}

// readBack reads the last lines of a file before a byte.
func readBack(file io.ReaderAt, end int64, limit int, level string, m *model.NodeLog) error {
	start := max(0, end-MaxLogRead)
	data := make([]byte, end-start)
	n, err := file.ReadAt(data, start)
	if err != nil && !errors.Is(err, io.EOF) { // the file may have been started again meanwhile
		return err
	}
	data = data[:n]
	data = data[:bytes.LastIndexByte(data, '\n')+1] // a line that is being written comes later
	first := start
	if cut := bytes.IndexByte(data, '\n') + 1; start > 0 && cut < len(data) {
		first, data = start+int64(cut), data[cut:]
	}
	for len(data) > 0 && len(m.Lines) < limit {
		at := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
		if line := logLineOf(string(data[at:len(data)-1]), first+int64(at)); atLeast(line.Level, level) {
			m.Lines = append(m.Lines, line)
		}
		data = data[:at]
	}
	slices.Reverse(m.Lines)
	if before := first + int64(len(data)); before > 0 {
		m.Before = &before
	}
	return nil
}

// logLevels are the levels of lines, the lowest first.
var logLevels = []string{"DEBUG", "INFO", "WARN", "ERROR"}

func atLeast(level, least string) bool {
	return level == "" || least == "" || slices.Index(logLevels, level) >= slices.Index(logLevels, least)
}

// logLineOf reads what a line of slog's text begins with.
func logLineOf(text string, at int64) model.NodeLogLine {
	line := model.NodeLogLine{At: at}
	first, rest, _ := strings.Cut(text, " ")
	second, _, _ := strings.Cut(rest, " ")
	if when, is := strings.CutPrefix(first, "time="); is && len(when) <= len("2006-01-02T15:04:05.999999999+07:00") {
		line.Time = when
	}
	if level, is := strings.CutPrefix(second, "level="); is && slices.Contains(logLevels, level) {
		line.Level = level
	}
	line.Text = strings.ToValidUTF8(text[:min(len(text), MaxLogLine)], "�")
	return line
}
