// Package scenario runs Starlark files against a network: each is documentation,
// test and demo at once, and runs unchanged on every Backend.
package scenario
