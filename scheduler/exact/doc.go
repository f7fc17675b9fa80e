// Package exact is the arithmetic of the lane's policies, in integers: numbers of
// 64 fraction bits, e^x of them rounded down for certain, numbers of 384 bits
// that are compared without rounding, and counts that stop at the greatest. Nothing
// wraps: what else would is a bug, and stops.
package exact
