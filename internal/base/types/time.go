package types

import (
	"math"
	"time"
)

// Time is an instant of a node's clock: nanoseconds since 1970, or since the
// world began in the simulator. Cores receive it as an argument.
type Time int64

// Never is a deadline that does not come.
const Never Time = math.MaxInt64

// Millis is a time in milliseconds, as in headers (decision C7).
type Millis int64

// Add returns t + d, at most Never.
func (t Time) Add(d time.Duration) Time {
	if sum := t + Time(d); d < 0 || sum >= t {
		return sum
	}
	return Never
}

// Sub returns t - u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Millis returns t in whole milliseconds, rounded toward zero.
func (t Time) Millis() Millis { return Millis(time.Duration(t).Milliseconds()) }

// Time returns m as an instant, at most Never and at least its opposite: a header
// may have any number.
func (m Millis) Time() Time {
	const limit = Millis(math.MaxInt64 / int64(time.Millisecond))
	switch {
	case m > limit:
		return Never
	case m < -limit:
		return -Never
	}
	return Time(time.Duration(m) * time.Millisecond)
}
