package answers

import (
	"net/http"
	"slices"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
)

// statuses are the HTTP statuses of refusals, by their codes.
var statuses = map[int][]string{
	http.StatusUnauthorized: {"not_the_driver"},
	http.StatusForbidden:    {"strict"},
	http.StatusNotFound:     {"unknown_node", "no_state", "unknown_runner", "unknown_parameter", "unknown_timer", CodeNotKept},
	http.StatusConflict: {"advancing", "already_known", "already_runner", "already_validator", "bad_result", "bad_settings", "deregistered",
		refusal.CodeDropped, "elsewhere", "genesis_parameter", "height_passed", "history_bounded", "name_taken", "no_runners",
		"no_network", "no_settings", "no_timer", refusal.CodeNonceGap, refusal.CodeNonceTaken, refusal.CodeNonceTooLow, "not_advancing",
		"not_at_rest", "not_reached", "not_simulated", "not_taken", "not_waiting", "paused", "refused", "runner_exists", "script_ended",
		"timer_ended", "timer_policy_unknown", "too_many_mocks", "too_many_runners", "too_many_validators"},
	http.StatusRequestEntityTooLarge: {"too_large"},
	http.StatusTooManyRequests:       {"busy", "pool_full", "sender_full", "too_many_reports"},
	http.StatusInternalServerError:   {"not_again", "not_reproducible"},
	http.StatusServiceUnavailable: {"closing", CodeHostFailed, CodeLateBefore, "no_answer", "no_gateway", "no_profile",
		CodeNoProgramHost, "no_validator", "node_stopped", "starting", "still_replaying"},
	http.StatusGatewayTimeout: {"not_final", "travelling"},
	// The request itself is at fault. The codes of the chain for a transaction count here too.
	http.StatusBadRequest: {"bad_signature", "bad_target", "bad_value", "invalid_code", "invalid_fault", "invalid_moment", "invalid_name",
		"invalid_request", "too_far", "too_far_back", "unknown_kind", "unknown_verb", "unsupported"},
}

// StatusOf is the status of a refusal: a conflict where the chain refused by its state, and otherwise by
// its code. The request is at fault where the chain refuses a transaction, whose codes are in no row.
func StatusOf(e *refusal.Error) int {
	if e.ByChain {
		return http.StatusConflict
	}
	for status, codes := range statuses {
		if slices.Contains(codes, e.Code) {
			return status
		}
	}
	return http.StatusBadRequest
}

// ShowRefusal is a refusal in the body of an answer.
func ShowRefusal(e *refusal.Error) model.ErrorBody {
	return model.ErrorBody{Code: e.Code, Message: e.Message, Hint: e.Remedy, Field: e.Field}
}
