// Made by `devnet actor client every --lang ts`. Do not edit.
// Its schema is 0xb1985c2897bb3e362cf3a05082b60477571646eb3661ffb2bf7b8ff2820bff04.
import { Actor, type Chain, type Hex, type Options, type Receipt, type Schema } from './cowboy.js'
export interface Box { a_b: bigint; aB?: number; tags?: string[]; color?: Color; inner?: Receipt_ }
/** A color. */
export type Color = "red" | "bl'u\"e\u2028"
export type Level = -1 | 7
export interface Receipt_ { self: boolean }
export interface record {}
const schema: Schema = {"hash":"0xb1985c2897bb3e362cf3a05082b60477571646eb3661ffb2bf7b8ff2820bff04","schema":1,"actor":"Every","types":{"Box":{"record":[{"name":"a_b","type":"u64"},{"name":"aB","type":"u8","default":3},{"name":"tags","type":{"list":"str"},"default":["x","\u00e9"]},{"name":"color","type":"Color","default":"red"},{"name":"inner","type":"Receipt","default":{"self":true}}]},"Color":{"enum":[{"name":"RED","value":"red"},{"name":"BLUE","value":"bl'u\"e\u2028"}]},"Level":{"enum":[{"name":"LOW","value":-1},{"name":"HIGH","value":7}]},"Receipt":{"record":[{"name":"self","type":"bool"}]},"record":{"record":[]}},"handlers":[{"name":"every","arguments":[{"name":"i","type":"int"},{"name":"b8","type":"u8"},{"name":"b16","type":"u16"},{"name":"b32","type":"u32"},{"name":"b64","type":"u64"},{"name":"amount","type":"Amount"},{"name":"age","type":{"int":["0","150"]}},{"name":"far","type":{"int":["0","9007199254740992"]}},{"name":"yes","type":"bool"},{"name":"text","type":"str"},{"name":"short","type":{"str":["1","8"]}},{"name":"data","type":"bytes"},{"name":"who","type":"Address"},{"name":"hash","type":"Hash"},{"name":"maybe","type":{"optional":{"list":{"optional":"int"}}}},{"name":"pair","type":{"tuple":["Address","Amount"]}},{"name":"byname","type":{"dict":["str","u64"]}},{"name":"bynumber","type":{"dict":["int",{"list":"bool"}]}},{"name":"byaddress","type":{"dict":["Address","Level"]}},{"name":"box","type":"Box"},{"name":"level","type":"Level","default":7},{"name":"nested","type":{"list":{"list":"Color"}},"default":[["red"],[]]},{"name":"known","type":{"dict":["str","int"]},"default":{["__proto__"]:"5"}},{"name":"or_text","type":{"optional":"str"},"default":"x"},{"name":"key","type":"bytes","default":"0x0102"}],"returns":"Box"},{"name":"balance","arguments":[{"name":"of","type":"Address"}],"returns":"Amount"},{"name":"constructor","arguments":[]},{"name":"then","arguments":[]},{"name":"scan","arguments":[]},{"name":"actor","arguments":[{"name":"self","type":"int"},{"name":"value","type":"Amount"}]},{"name":"set_it","arguments":[{"name":"record","type":"record","default":{}}]},{"name":"setIt","arguments":[]},{"name":"raw","raw":true}],"events":["Box"]}
/**
 * Every type. *\/ """ \ `tick`
 * A second line.
 */
export class Every extends Actor {
  constructor(chain: Chain, address: Hex | string) { super(chain, address, schema) }
  every(a: { i: bigint; b8: number; b16: number; b32: number; b64: bigint; amount: bigint; age: number; far: bigint; yes: boolean; text: string; short: string; data: Hex; who: Hex; hash: Hex; maybe: (bigint | null)[] | null; pair: [Hex, bigint]; byname: Record<string, bigint>; bynumber: Record<string, boolean[]>; byaddress: Record<Hex, Level>; box: Box; level?: Level; nested?: Color[][]; known?: Record<string, bigint>; or_text?: string | null; key?: Hex }, o?: Options): Promise<Receipt<Box>> { return this.$call('every', a, o) }
  balance(a: { of: Hex }, o?: Options): Promise<Receipt<bigint>> { return this.$call('balance', a, o) }
  constructor_(o?: Options): Promise<Receipt<null>> { return this.$call('constructor', {}, o) }
  then_(o?: Options): Promise<Receipt<null>> { return this.$call('then', {}, o) }
  scan(o?: Options): Promise<Receipt<null>> { return this.$call('scan', {}, o) }
  actor(a: { self: bigint; value: bigint }, o?: Options): Promise<Receipt<null>> { return this.$call('actor', a, o) }
  /**
   * Set it.
   *
   * A backslash \ and quotes """ end with "
   */
  set_it(a: { record?: record } = {}, o?: Options): Promise<Receipt<null>> { return this.$call('set_it', a, o) }
  setIt(o?: Options): Promise<Receipt<null>> { return this.$call('setIt', {}, o) }
  raw(payload: Uint8Array, o?: Options): Promise<Receipt<Hex>> { return this.$send('raw', payload, o) }
  /** The events Box of a receipt, in order. */
  $Box(of: Receipt<unknown>): Box[] { return this.$events<Box>('Box', of) }
}
