package gateway

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// mark is a moment by the two measures of age: the blocks up to it, and the time.
type mark struct {
	blocks uint64
	at     types.Time
}

// mark is the moment of the step.
func (m *Machine) mark() mark { return mark{m.blocks, m.now} }

// within reports whether a number of blocks since a mark is not over: that many
// have come, skipped heights left out, and that many times cip11.min_block_ms has
// passed, before it is.
//
// The spec counts blocks alone (deviation from CIP-11 §§6.3, 11.1, decision J13):
// where they come faster than pings travel, nobody would ever be present.
func (m *Machine) within(now types.Time, since mark, blocks uint64) bool {
	return m.blocks-since.blocks < blocks || now < m.until(since, blocks)
}

// until is when the time of a number of blocks since a mark is over.
func (m *Machine) until(since mark, blocks uint64) types.Time {
	each := m.params().MinBlock
	if blocks > uint64(types.Never)/uint64(max(each, 1)) {
		return types.Never
	}
	return since.at.Add(time.Duration(blocks) * each)
}

// onPing takes note that a runner is there, and answers.
//
// Spec: CIP-11 §6.3.
func (m *Machine) onPing(p *peer, f *push.HeartbeatPing) {
	switch {
	case p.pinged && f.Nonce <= p.nonce:
		m.leave(p, push.BadNonce)
		return
	case !m.signed(p, f.Digest(m.config.ChainID), f.Signed):
		m.leave(p, push.BadSignature)
		return
	}
	p.nonce, p.pinged = f.Nonce, true
	p.ping, p.present = m.mark(), true // also after a hard failure (CIP-11 §10.6, presence floor)
	m.pong(p)
	if p.unheard { // it need not wait for its turn: both frames go out together
		m.unasked(p)
	}
	m.heartbeat(p, f)
}

// heartbeatBlocks is how old a runner's heartbeat on chain has to be before this
// validator brings another: cip11.heartbeat_tx_blocks, and more for some runners and
// for validators that come later in the runner's subset. So those of a thousand
// runners of genesis come in many blocks, and of each runner one, if nobody fails. What
// is more is at most half of what it may be before the runner is stale.
func (m *Machine) heartbeatBlocks(p *peer) uint64 {
	least := m.params().HeartbeatTxBlocks
	slack := m.params().StaleHeartbeatBlocks - min(least, m.params().StaleHeartbeatBlocks)
	spread := uint64(p.index) % (min(least/3, slack/4, heartbeatSpread) + 1)
	return least + spread + min(min(least/8, heartbeatTurn)*uint64(p.turn), slack/4)
}

// heartbeat brings a ping on chain where the last heartbeat there is old enough
// (decision J18). In sunset nobody asks for one (CIP-11 §14).
func (m *Machine) heartbeat(p *peer, f *push.HeartbeatPing) {
	registered := m.head.Reader.Runner(p.address)
	if registered == nil || registered.Deregistered || m.params().Push == selection.Sunset {
		return
	}
	last := registered.LastHeartbeat
	ripe := f.BlockHeight <= m.head.Height && f.BlockHeight >= last && uint64(f.BlockHeight-last) >= m.heartbeatBlocks(p)
	onItsWay := p.beaten && p.beat > last && uint64(m.head.Height-p.beat) < heartbeatAgainBlocks
	if !ripe || onItsWay {
		return
	}
	p.beat, p.beaten = m.head.Height, true
	m.submit(Heartbeat{Runner: p.address, Ping: *f})
}
