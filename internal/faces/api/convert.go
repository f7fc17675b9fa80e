package api

import (
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func transactionModel(tx *types.Transaction, sender types.Address) model.Transaction {
	m := model.Transaction{
		Hash: tx.Hash(), Status: "pending", Sender: sender, ChainID: tx.ChainID, Nonce: tx.Nonce, To: tx.To,
		Value: tx.Value, CyclesLimit: tx.CyclesLimit, CellsLimit: tx.CellsLimit,
		MaxFeePerCycle: tx.MaxFeePerCycle, MaxFeePerCell: tx.MaxFeePerCell,
		MaxPriorityFeePerCycle: tx.MaxPriorityFeePerCycle, MaxPriorityFeePerCell: tx.MaxPriorityFeePerCell,
		Payload: types.Bytes(tx.Payload),
	}
	if tx.Signature != nil {
		m.Signature = *tx.Signature
	}
	switch in, _ := tx.Instruction(); in := in.(type) {
	case *types.Transfer:
		m.Kind = in.Kind
	case *types.Deploy:
		m.Kind = in.Kind
	case *types.Execute:
		m.Kind, m.Handler = in.Kind, in.Handler
		if in.Sponsor != nil {
			m.Sponsor = *in.Sponsor
		}
	case *types.System:
		m.Kind = in.Kind
	case *types.Upgrade:
		m.Kind = in.Kind
	case *types.ApplyUpgrade:
		m.Kind = in.Kind
	case *types.SetUpgradeTerms:
		m.Kind = in.Kind
	}
	return m
}

// statedLimit is the limit that a timer states, nil for the default.
func statedLimit(limit types.Cycles) *types.Cycles {
	if limit == types.DefaultGasLimit {
		return nil
	}
	return &limit
}

func timerModel(t *answers.Timer) model.Timer {
	m := model.Timer{
		ID: t.ID, Actor: t.Actor, Height: t.Height, Handler: t.Handler, Payload: t.Payload, FeePayer: t.FeePayer, Sponsor: t.Sponsor,
		GasLimit: statedLimit(t.GasLimit), ExpiresAt: t.ExpiresAt, MaxFeePerCycle: t.MaxFeePerCycle,
		MaxPriorityFeePerCycle: t.MaxPriorityFeePerCycle, Bid: t.Bid, GBA: t.GBA, Status: string(t.Status),
		ScheduledAt: t.ScheduledAt, Deferrals: t.Deferrals, Reason: t.Reason, Weight: "1/1", Result: string(t.Result),
		CyclesUsed: t.CyclesUsed, CellsUsed: t.CellsUsed, FeePaid: t.FeePaid, TipPaid: t.TipPaid,
	}
	if t.EndedAt != 0 {
		m.EndedAt = &t.EndedAt
	}
	if t.Tier != "" {
		m.Tier = &t.Tier
	}
	if t.Watch != nil {
		m.Watch = &model.Watch{Actor: t.Watch.Actor, Key: t.Watch.Key}
	}
	switch {
	case t.Examined:
		m.Priority = t.Priority
	case t.MaxPriorityFeePerCycle != nil:
		m.Priority = *t.MaxPriorityFeePerCycle
	}
	if t.Weight.Den != 0 {
		m.Weight = t.Weight.String()
	}
	return m
}
