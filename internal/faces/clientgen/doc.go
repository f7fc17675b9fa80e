// Package clientgen writes clients of an actor from its schema: one file in Python,
// TypeScript or Go, or the interface by which another actor calls it.
//
// A schema comes from a stranger: its names are checked by package typed, its texts are
// written as comments of printable characters or as escaped literals, and nothing else
// of it becomes code. One schema gives one file, byte for byte.
package clientgen
