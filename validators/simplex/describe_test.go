package simplex

import (
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
)

func name(a types.Address) string { return fmt.Sprintf("v%d", int(a[18])<<8|int(a[19])) }

func describeSend(s Send) string {
	to := "all"
	if s.To != nil {
		to = name(*s.To)
	}
	return describe(s.Message) + " to " + to
}

func describe(message Message) string {
	switch m := message.(type) {
	case *types.Vote:
		if m.Kind == types.Nullify {
			return fmt.Sprintf("nullify(%d)", m.View)
		}
		return fmt.Sprintf("%s(%d, block %d)", m.Kind, m.View, m.Height)
	case *types.Certificate:
		voters := ""
		for _, v := range m.Votes {
			voters += " " + name(v.Validator)
		}
		what := map[types.VoteKind]string{types.Notarize: "notarization", types.Nullify: "nullification", types.Finalize: "finalization"}[m.Kind]
		if m.Kind == types.Nullify {
			return fmt.Sprintf("%s(%d:%s)", what, m.View, voters)
		}
		return fmt.Sprintf("%s(%d, block %d:%s)", what, m.View, m.Height, voters)
	case *types.Proposal:
		return fmt.Sprintf("proposal(%d, block %d of view %d)", m.View, m.Block.Header.Height, m.Block.Header.View)
	case *BlockRequest:
		return "block request"
	case *BlockAnswer:
		return fmt.Sprintf("block answer(%d)", m.Block.Header.Height)
	case *CertificateRequest:
		return fmt.Sprintf("certificate request(%d to %d)", m.From, m.To)
	case *ViewRequest:
		return fmt.Sprintf("view request(%d)", m.Nonce)
	case *ViewAnswer:
		return fmt.Sprintf("view answer(%d)", m.Nonce)
	}
	return fmt.Sprintf("%T", message)
}

func describeReport(r Report) string {
	switch r := r.(type) {
	case Entered:
		return fmt.Sprintf("entered view %d of epoch %d, leader %s", r.View, r.Epoch, name(r.Leader))
	case Notarized:
		return "notarized: " + describe(r.Certificate)
	case GaveUp:
		return strings.TrimSpace(fmt.Sprintf("gave up view %d of %s: %s %s", r.View, name(r.Leader), r.Cause, r.Detail))
	case Nullified:
		return "nullified: " + describe(r.Certificate)
	case Finalized:
		heights := ""
		for _, b := range r.Blocks {
			heights += fmt.Sprintf(" %d", b.Header.Height)
		}
		return "finalized:" + heights + " by " + describe(r.Finalization)
	case Behind:
		return "behind: " + describe(r.Certificate)
	case Rejected:
		return fmt.Sprintf("rejected in view %d: %s", r.View, r.Reason)
	case Evidence:
		return fmt.Sprintf("evidence against %s: %s, %s", name(r.Offender), describe(r.First), describe(r.Second))
	}
	return fmt.Sprintf("%T", r)
}
