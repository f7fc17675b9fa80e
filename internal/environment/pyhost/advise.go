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
	return askAboutCode(p, source, "advice about code", frameAdvice, adviceForm, maxAdvice, func(a *arguments) Advice {
		kind := validText(a.dataOf("kind"))
		return Advice{Refused: kind == "error", Note: kind == "note", Line: int(a.numberOf("line")), What: validText(a.dataOf("words"))}
	})
}

// askAboutCode asks a host about code, by a frame to which it answers with records of a form,
// at most limit, each of which read makes something of. Its error is a
// *program.HostError.
func askAboutCode[T any](p *Pool, source []byte, during string, kind byte, form *form, limit int, read func(*arguments) T) ([]T, error) {
	opened, err := p.Open(program.ForRead)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	s := opened.(*session)
	if err := s.beginConversation(during); err != nil {
		return nil, err
	}
	h := s.host
	h.enc.beginFrame(kind, 1).writeBytes("source", source)
	if err := h.sendFrame(); err != nil {
		return nil, h.failDuring(during, err)
	}
	body, err := h.expectFrame(kind)
	if err != nil {
		return nil, h.failDuring(during, err)
	}
	d, found := &decoder{data: body}, []T{}
	for len(d.data) > 0 && len(found) < limit {
		a := &arguments{record: d.readRecord(form)}
		found = append(found, read(a))
		d.keepError(a.err)
	}
	if d.expectEnd(); d.err != nil {
		return nil, h.failDuring(during, d.err)
	}
	return found, nil
}
