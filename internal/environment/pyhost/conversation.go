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

// runToReply answers the host until it replies. Its error comes from the environment.
func (c *conversation) runToReply() (program.Outcome, error) {
	for {
		kind, body, err := c.host.read.nextFrame()
		if err != nil {
			return program.Outcome{}, c.host.failDuring("message", err)
		}
		effects, last, err := decodeOperations(body)
		if err != nil {
			return program.Outcome{}, err
		}
		for _, e := range effects {
			if err := c.performEffect(e); err != nil {
				return program.Outcome{}, err
			}
		}
		if err := c.spendSteps(last.steps); err != nil {
			return program.Outcome{}, err
		}
		switch kind {
		case frameRequest:
			err = c.answerRequest(last)
		case frameReply:
			return c.outcomeOf(last)
		default:
			err = errFrame
		}
		if err != nil {
			return program.Outcome{}, err
		}
	}
}

// spendSteps charges the program's own steps.
func (c *conversation) spendSteps(steps uint64) error {
	if steps == 0 || c.over != nil {
		return nil
	}
	return c.keepFault(c.ctx.Spend(types.Cycles(steps), 0))
}

// keepFault keeps a Fault as the end of the message and returns any other error.
func (c *conversation) keepFault(err error) error {
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

// performEffect performs what waits for no answer. After the end nothing is.
func (c *conversation) performEffect(op *record) error {
	err, a := c.spendSteps(op.steps), &arguments{record: op}
	if err == nil && op.form.name == effectNotes {
		return c.readNotes(a)
	}
	if err != nil || c.over != nil {
		return err
	}
	perform := c.prepareEffect(a)
	if a.err != nil {
		return a.err
	}
	return c.keepFault(perform())
}

// prepareEffect reads all arguments and returns what is to be done with them.
func (c *conversation) prepareEffect(a *arguments) func() error {
	switch a.form.name {
	case effectSet:
		key, value := a.dataOf("key"), a.dataOf("value")
		return func() error { return c.ctx.Set(key, value) }
	case effectDelete:
		key := a.dataOf("key")
		return func() error { return c.ctx.Delete(key) }
	case effectEmit:
		name, payload := validText(a.dataOf("name")), a.dataOf("payload")
		return func() error { return c.ctx.Emit(name, payload) }
	case effectLog:
		line := validText(a.dataOf("line"))
		return func() error {
			c.ctx.Log(line)
			return nil
		}
	case effectRead:
		key := a.dataOf("key")
		c.rememberKey(key)
		return func() error {
			_, _, err := c.ctx.Get(key)
			return err
		}
	}
	a.failWith("it waits for an answer")
	return nil
}

// rememberKey notes a key for the next call of this handler.
func (c *conversation) rememberKey(key []byte) {
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

// answerRequest performs a request and sends its answer.
func (c *conversation) answerRequest(op *record) error {
	var result []byte
	var found bool
	var err error
	if c.over == nil {
		if result, found, err = c.performRequest(op); err != nil {
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
		e.beginFrame(frameAnswer, 2).writeNumber("cycles", 0).writeNumber("over", 1)
	case errors.As(err, &fault):
		e.beginFrame(frameAnswer, 3).writeNumber("cycles", clampCycles(cycles)).writeBytes("code", []byte(fault.Code)).writeBytes("message",
			[]byte(fault.Message))
	case found:
		e.beginFrame(frameAnswer, 2).writeNumber("cycles", clampCycles(cycles)).writeBytes("value", result)
	default:
		e.beginFrame(frameAnswer, 1).writeNumber("cycles", clampCycles(cycles))
	}
	if err := c.host.sendFrame(); err != nil {
		return c.host.failDuring("answer", err)
	}
	return nil
}

// outcomeOf is what the reply means.
func (c *conversation) outcomeOf(op *record) (program.Outcome, error) {
	a := &arguments{record: op}
	out, err := c.endedOutcome(a)
	if a.err != nil {
		return program.Outcome{}, a.err
	}
	return out, err
}

func (c *conversation) endedOutcome(a *arguments) (program.Outcome, error) {
	if c.over != nil {
		out := program.Outcome{Status: c.over.Status, Fault: newFault(c.over.Code, c.over.Message)}
		if a.form.name == endOver {
			out.Where = clipText(validText(a.dataOf("where")), maxFaultWhere)
		}
		return out, nil
	}
	switch end := a.form.name; end {
	case endOK:
		return program.Outcome{Status: types.StatusOK, Output: a.dataOf("output")}, nil
	case endReverted:
		out := program.Outcome{Status: types.Status(end), Fault: newFault(validText(a.dataOf("code")), validText(a.dataOf("message")))}
		if words := validText(a.dataOf("words")); words != "" {
			out.Told = new(clipText(words, types.MaxFaultBytes))
		}
		return out, nil
	case endNoHandler:
		return program.Outcome{Status: types.Status(end), Fault: newFault(validText(a.dataOf("code")), validText(a.dataOf("message")))}, nil
	case endRefused:
		return program.Outcome{Status: types.Status(end), Fault: newFault(validText(a.dataOf("code")), validText(a.dataOf("message"))),
			Told: new("")}, nil
	case endCrashed:
		return program.Outcome{}, c.host.failDuring("message", fmt.Errorf("%w: %s", errFullHost, validText(a.dataOf("message"))))
	default: // with endOver the host ended because it lacked cycles which the Context still had
		return program.Outcome{}, fmt.Errorf("%w: an end with %s", errFrame, end)
	}
}

// newFault bounds what goes into a receipt.
func newFault(code, message string) *types.Fault {
	return &types.Fault{Code: clipText(code, maxFaultCode), Message: clipText(message, types.MaxFaultBytes)}
}

func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
