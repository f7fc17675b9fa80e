package network

// Signal fires once, from any loop. One caller at a time waits for it, by a Scheduler.
type Signal struct{ state guardedValue[signalState] }

// signalState is whether a signal has fired, and what wakes its caller until then.
type signalState struct {
	fired bool
	wake  func()
}

// Fire wakes the caller that waits. Later calls have no effect.
func (s *Signal) Fire() {
	var wake func()
	s.state.withValue(func(is *signalState) { wake, is.wake, is.fired = is.wake, nil, true })
	if wake != nil {
		wake()
	}
}

// HasFired reports whether it has fired.
func (s *Signal) HasFired() (fired bool) {
	s.state.withValue(func(is *signalState) { fired = is.fired })
	return fired
}

// SetWake has Fire call wake, in place of the function set before. It reports false where the
// signal has fired already: then wake is not called.
func (s *Signal) SetWake(wake func()) (waits bool) {
	s.state.withValue(func(is *signalState) {
		if waits = !is.fired; waits {
			is.wake = wake
		}
	})
	return waits
}
