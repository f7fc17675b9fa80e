package main

// devnet has no Windows build: the import has no file for Windows, and its name is the remedy.
import _ "github.com/cowboyinc/devnet/cmd/devnet/unsupported/windows_has_no_devnet_run_it_in_WSL"
