// Package coverage counts what ran of the code of actors, and reports it.
package coverage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Variable names the folder into which every bench below devnet test
// --coverage writes what ran.
const Variable = "DEVNET_COVERAGE"

// Names in that folder: what ran, and the paths of the files that tests read.
const (
	coveredFiles = "covered-*.json"
	pathFiles    = "paths-*"
)

// maxCovered bounds the codes that a bench counts.
const maxCovered = 4096

// way is one of the ways of a branch.
type way struct{ Line, Way int }

// codeCoverage is what ran of one code: how often each line began, and how often each way
// of a branch was taken.
type codeCoverage struct {
	Source string         `json:"source"`
	Lines  map[int]uint64 `json:"lines"`
	Ways   []takenWay     `json:"ways"`
}

type takenWay struct {
	way
	Taken uint64
}

// Coverage adds up messages' use of their lines. It is safe for concurrent use.
type Coverage struct {
	mu    sync.Mutex
	codes map[types.Hash]*counts
}

type counts struct {
	source string
	lines  map[int]uint64
	ways   map[way]uint64
}

// New counts nothing yet.
func New() *Coverage { return &Coverage{codes: map[types.Hash]*counts{}} }

// Add counts one message.
func (c *Coverage) Add(p *program.Probed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.codes[p.Code.Hash]
	if n == nil {
		if len(c.codes) == maxCovered {
			return
		}
		n = &counts{string(p.Code.Source), map[int]uint64{}, map[way]uint64{}}
		c.codes[p.Code.Hash] = n
	}
	for _, u := range p.Uses {
		if u.Hits > 0 {
			n.lines[u.Line] += u.Hits
		}
	}
	for _, b := range p.Branches {
		n.ways[way{b.Line, b.Way}] += b.Taken
	}
}

// WriteTo puts it into a folder, under a name that no other process takes.
func (c *Coverage) WriteTo(folder string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []codeCoverage
	for _, n := range c.codes {
		one := codeCoverage{Source: n.source, Lines: n.lines}
		for at, taken := range n.ways {
			one.Ways = append(one.Ways, takenWay{at, taken})
		}
		all = append(all, one)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, strings.ReplaceAll(coveredFiles, "*", fmt.Sprint(os.Getpid()))), data, 0o600)
}

// readCoverage adds up what all processes wrote, by source.
func readCoverage(folder string) (map[string]*counts, error) {
	files, err := filepath.Glob(filepath.Join(folder, coveredFiles))
	if err != nil {
		return nil, err
	}
	found := map[string]*counts{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var all []codeCoverage
		if err := json.Unmarshal(data, &all); err != nil {
			return nil, err
		}
		for i := range all {
			n := found[all[i].Source]
			if n == nil {
				n = &counts{all[i].Source, map[int]uint64{}, map[way]uint64{}}
				found[all[i].Source] = n
			}
			for line, hits := range all[i].Lines {
				n.lines[line] += hits
			}
			for _, w := range all[i].Ways {
				n.ways[w.way] += w.Taken
			}
		}
	}
	return found, nil
}

// readPaths lists the files that tests deployed from, without duplicates.
func readPaths(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, pathFiles))
	if err != nil {
		return nil, err
	}
	var paths []string
	known := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, path := range strings.Split(string(data), "\n") {
			if path != "" && !known[path] {
				known[path] = true
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}
