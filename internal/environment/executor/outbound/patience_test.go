package outbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A busy server is asked again after the time that it names, as long as the job's time lasts;
// what it may have done is not done twice.
func TestABusyServerIsAskedAgainWithinTheTime(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		after      string
		repeatable bool
		asks       int
		took       time.Duration
	}{
		"429, a second":                {429, "1", false, 2, time.Second},
		"503, two seconds":             {503, "2", true, 2, 2 * time.Second},
		"503, not to repeat":           {503, "2", false, 1, 0},
		"a date":                       {429, "Sat, 01 Jan 2000 00:00:05 GMT", false, 2, 5 * time.Second},
		"at once":                      {429, "0", false, 2, time.Second},
		"a date that is over":          {429, "Sat, 01 Jan 1999 00:00:05 GMT", false, 2, time.Second},
		"longer than the job":          {429, "31", false, 1, 0},
		"longer than any number":       {429, "99999999999999999999", false, 1, 0},
		"no time":                      {429, "", false, 1, 0},
		"another status with a time":   {500, "1", true, 1, 0},
		"a redirect that names a time": {301, "1", true, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			began, asks := time.Now(), 0
			answer, err := Patiently(ctx, c.repeatable, func() (*http.Response, error) {
				asks++
				r := &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(fmt.Sprint(asks)))}
				if r.Header.Set("Retry-After", c.after); asks > 1 {
					r.StatusCode = http.StatusOK
				}
				return r, nil
			})
			if err != nil || asks != c.asks || time.Since(began) != c.took {
				t.Errorf("%s: %d asks in %v, %v", name, asks, time.Since(began), err)
			}
			if body, _ := io.ReadAll(answer.Body); string(body) != fmt.Sprint(asks) {
				t.Errorf("%s: the answer is %s", name, body)
			}
		})
	}
}

// The end of the job ends the wait.
func TestPatienceEndsWithTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		time.AfterFunc(2*time.Second, cancel)
		_, err := Patiently(ctx, true, func() (*http.Response, error) {
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"20"}}, Body: http.NoBody}, nil
		})
		if err == nil {
			t.Error("there is an answer")
		}
	})
}
