// Package answers is what a network answers to those who look at it or operate it:
// its nodes, the final state and history of one (Reader), the operator's actions
// (Steering), and refusals with their HTTP statuses. Worlds implement its
// interfaces, faces call them. Package model has the JSON form of answers, and the
// Show functions make it of the chain's data.
package answers
