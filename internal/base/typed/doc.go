// Package typed reads the schema of an actor, and the JSON of its handlers by that
// schema: arguments, results and events. A schema and a payload come from strangers;
// both are read within named limits, and what is refused has its path.
//
// An integer has the form of its type: a JSON number for u8, u16, u32 and bounds within
// ±(2^53−1), digits in quotes for the others. This package writes each value in one
// form: names by their UTF-8 bytes, no spaces, and escapes only for ", \ and control
// characters.
package typed
