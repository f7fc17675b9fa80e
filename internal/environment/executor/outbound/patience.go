package outbound

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// minPatience is the shortest time after which a request is made again, whatever a server
	// says: one that says 0 would be asked without a pause.
	minPatience = time.Second
	// drained bounds what is read of an answer that is not used, in bytes.
	drained = 4 << 10
)

// Patiently asks, and asks again where the answer is that the server is busy (429 or 503) and
// names a time to wait (Retry-After) that the context's deadline leaves. A server that answers
// 503 may have done the work: only a request that may be repeated is made again then. ask makes
// a new request each time.
//
// Spec: RFC 9110, 10.2.3; RFC 6585, 4.
func Patiently(ctx context.Context, repeatable bool, ask func() (*http.Response, error)) (*http.Response, error) {
	for {
		answer, err := ask()
		if err != nil {
			return nil, err
		}
		wait, said := retryAfter(answer, time.Now())
		end, bounded := ctx.Deadline()
		busy := answer.StatusCode == http.StatusTooManyRequests || repeatable && answer.StatusCode == http.StatusServiceUnavailable
		if !busy || !said || !bounded || !time.Now().Add(wait).Before(end) {
			return answer, nil
		}
		io.CopyN(io.Discard, answer.Body, drained)
		answer.Body.Close()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// retryAfter returns the time that an answer asks to wait, at least minPatience, and whether it
// names one: in seconds, or as a date.
func retryAfter(answer *http.Response, now time.Time) (wait time.Duration, said bool) {
	text := answer.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return max(time.Duration(seconds)*time.Second, minPatience), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), minPatience), true
	}
	return 0, false
}
