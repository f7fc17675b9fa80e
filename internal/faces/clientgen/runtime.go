package clientgen

import _ "embed"

// RuntimeName is the file that clients in TypeScript import.
const RuntimeName = "cowboy.ts"

// Runtime is its content.
//
//go:embed runtime/cowboy.ts
var Runtime []byte
