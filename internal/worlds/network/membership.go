package network

import (
	"context"
	"slices"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Membership starts validators that join by the system key, and stops those that left.
type Membership struct {
	network   Operated
	orders    *Orders
	authority *Authority
	moves     guardedValue[moves]
}

// moves are validators by their names.
type moves struct {
	joining  []string // asked for, and not in a final block
	spared   []string // in no set so far: their operator may let them join
	stopping []string // tasks stop them
}

// Joining lists the validators whose membership was asked for, and is not in a final block.
func (m *Membership) Joining() (names []string) {
	m.moves.withValue(func(is *moves) { names = slices.Clone(is.joining) })
	return names
}

// Status is the status of a validator in a state: joining, active, leaving or left. In a
// nil state no validator is active.
func (m *Membership) Status(state *ledger.State, who Identity) string {
	status := history.StatusLeft
	if state != nil {
		status = history.Membership(state, who.Address)
	}
	if status == history.StatusLeft && slices.Contains(m.Joining(), who.Name) {
		return history.StatusJoining
	}
	return status
}

// moveOf is the latest move of a validator, which is decided. It is before its epoch or, if that has begun meanwhile, in it.
func (m *Membership) moveOf(who Identity) model.Move {
	state := m.network.Best().State
	move := model.Move{Name: who.Name, Address: who.Address, Status: m.Status(state, who), Epoch: state.NextEpoch()}
	if move.Status == history.StatusJoining || move.Status == history.StatusLeaving {
		move.Epoch++
	}
	move.Height = types.Height(uint64(move.Epoch)*state.NextParams().EpochBlocks + 1)
	return move
}

// Join starts a validator of a new name, or one that has left. The system key asks for its
// membership from the next epoch on. It returns when the instruction is final. The
// validator catches up meanwhile. An empty name is the next free one of v0, v1, …. Of a
// validator that leaves it takes the leave back.
func (m *Membership) Join(ctx context.Context, name string) (move model.Move, err error) {
	var who Identity
	if n := m.findLeaving(name); n != nil {
		who, err = n.Who(), m.takeLeaveBack(ctx, name)
	} else {
		who, err = m.joinNew(ctx, name)
	}
	if err != nil {
		return model.Move{Name: who.Name}, err
	}
	return m.moveOf(who), nil
}

func (m *Membership) joinNew(ctx context.Context, name string) (who Identity, err error) {
	if err := m.orders.Need(Members); err != nil {
		return who, err
	}
	if m.authority.steering.Paused() {
		return who, errPausedOrder()
	}
	err = m.orders.nodes.Do(ctx, func() error {
		who, err = m.startValidator(name)
		return err
	})
	if err != nil {
		return who, closingRefusal(err)
	}
	return who, m.askForMembership(ctx, who.Name)
}

// findLeaving is a validator that leaves at the end of the epoch, or nil.
func (m *Membership) findLeaving(name string) Node {
	n, state := m.orders.backend.Node(name), m.network.Best().State
	if n == nil || n.Who().Kind != fault.Validators || state == nil || m.Status(state, n.Who()) != history.StatusLeaving {
		return nil
	}
	return n
}

// takeLeaveBack takes the leave of a validator back. It goes on as it is: no node starts.
func (m *Membership) takeLeaveBack(ctx context.Context, name string) error {
	if err := m.orders.Need(SystemKey); err != nil {
		return err
	}
	if m.authority.steering.Paused() {
		return errPausedOrder()
	}
	m.moves.withValue(func(is *moves) { is.joining = append(is.joining, name) }) // it stays up where its epoch ends meanwhile
	return m.askForMembership(ctx, name)
}

// askForMembership has the system key ask for the membership of a validator.
func (m *Membership) askForMembership(ctx context.Context, name string) error {
	member, err := m.network.Member(name)
	if err == nil {
		_, err = m.authority.sendInstruction(ctx, governance.OpJoinValidator,
			governance.JoinValidator{PublicKey: member.PublicKey, Endpoint: member.Endpoint})
	}
	if err != nil {
		m.forgetJoining(name) // it is stopped, unless the instruction becomes final later
	}
	return err
}

// startValidator makes the validator if it does not exist, and starts it if it does not run.
func (m *Membership) startValidator(name string) (who Identity, err error) {
	for i := 0; name == ""; i++ {
		if free := wallet.ValidatorName(i); m.orders.backend.Node(free) == nil {
			name = free
		}
	}
	n, status := m.orders.backend.Node(name), ""
	isRunner := n != nil && n.Who().Kind != fault.Validators
	if n != nil && !isRunner {
		status = m.Status(m.network.Best().State, n.Who())
	}
	if err := checkJoin(name, wallet.Accounts(), status); err != nil {
		return who, err
	}
	if isRunner {
		return who, errRunnersName(name)
	}
	if n == nil {
		if n, err = m.network.AddValidator(name); err != nil {
			return who, err
		}
	}
	m.moves.withValue(func(is *moves) { is.joining = append(is.joining, name) })
	if n.Phase() != Stopped {
		return n.Who(), nil
	}
	if err := n.Start(); err != nil {
		m.forgetJoining(name)
		return who, err
	}
	return n.Who(), nil
}

// forgetJoining notes that a validator does not join, or has joined.
func (m *Membership) forgetJoining(name string) {
	without := func(names []string) []string {
		return slices.DeleteFunc(names, func(one string) bool { return one == name })
	}
	m.moves.withValue(func(is *moves) { is.joining, is.spared = without(is.joining), without(is.spared) })
}

// Leave has the system key ask for the end of a validator's membership, at the end of the
// epoch. It returns when the instruction is final. The validator is stopped when it has left.
func (m *Membership) Leave(ctx context.Context, name string) (move model.Move, err error) {
	if err := m.orders.Need(SystemKey); err != nil {
		return move, err
	}
	address := m.network.ValidatorAddress(name)
	if address.IsZero() {
		return move, errUnknownValidator(name)
	}
	_, err = m.authority.sendInstruction(ctx, governance.OpLeaveValidator, governance.LeaveValidator{Address: address})
	if err != nil {
		return move, err
	}
	m.forgetJoining(name)
	return m.moveOf(Identity{Name: name, Address: address}), nil
}

// stopFormer stops former validators once a block of the set without them is final. Until then
// they may have to help the others to the last one.
func (m *Membership) stopFormer(r *ledger.Result) {
	if r.Block.Header.Border() {
		return
	}
	for _, n := range m.network.Validators() {
		who := n.Who()
		switch {
		case r.State.Validators().Index(who.Address) < 0 && history.Membership(r.State, who.Address) == history.StatusLeft:
			if n.Phase() != Stopped && m.noteStop(who.Name) {
				m.network.Go(who.Name+" stops", func() error { return m.stopFormerValidator(who.Name) })
			}
		case m.isChanging():
			m.forgetJoining(who.Name)
		}
	}
}

// isChanging reports whether a validator joins, or was in no set so far.
func (m *Membership) isChanging() (some bool) {
	m.moves.withValue(func(is *moves) { some = len(is.joining)+len(is.spared) > 0 })
	return some
}

// noteStop notes that a task stops a validator, unless it joins or one does already.
func (m *Membership) noteStop(name string) (begins bool) {
	m.moves.withValue(func(is *moves) {
		begins = !slices.Contains(slices.Concat(is.joining, is.spared, is.stopping), name)
		if begins {
			is.stopping = append(is.stopping, name)
		}
	})
	return begins
}

// stopFormerValidator stops a validator that has left in the latest state. A validator that resumes executes
// old blocks too, so that others may have joined since.
func (m *Membership) stopFormerValidator(name string) error {
	defer m.moves.withValue(func(is *moves) {
		is.stopping = slices.DeleteFunc(is.stopping, func(one string) bool { return one == name })
	})
	return m.orders.stopLeftNode(func() Node {
		n, state := m.orders.backend.Node(name), m.network.Best().State
		if state == nil || m.Status(state, n.Who()) != history.StatusLeft {
			return nil
		}
		return n
	}, m.network)
}
