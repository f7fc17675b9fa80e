package pyhost

import (
	"github.com/cowboyinc/devnet/internal/base/program"
)

// Advice is one message about a source, for its author, before it is deployed.
type Advice struct {
	Refused bool   `json:"refused"` // true: a deploy refuses the code; false: it runs, but not as its author means
	Note    bool   `json:"note"`    // true: nothing is wrong, and callers have to know it
	Line    int    `json:"line"`    // of the code; 0: none
	What    string `json:"what"`
}

// Advise returns all that a deploy would refuse of code, where Inspect tells the
// first of it, and what a run would stumble over, in the order of its lines. It
// decides nothing. Its error is a *program.HostError.
func (p *Pool) Advise(source []byte) ([]Advice, error) {
	return about(p, source, "advice about code", frameAdvice, adviceForm, maxAdvice, func(a *arguments) Advice {
		kind := text(a.data("kind"))
		return Advice{Refused: kind == "error", Note: kind == "note", Line: int(a.number("line")), What: text(a.data("words"))}
	})
}

// about asks a host about code, by a frame to which it answers with records of a form,
// at most limit, each of which read makes something of. Its error is a
// *program.HostError.
func about[T any](p *Pool, source []byte, during string, kind byte, form *form, limit int, read func(*arguments) T) ([]T, error) {
	opened, err := p.Open(program.ForRead)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	s := opened.(*session)
	if err := s.begin(during); err != nil {
		return nil, err
	}
	h := s.host
	h.enc.begin(kind, 1).bytes("source", source)
	if err := h.send(); err != nil {
		return nil, h.fail(during, err)
	}
	body, err := h.expect(kind)
	if err != nil {
		return nil, h.fail(during, err)
	}
	d, found := &decoder{data: body}, []T{}
	for len(d.data) > 0 && len(found) < limit {
		a := &arguments{record: d.record(form)}
		found = append(found, read(a))
		d.keep(a.err)
	}
	if d.end(); d.err != nil {
		return nil, h.fail(during, d.err)
	}
	return found, nil
}
