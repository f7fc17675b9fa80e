// The client of fixtures/dapp against a network: calls that the devnet signs,
// reads, wrong calls, events.
import { Chain, CowboyError, Devnet, type Hex } from './cowboy.js'
import { Club } from './club.js'

declare const process: { argv: string[]; exit(code: number): never }

const chain = new Chain(process.argv[2]!)
const club = new Club(chain, 'club')
let wrong = 0
function same(what: string, got: unknown, want: unknown): void {
  if (got === want) return
  wrong++
  console.error(`${what}: ${got}, and not ${want}`)
}
async function refused(what: string, call: () => Promise<unknown>, code: string, path: string): Promise<void> {
  try {
    await call()
    same(what, 'taken', code)
  } catch (error) {
    same(what, error instanceof CowboyError ? `${error.code} ${error.path}` : String(error), `${code} ${path}`)
  }
}

const [alice, bob] = await Promise.all([chain.address('alice'), chain.address('bob')])
const abort = new AbortController()
const seen = (async () => {
  for await (const event of chain.events({ kinds: ['tx'], actor: 'club', from: 1, signal: abort.signal })) {
    const joined = event.data.status === 'ok' ? club.$Joined({ ...event.data, value: null }) : []
    if (joined.some((j) => j.who === bob)) return joined[0]!.members
  }
  return 0n
})()
const first = await club.join({ who: alice, amount: 2n ** 70n, note: 'hé 𝔸 \u2028 "\\' })
same('the first member', first.value, 1n)
const second = await club.join({ who: bob, amount: 5n }, { signer: new Devnet('bob') })
same('the second member', second.value, 2n)
same('its event', club.$Joined(second)[0]?.members, 2n)
const everyone = (await club.everyone({ read: true })).value
same('what the first paid', everyone[0]?.paid, 2n ** 70n)
same('the note of the first', everyone[0]?.note, 'hé 𝔸 \u2028 "\\')
same('the note of the second', everyone[1]?.note, null)
same('nobody', (await club.member({ who: ('0x' + '00'.repeat(20)) as Hex }, { read: true })).value, null)
same('bytes', (await club.blob(Uint8Array.of(1, 255), { read: true })).value, '0x01ff')
await refused('a number that is none', () => club.join({ who: alice, amount: -1n }), 'bad_argument', 'amount')
await refused('a short address', () => club.join({ who: '0x00', amount: 5n }), 'bad_argument', 'who')
await refused('half a pair', () => club.join({ who: alice, amount: 5n, note: '\ud800' }), 'bad_argument', 'note')
await refused('one that is missing', () => club.join({ who: alice } as { who: Hex; amount: bigint }), 'bad_argument', 'amount')
await refused('one too many', () => club.join({ who: alice, amount: 5n, more: 1 } as { who: Hex; amount: bigint }), 'bad_argument', 'more')
await refused('too little', () => club.join({ who: alice, amount: 4n }), 'value_error', '')
await refused('another caller', () => club.set_price({ price: 1n }, { signer: new Devnet('bob') }), 'not_callable', '')
await refused('no actor', () => new Club(chain, 'nobody').everyone(), 'unknown_name', 'address')
same('an event', await seen, 2n)
abort.abort()
console.log(`${wrong} differ`)
process.exit(wrong === 0 ? 0 : 1)
