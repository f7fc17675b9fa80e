//go:build !windows

// Package unsupported has no file for Windows, so that a build of devnet for Windows
// ends with this folder's name. devnet needs the locks, shared memory and signals of
// Linux and macOS. On Windows install WSL (wsl --install), and build devnet there.
// Package client builds for Windows.
package unsupported
