package pyhost

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const (
	maxFaultCode  = 64
	maxFaultWhere = 256
)

// conversation is one message being run: it performs what the program asks.
type conversation struct {
	session *session
	host    *host
	ctx     program.Context
	code    program.Code
	site    site
	over    *program.Fault // what ended the message; the host is only unwinding
	read    [][]byte       // keys read, the first of them
}

// run answers the host until it replies. Its error comes from the environment.
func (c *conversation) run() (program.Outcome, error) {
	for {
		kind, body, err := c.host.read.next()
		if err != nil {
			return program.Outcome{}, c.host.fail("message", err)
		}
		effects, last, err := decodeOperations(body)
		if err != nil {
			return program.Outcome{}, err
		}
		for _, e := range effects {
			if err := c.effect(e); err != nil {
				return program.Outcome{}, err
			}
		}
		if err := c.spend(last.steps); err != nil {
			return program.Outcome{}, err
		}
		switch kind {
		case frameRequest:
			err = c.answer(last)
		case frameReply:
			return c.outcome(last)
		default:
			err = errFrame
		}
		if err != nil {
			return program.Outcome{}, err
		}
	}
}

// spend charges the program's own steps.
func (c *conversation) spend(steps uint64) error {
	if steps == 0 || c.over != nil {
		return nil
	}
	return c.ends(c.ctx.Spend(types.Cycles(steps), 0))
}

// ends keeps a Fault as the end of the message and returns any other error.
func (c *conversation) ends(err error) error {
	if err == nil {
		return nil
	}
	var fault *program.Fault
	if !errors.As(err, &fault) {
		return err
	}
	c.over = fault
	return nil
}

// effect performs what waits for no answer. After the end nothing is.
func (c *conversation) effect(op *record) error {
	err, a := c.spend(op.steps), &arguments{record: op}
	if err == nil && op.form.name == effectNotes {
		return c.notes(a)
	}
	if err != nil || c.over != nil {
		return err
	}
	perform := c.prepareEffect(a)
	if a.err != nil {
		return a.err
	}
	return c.ends(perform())
}

// prepareEffect reads all arguments and returns what is to be done with them.
func (c *conversation) prepareEffect(a *arguments) func() error {
	switch a.form.name {
	case effectSet:
		key, value := a.data("key"), a.data("value")
		return func() error { return c.ctx.Set(key, value) }
	case effectDelete:
		key := a.data("key")
		return func() error { return c.ctx.Delete(key) }
	case effectEmit:
		name, payload := text(a.data("name")), a.data("payload")
		return func() error { return c.ctx.Emit(name, payload) }
	case effectLog:
		line := text(a.data("line"))
		return func() error {
			c.ctx.Log(line)
			return nil
		}
	case effectRead:
		key := a.data("key")
		c.remember(key)
		return func() error {
			_, _, err := c.ctx.Get(key)
			return err
		}
	}
	a.fail("it waits for an answer")
	return nil
}

// remember notes a key for the next call of this handler.
func (c *conversation) remember(key []byte) {
	if len(c.read) >= maxHintKeys {
		return
	}
	for _, k := range c.read {
		if string(k) == string(key) {
			return
		}
	}
	c.read = append(c.read, key)
}

// answer performs a request and sends its answer.
func (c *conversation) answer(op *record) error {
	var result []byte
	var found bool
	var err error
	if c.over == nil {
		if result, found, err = c.request(op); err != nil {
			var fault *program.Fault
			if !errors.As(err, &fault) {
				return err
			}
			if fault.Abort {
				c.over = fault
			}
		}
	}
	cycles, _ := c.ctx.Remaining()
	e := &c.host.enc
	var fault *program.Fault
	switch {
	case c.over != nil:
		e.begin(frameAnswer, 2).number("cycles", 0).number("over", 1)
	case errors.As(err, &fault):
		e.begin(frameAnswer, 3).number("cycles", clampCycles(cycles)).bytes("code", []byte(fault.Code)).bytes("message", []byte(fault.Message))
	case found:
		e.begin(frameAnswer, 2).number("cycles", clampCycles(cycles)).bytes("value", result)
	default:
		e.begin(frameAnswer, 1).number("cycles", clampCycles(cycles))
	}
	if err := c.host.send(); err != nil {
		return c.host.fail("answer", err)
	}
	return nil
}

// outcome is what the reply means.
func (c *conversation) outcome(op *record) (program.Outcome, error) {
	a := &arguments{record: op}
	out, err := c.ended(a)
	if a.err != nil {
		return program.Outcome{}, a.err
	}
	return out, err
}

func (c *conversation) ended(a *arguments) (program.Outcome, error) {
	if c.over != nil {
		out := program.Outcome{Status: c.over.Status, Fault: fault(c.over.Code, c.over.Message)}
		if a.form.name == endOver {
			out.Where = clip(text(a.data("where")), maxFaultWhere)
		}
		return out, nil
	}
	switch end := a.form.name; end {
	case endOK:
		return program.Outcome{Status: types.StatusOK, Output: a.data("output")}, nil
	case endReverted:
		out := program.Outcome{Status: types.Status(end), Fault: fault(text(a.data("code")), text(a.data("message")))}
		if words := text(a.data("words")); words != "" {
			out.Told = new(clip(words, types.MaxFaultBytes))
		}
		return out, nil
	case endNoHandler:
		return program.Outcome{Status: types.Status(end), Fault: fault(text(a.data("code")), text(a.data("message")))}, nil
	case endRefused:
		return program.Outcome{Status: types.Status(end), Fault: fault(text(a.data("code")), text(a.data("message"))), Told: new("")}, nil
	case endCrashed:
		return program.Outcome{}, c.host.fail("message", fmt.Errorf("%w: %s", errFullHost, text(a.data("message"))))
	default: // with endOver the host ended because it lacked cycles which the Context still had
		return program.Outcome{}, fmt.Errorf("%w: an end with %s", errFrame, end)
	}
}

// fault bounds what goes into a receipt.
func fault(code, message string) *types.Fault {
	return &types.Fault{Code: clip(code, maxFaultCode), Message: clip(message, types.MaxFaultBytes)}
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
