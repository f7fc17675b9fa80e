// Package devnettest gives a test a whole Cowboy network in its own process, with one
// line:
//
//	func TestCounter(t *testing.T) {
//		n := devnettest.Start(t)
//		counter, err := n.DeployFile(t.Context(), "counter.py", client.Deployment{})
//		…
//	}
//
// The network is closed with the test. If the test failed, its timeline is shown:
// the leaders and outcomes of the last views, the test's actions, and the failed
// receipts.
//
// A simulated network, which is what Start makes unless it is told otherwise, runs in
// virtual time: one seed is one run, a minute takes milliseconds, and it can go back to
// a snapshot. Its time passes only while it has something to do for the test: while a
// transaction becomes final, in Run, RunUntil, WaitJob and the Advance methods. A live
// network has real validators over QUIC and runs by itself, as devnet up does.
//
// Both answer at URL with the whole HTTP API, so that a program under test, in whatever
// language, reaches them as it would any network.
package devnettest
