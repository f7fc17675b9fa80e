package pyhost

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// notesTake is how many times as long a message may take that is noted.
const notesTake = 6

// maxNotesBytes bounds the notes of a host about the lines of one message.
const maxNotesBytes = 16 << 20

var _ program.Prober = (*Pool)(nil)

// Probing implements program.Prober, with a separate pool of one host.
func (p *Pool) Probing(tell func(*program.Probed)) (program.Host, func()) {
	config := p.config
	config.Hosts, config.Notes, config.CallTimeout = 1, tell, notesTake*p.config.CallTimeout
	probing := New(config)
	return probing, probing.Close
}

// readNotes reads what a host noted of a message that ends. A host that was not asked
// for notes breaks the protocol if it sends them.
func (c *conversation) readNotes(a *arguments) error {
	tell := c.session.pool.config.Notes
	rows := a.dataOf("rows")
	switch {
	case a.err != nil:
		return a.err
	case tell == nil || len(rows) > maxNotesBytes:
		return fmt.Errorf("%w: unrequested notes of %d bytes", errFrame, len(rows))
	}
	found := &program.Probed{Code: c.code}
	for n, row := range bytes.Split(rows, []byte("\n")) {
		if n > maxNotes || !readNoteRow(found, bytes.Split(row, []byte("\t"))) {
			return fmt.Errorf("%w: notes", errFrame)
		}
	}
	tell(found)
	return nil
}

// readNoteRow reads one row: L stack line hits cycles calls, or W line way count.
func readNoteRow(into *program.Probed, fields [][]byte) bool {
	switch kind := string(fields[0]); {
	case kind == "" && len(fields) == 1:
		return true
	case kind == "L" && len(fields) == 6:
		n, ok := parseNumbers(fields[2:])
		into.Uses = append(into.Uses, program.Use{Stack: validText(fields[1]), Line: int(n[0]), Hits: n[1], Cycles: types.Cycles(n[2]),
			Called: types.Cycles(n[3])})
		return ok
	case kind == "W" && len(fields) == 4:
		n, ok := parseNumbers(fields[1:])
		into.Branches = append(into.Branches, program.Branch{Line: int(n[0]), Way: int(n[1]), Taken: n[2]})
		return ok && n[1] < 1<<31
	}
	return false
}

// parseNumbers reads at most four numbers, the first of which is a line.
func parseNumbers(fields [][]byte) (n [4]uint64, ok bool) {
	for i, field := range fields {
		var err error
		if n[i], err = strconv.ParseUint(string(field), 10, 63); err != nil {
			return n, false
		}
	}
	return n, n[0] < 1<<31
}

// Point is a line of a file that can run or, with a Label, a way of a branch on it.
type Point struct {
	Line  int
	Way   int
	Label string // "" of a line
}

// Points lists the lines of code that can run, and the ways of its branches, as
// Config.Notes counts them. Its error is a *program.HostError.
func (p *Pool) Points(source []byte) ([]Point, error) {
	return askAboutCode(p, source, "search for lines", framePoints, pointForm, maxPoints+1, func(a *arguments) Point {
		point := Point{Line: int(a.numberOf("line"))}
		if a.countOf("way") > 0 {
			point.Way, point.Label = int(a.numberOf("way")), validText(a.dataOf("label"))
		}
		return point
	})
}
