package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/refusal"
)

// Error is an answer that is not a success: {"error": {code, message, hint,
// field}} with its HTTP status.
type Error struct {
	Status int
	Body   model.ErrorBody
	after  int // seconds until the client may try again; 0: it is not known
}

// Refuse returns an error for the client. Message says what was wrong and
// where.
func Refuse(status int, code, message string, args ...any) *Error {
	return &Error{Status: status, Body: model.ErrorBody{Code: code, Message: fmt.Sprintf(message, args...)}}
}

// Hint returns e with a remedy.
func (e *Error) Hint(hint string, args ...any) *Error {
	with := *e
	with.Body.Hint = fmt.Sprintf(hint, args...)
	return &with
}

// At returns e with the field at fault.
func (e *Error) At(field string) *Error {
	with := *e
	with.Body.Field = field
	return &with
}

// After returns e with the time after which the client may try again, in whole seconds.
func (e *Error) After(wait time.Duration) *Error {
	with := *e
	with.after = wholeSeconds(wait)
	return &with
}

// wholeSeconds is a time in whole seconds, rounded up.
func wholeSeconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }

// GetHeaders implements huma.HeadersError. A client that is refused a place gives up the
// connection too, which others need. Retry-After is set with 429, and with
// codes that soon may pass.
func (e *Error) GetHeaders() http.Header {
	headers := http.Header{}
	if strings.HasPrefix(e.Body.Code, tooMany) {
		headers.Set("Connection", "close")
	}
	if e.after > 0 || e.Status == http.StatusTooManyRequests || e.Body.Code == answers.CodeLateBefore {
		headers.Set("Retry-After", strconv.Itoa(max(e.after, retryAfter)))
	}
	return headers
}

// retryAfter is in seconds: rations are counted by the second, and reports leave their
// queue with blocks.
const retryAfter = 1

// tooMany begins the codes of refusals for lack of a place.
const tooMany = "too_many_"

func (e *Error) Error() string                { return e.Body.Message }
func (e *Error) Unwrap() error                { return e.asRefusal() }
func (e *Error) GetStatus() int               { return e.Status }
func (e *Error) MarshalJSON() ([]byte, error) { return json.Marshal(model.Error{Error: e.Body}) }

// Schema documents an Error as what it is in JSON.
func (e *Error) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[model.Error](), true, "Error")
}

// asRefusal is e without HTTP.
func (e *Error) asRefusal() *refusal.Error {
	return &refusal.Error{Code: e.Body.Code, Message: e.Body.Message, Remedy: e.Body.Hint, Field: e.Body.Field}
}

// Answer is a refusal as HTTP answers it, with the status of its code. It is nil for any other
// error.
func Answer(err error) *Error {
	var e *Error
	var below *refusal.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &below):
		return &Error{Status: answers.StatusOf(below), Body: answers.ShowRefusal(below)}
	}
	return nil
}

// asError makes every error one for the client. Any other error is a bug or a
// broken disk: it is logged whole, and answered with status 500.
func asError(err error) *Error {
	if e := Answer(err); e != nil {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return Refuse(http.StatusServiceUnavailable, "stopped", "the request ended before its answer arrived")
	}
	slog.Error("a request failed inside the devnet", "error", err)
	return Refuse(http.StatusInternalServerError, "internal", "the devnet failed: %v", err).
		Hint("This is a fault of the devnet and not of the request; its log says more (devnet logs).")
}

func writeError(w http.ResponseWriter, e *Error) {
	w.Header().Set("Content-Type", "application/json")
	for name, values := range e.GetHeaders() {
		w.Header()[name] = values
	}
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(e)
}

// invalidRequest is huma's refusal of a request, in our words.
func invalidRequest(status int, message string, errs ...error) huma.StatusError {
	var mistakes []mistake
	for _, err := range errs {
		var own *Error
		if errors.As(err, &own) {
			return own
		}
		if err != nil {
			mistakes = append(mistakes, mistakeOf(err))
		}
	}
	// huma finds unknown parameters in the order of a map.
	slices.SortStableFunc(mistakes, func(a, b mistake) int { return strings.Compare(a.field, b.field) })
	field := ""
	var texts []string
	for _, m := range mistakes {
		texts = append(texts, m.text)
		field = cmp.Or(field, m.field)
	}
	code, hint := "invalid_request", "GET /openapi.json describes every request, with an example."
	switch status {
	case http.StatusRequestEntityTooLarge:
		code, hint = "too_large", fmt.Sprintf("A request has at most %d bytes.", MaxBodyBytes)
	case http.StatusUnsupportedMediaType:
		code, hint = "unsupported_media_type", "Send the body with the header Content-Type: application/json."
	case http.StatusRequestTimeout:
		code, hint = "too_slow", fmt.Sprintf("A body has to arrive within %s.", BodyTimeout)
	case http.StatusUnprocessableEntity:
		if len(mistakes) == 1 && mistakes[0] == unknownMoment {
			return Refuse(status, "present_only", "this answer is of the present, and of no earlier moment").
				Hint("Leave out at. Reads of the chain take it: accounts, actors, timers, jobs, runners, blocks, receipts, params.").At("at")
		}
	case http.StatusInternalServerError:
		code, hint = "internal", "The log of the devnet says more (devnet logs)."
	}
	return Refuse(status, code, "%s", cmp.Or(strings.Join(texts, "; "), message)).Hint("%s", hint).At(field)
}

// unknownMoment is what is wrong with a moment in a request that takes none.
var unknownMoment = mistake{"at", "at: unknown query parameter"}

// mistake is one thing that is wrong with a request, and the field it is in.
type mistake struct{ field, text string }

// mistakeOf reads what huma found.
func mistakeOf(err error) mistake {
	var d huma.ErrorDetailer
	if !errors.As(err, &d) {
		return mistake{text: err.Error()}
	}
	field, text := parameterOf(d.ErrorDetail().Location), d.ErrorDetail().Message
	if choice := choices().FindStringSubmatch(text); choice != nil && field != "" {
		if given, is := d.ErrorDetail().Value.(string); is {
			text = fmt.Sprintf("%q is none of %s", clipText(given), choice[1])
		}
	}
	if field != "" {
		return mistake{field, field + ": " + text}
	}
	if missing := absent().FindStringSubmatch(text); missing != nil {
		field = missing[1]
	}
	return mistake{field, text}
}

// choices is how huma says that a text is none of those that a field takes.
var choices = pattern.CompileOnNeed(`^expected value to be one of "(.*)"$`)

// absent is how huma says that a field is missing.
var absent = pattern.CompileOnNeed(`^expected required property (\S+) to be present$`)

// parameterOf strips where huma found a field: "body.from" is the field from.
func parameterOf(location string) string {
	for _, prefix := range []string{"body", "path", "query", "header"} {
		if rest, ok := strings.CutPrefix(location, prefix); ok {
			return strings.TrimPrefix(rest, ".")
		}
	}
	return location
}
