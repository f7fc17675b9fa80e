package pyhost

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The operations, as in chain.py.
const (
	opGet = 1 + iota
	opBalance
	opCall
	opKeccak
	opRandomness
	opSchedule
	opCancel
	opExtend
	opTransfer
	opSend
	opFlush
	opBidder
)

// The effects, as in chain.py.
const (
	effectSet = 20 + iota
	effectDelete
	effectEmit
	effectLog
	effectRead // of a value the host already has: charged, not answered
)

// The statuses of a reply, as in main.py.
const (
	endOK = iota
	endReverted
	endOver
	endNoHandler
	endRefused
	endCrashed
)

const (
	answerOK      = 0
	answerFault   = 1
	answerOver    = 2
	maxFaultCode  = 64
	maxFaultWhere = 256
)

// conversation is one message being run: it performs what the program asks.
type conversation struct {
	session *session
	host    *host
	ctx     program.Context
	site    site
	over    *program.Fault // what ended the message; the host is only unwinding
	read    [][]byte       // keys read, the first of them
}

// run answers the host until it replies. Its error is the environment's.
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
func (c *conversation) effect(op operation) error {
	if err := c.spend(op.steps); err != nil || c.over != nil {
		return err
	}
	switch {
	case op.code == effectSet && len(op.args) == 2:
		return c.ends(c.ctx.Set(op.args[0], notNil(op.args[1])))
	case op.code == effectDelete && len(op.args) == 1:
		return c.ends(c.ctx.Delete(op.args[0]))
	case op.code == effectEmit && len(op.args) == 2:
		return c.ends(c.ctx.Emit(text(op.args[0]), notNil(op.args[1])))
	case op.code == effectLog && len(op.args) == 1:
		c.ctx.Log(text(op.args[0]))
		return nil
	case op.code == effectRead && len(op.args) == 1:
		c.remember(op.args[0])
		_, _, err := c.ctx.Get(op.args[0])
		return c.ends(err)
	}
	return fmt.Errorf("%w: effect %d with %d arguments", errFrame, op.code, len(op.args))
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
func (c *conversation) answer(op operation) error {
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
	cycles, cells := c.ctx.Remaining()
	e := c.host.enc.begin(frameAnswer)
	var fault *program.Fault
	switch {
	case c.over != nil:
		e.u8(answerOver).u64(0).u64(0)
	case errors.As(err, &fault):
		e.u8(answerFault).u64(clampCycles(cycles)).u64(uint64(cells)).item([]byte(fault.Code)).item([]byte(fault.Message))
	default:
		e.u8(answerOK).u64(clampCycles(cycles)).u64(uint64(cells))
		if found {
			e.item(result)
		} else {
			e.none()
		}
	}
	if err := c.host.send(); err != nil {
		return c.host.fail("answer", err)
	}
	return nil
}

// outcome is what the reply means.
func (c *conversation) outcome(op operation) (program.Outcome, error) {
	if c.over != nil {
		out := program.Outcome{Status: c.over.Status, Fault: fault(c.over.Code, c.over.Message)}
		if op.code == endOver && len(op.args) == 1 {
			out.Where = clip(text(op.args[0]), maxFaultWhere)
		}
		return out, nil
	}
	if op.code == endOK && len(op.args) == 1 {
		return program.Outcome{Status: types.StatusOK, Output: notNil(op.args[0])}, nil
	}
	status := map[byte]types.Status{
		endReverted: types.StatusReverted, endNoHandler: types.StatusNoHandler, endRefused: types.StatusInvalidCode,
	}[op.code]
	if len(op.args) == 2 && op.code == endCrashed {
		return program.Outcome{}, c.host.fail("message", fmt.Errorf("%w: %s", errFullHost, text(op.args[1])))
	}
	if len(op.args) != 2 || status == "" {
		// The host ended for want of cycles which the Context still had.
		return program.Outcome{}, fmt.Errorf("%w: an end with status %d", errFrame, op.code)
	}
	return program.Outcome{Status: status, Fault: fault(text(op.args[0]), text(op.args[1]))}, nil
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

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func wei(b []byte) (types.Wei, bool) { return types.WeiFromBig(new(big.Int).SetBytes(b)) }
