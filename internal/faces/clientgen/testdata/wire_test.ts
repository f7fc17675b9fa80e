// The runtime on the corpus of testdata, and on the examples of docs/WIRE.md.
import { array, bytes, CowboyError, decode, decodeArguments, encodeArguments, fromHex, keccak256, map, signingDigest, text, toHex, unsigned, utf8, type Schema } from './cowboy.js'

declare const process: { argv: string[]; exit(code: number): never }

// @ts-ignore: Debian's compiler has no types of Node
const { readFileSync } = (await import('node:fs')) as { readFileSync(path: string, encoding: string): string }

interface Corpus { schema: string; legal: [string, string, string][]; refused: [string, string, string][] }
const corpus = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Corpus
const schema = { hash: '0x', events: [], types: {}, ...JSON.parse(corpus.schema) } as Schema
let wrong = 0
function same(what: string, got: unknown, want: unknown): void {
  if (got === want) return
  wrong++
  console.error(`${what}: ${got}, and not ${want}`)
}
for (const [handler, raw, one] of corpus.legal) {
  let got: string
  try {
    const fields = schema.handlers.find((h) => h.name === handler)!.arguments!
    got = encodeArguments(schema, handler, fields, decodeArguments(schema, handler, raw) as object)
  } catch (error) {
    got = String(error)
  }
  same(`${handler} ${raw}`, got, one)
}
for (const [handler, raw, path] of corpus.refused) {
  let got = 'taken'
  try {
    decodeArguments(schema, handler, raw)
  } catch (error) {
    got = error instanceof CowboyError ? error.path : String(error)
  }
  same(`${handler} ${raw}`, got, path)
}
const leaf = decode(schema, 'Leaf', '{"number":7,"note":null,"since":{"day":1}}') as { number: number; since?: unknown }
same('an answer of newer code', `${leaf.number} ${leaf.since}`, '7 undefined')
const failed = { value: null, status: 'reverted', hash: '' as const, height: 1, cycles: 1, cells: 0, fee: 0n, events: [], logs: [], output: '0x' as const }
const raised = 'join ended with reverted: value_error: line 12, in join; line 93, in check: ValueError: you: are\na member already'
same('the reason of an author', new CowboyError('value_error', raised, '', '', 0, failed).reason, 'you: are\na member already')
same('the reason without an execution', new CowboyError('busy', 'too many', '', '', 429).reason, 'too many')
same('keccak of nothing', toHex(keccak256(new Uint8Array())), '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470')
same('keccak of a whole block', toHex(keccak256(new Uint8Array(136).fill(0x61))), '0xa6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e')
const payload = map({ kind: text('execute'), handler: text('go'), payload: bytes(utf8('by 5')) })
const fields = [8011n, 3n, -1n, 5_000_000_000n, 250_000n, 1000n, 2000n, 1500n, 10n, 0n].map((n) => (n < 0n ? bytes(fromHex('0x821d5091c635b0d6d5970c136c88d5c837a2048c')) : unsigned(n)))
const digest = signingDigest(8011n, [...fields, payload])
same('the digest of docs/WIRE.md', toHex(digest), '0xce42bdd4d22669883342b635e752839ad5b728ade2103b7593ce42db00a3a12d')
const signature = fromHex('0x538222f3cdf74af658b1ae40f8afbe8d073015ebcc24d80e0d2357b79c05b271396dec57d451c42f52ccda4a85bfa2f1788467514d719da0adb9465a52a6a17001')
same('the hash of docs/WIRE.md', toHex(keccak256(array([...fields, payload, bytes(signature)]))), '0x4f53573ffb14fa50ed84bebb19299c1444e1df9723e1558ca913b8ab29be993a')
same('2^64 wei', toHex(unsigned(2n ** 64n)), '0xc249010000000000000000')
console.log(`${corpus.legal.length} legal and ${corpus.refused.length} refused payloads, ${wrong} differ`)
process.exit(wrong === 0 ? 0 : 1)
