package gateway

import (
	"container/heap"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// purpose is the purpose of an alarm.
type purpose uint8

const (
	helloDue    purpose = iota // the Hello exchange is done by then
	goodbyeDone                // the grace of our Goodbye is over
	ackDue                     // a delivery is answered by then, if the blocks are over too
	lingerDone                 // the runner has ended its side of a stream by then
)

// alarm is something to look at when its time has come. Its purpose may have ended
// before; then it has no effect.
type alarm struct {
	at     types.Time
	id     connection.ID
	stream connection.Stream
	why    purpose
}

// alarms are a heap, the next first. There are at most two of each connection and
// two of each of its streams.
type alarms []alarm

func (a alarms) Len() int      { return len(a) }
func (a alarms) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)   { *a = append(*a, x.(alarm)) }
func (a alarms) Less(i, j int) bool {
	switch {
	case a[i].at != a[j].at:
		return a[i].at < a[j].at
	case a[i].id != a[j].id:
		return a[i].id < a[j].id
	case a[i].stream != a[j].stream:
		return a[i].stream < a[j].stream
	}
	return a[i].why < a[j].why
}

func (a *alarms) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// addAlarm adds an alarm.
func (a *alarms) addAlarm(one alarm) { heap.Push(a, one) }

// takeDue takes the next alarm whose time has come.
func (a *alarms) takeDue(now types.Time) (one alarm, ok bool) {
	if len(*a) == 0 || (*a)[0].at > now {
		return alarm{}, false
	}
	return heap.Pop(a).(alarm), true
}

// nextTime is when the next is due, or types.Never.
func (a alarms) nextTime() types.Time {
	if len(a) == 0 {
		return types.Never
	}
	return a[0].at
}
