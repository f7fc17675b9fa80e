// The client of the dapp's club against a network: node live_test.js URL.
import { Chain, CowboyError, Devnet, type Hex } from './cowboy.js'
import { Club } from './club.js'

declare const process: { argv: string[]; exit(code: number): never }

let wrong = 0
function same(what: string, got: unknown, want: unknown): void {
  const text = (v: unknown) => JSON.stringify(v, (_, x) => (typeof x === 'bigint' ? `${x}n` : x))
  if (text(got) === text(want)) return
  wrong++
  console.error(`${what}: got ${text(got)}, want ${text(want)}`)
}

/** The code and the path of what a promise is refused with. */
async function refused(of: Promise<unknown>): Promise<[string, string] | string> {
  try {
    await of
    return 'taken'
  } catch (error) {
    return error instanceof CowboyError ? [error.code, error.path] : String(error)
  }
}

const chain = new Chain(process.argv[2]!)
const club = new Club(chain, 'club')
const bob = await chain.address('bob')
const carol = await chain.address('carol')
const note = 'hé 𝔸 "\u2028'

// Calls that the devnet signs, typed both ways.
const joined = await club.join({ who: bob, amount: 2n ** 70n, note }, { signer: new Devnet('bob') })
same('what join returns', joined.value, 1n)
same('its event', club.$Joined(joined), [{ members: 1n, who: bob }])
same('its status', joined.status, 'ok')
same('a second member', (await club.join({ who: carol, amount: 5n })).value, 2n)

// Reads, with values beyond 2^53 and without a value.
const everyone = (await club.everyone({ read: true })).value
same('everyone', everyone, [{ note, paid: 2n ** 70n, who: bob }, { note: null, paid: 5n, who: carol }])
same('a member', (await club.member({ who: carol }, { read: true })).value, everyone[1])
same('no member', (await club.member({ who: await chain.address('alice') }, { read: true })).value, null)
same('bytes', (await club.blob(Uint8Array.of(0, 255), { read: true })).value, '0x00ff')

// Wrong arguments are refused before anything is sent: no block is made for them.
const height = await chain.height()
same('a negative amount', await refused(club.join({ who: bob, amount: -1n })), ['bad_argument', 'amount'])
same('an address of 19 bytes', await refused(club.join({ who: bob.slice(0, -2) as Hex, amount: 5n })), ['bad_argument', 'who'])
same('a missing argument', await refused(club.join({ who: bob } as never)), ['bad_argument', 'amount'])
same('an unknown argument', await refused(club.join({ who: bob, amount: 5n, more: 1 } as never)), ['bad_argument', 'more'])
same('a number that lost digits', await refused(club.join({ who: bob, amount: 2 ** 60 as never })), ['bad_argument', 'amount'])
same('the height', await chain.height(), height)

// What the chain refuses keeps the chain's code.
same('too low a price', await refused(club.join({ who: bob, amount: 1n })), ['value_error', ''])
same('a dry run', (await club.join({ who: bob, amount: 6n }, { dryRun: true })).value, 3n)
same('the owner alone sets the price', await refused(club.set_price({ price: 1n }, { signer: new Devnet('bob') })), ['not_callable', ''])
same('an unknown actor', await refused(new Club(chain, 'nobody').everyone({ read: true })), ['unknown_name', 'address'])
same('the balance of bob', (await chain.balance('bob')) > 0n, true)

// The stream of events begins at any height.
const stop = new AbortController()
const seen: bigint[] = []
for await (const event of chain.events({ kinds: ['tx'], actor: 'club', from: 1, signal: stop.signal })) {
  if (event.data.handler === 'join' && event.data.status === 'ok') seen.push(...club.$Joined({ ...event.data, value: null }).map((j) => j.members))
  if (seen.length === 2) stop.abort()
}
same('the events of the stream', seen, [1n, 2n])
console.log(`${wrong} differ`)
process.exit(wrong === 0 ? 0 : 1)
