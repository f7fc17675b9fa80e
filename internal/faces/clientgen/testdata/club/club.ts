// Made by `devnet actor client club --lang ts`. Do not edit.
// Its schema is 0x104b58f9eb4eb9b0315e48e32ac8705e79ccd4df240ba5dddd12c58afda79fc6.
import { Actor, type Chain, type Hex, type Options, type Receipt, type Schema } from './cowboy.js'
export interface Joined { who: Hex; members: bigint }
export interface Member { who: Hex; paid: bigint; note?: string | null }
const schema: Schema = {"hash":"0x104b58f9eb4eb9b0315e48e32ac8705e79ccd4df240ba5dddd12c58afda79fc6","schema":1,"actor":"Club","types":{"Joined":{"record":[{"name":"who","type":"Address"},{"name":"members","type":"int"}]},"Member":{"record":[{"name":"who","type":"Address"},{"name":"paid","type":"Amount"},{"name":"note","type":{"optional":"str"},"default":null}]}},"handlers":[{"name":"join","arguments":[{"name":"who","type":"Address"},{"name":"amount","type":"Amount"},{"name":"note","type":{"optional":"str"},"default":null}],"returns":"int"},{"name":"renew","callers":"chain","arguments":[{"name":"who","type":"Address"},{"name":"period","type":"u32"}]},{"name":"member","arguments":[{"name":"who","type":"Address"}],"returns":{"optional":"Member"}},{"name":"blob","raw":true},{"name":"everyone","arguments":[],"returns":{"list":"Member"}},{"name":"set_price","arguments":[{"name":"price","type":"Amount"}]}],"events":["Joined"]}
/** A club: members pay to join. */
export class Club extends Actor {
  constructor(chain: Chain, address: Hex | string) { super(chain, address, schema) }
  /** Join for at least the price; returns how many members there are. */
  join(a: { who: Hex; amount: bigint; note?: string | null }, o?: Options): Promise<Receipt<bigint>> { return this.$call('join', a, o) }
  /** A member, or nothing. */
  member(a: { who: Hex }, o?: Options): Promise<Receipt<Member | null>> { return this.$call('member', a, o) }
  /** Bytes, as before. */
  blob(payload: Uint8Array, o?: Options): Promise<Receipt<Hex>> { return this.$send('blob', payload, o) }
  /** All members, in the order in which they joined. */
  everyone(o?: Options): Promise<Receipt<Member[]>> { return this.$call('everyone', {}, o) }
  /** What joining costs from now on. */
  set_price(a: { price: bigint }, o?: Options): Promise<Receipt<null>> { return this.$call('set_price', a, o) }
  /** The events Joined of a receipt, in order. */
  $Joined(of: Receipt<unknown>): Joined[] { return this.$events<Joined>('Joined', of) }
}
