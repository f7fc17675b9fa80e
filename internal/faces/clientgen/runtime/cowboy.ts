// The runtime of clients that `devnet actor client NAME --lang ts` makes. It needs no package:
// fetch, TextEncoder and AbortSignal are those of browsers and of Node 18 and later.

/** Bytes as text: 0x and pairs of hexadecimal digits. */
export type Hex = `0x${string}`

/** A type as schemas write it. */
export type Type =
  | string
  | { optional: Type }
  | { list: Type }
  | { tuple: Type[] }
  | { dict: Type[] }
  | { int: (string | number)[] }
  | { str: (string | number)[] }

/** A field of a record, or an argument. It may be left out where it has a default. */
export interface Field { name: string; type: Type; default?: unknown }

/** A record or an enum of the actor's file. */
export type Named = { record: Field[] } | { enum: { name: string; value: string | number }[] }

/** What an actor's annotations say. */
export interface Schema {
  hash: Hex
  schema: number
  actor: string
  types: { [name: string]: Named }
  handlers: { name: string; callers?: string; raw?: boolean; arguments?: Field[]; returns?: Type }[]
  events: string[]
}

/** The terms of a call besides its arguments. */
export interface Options {
  /** Who signs, for this call alone. */
  signer?: Signer
  /** In wei, moved to the actor. */
  value?: bigint
  /** In wei, the most that timers of the actor may cost who calls. */
  sponsor?: bigint
  /** The most cycles and cells that it may use. */
  cycles?: number
  cells?: number
  /** Ask the latest state without a transaction. */
  read?: boolean
  /** Execute it on the latest state, and change nothing. Only the devnet's signer can. */
  dryRun?: boolean
  signal?: AbortSignal
}

/** An event of a receipt. */
export interface ChainEvent { name: string; actor: Hex; data: Hex }

/** How a call ended. One that failed is thrown as a CowboyError. */
export interface Receipt<T> {
  value: T
  status: string
  /** "" of a read. */
  hash: Hex | ''
  height: number
  cycles: number
  cells: number
  /** In wei. */
  fee: bigint
  events: ChainEvent[]
  logs: string[]
  output: Hex
}

/** Why something failed: code is for programs. */
export class CowboyError extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** Of a value that does not fit its type: where it is, like members[2].paid. */
    readonly path = '',
    readonly hint = '',
    /** Of an answer of HTTP; 0 where there was none. */
    readonly status = 0,
    /** Of an execution that failed on chain. */
    readonly receipt?: Receipt<null>,
  ) {
    super(message)
    this.name = 'CowboyError'
  }

  /** The message for a reader: of a handler that raised, what its author wrote, without handler, code, line and class. */
  get reason(): string {
    const raised = /: (?:(?:line \d+, in [^;:]+|…); )*line \d+(?:, in [^;:]+)?: (?:\w+: )?(.+)$/s.exec(this.message)
    return this.receipt && raised ? raised[1]! : this.message
  }
}

/** A call before it is signed. */
export interface Call { to: Hex; handler: string; payload: Uint8Array; value: bigint; sponsor: bigint; cycles?: number; cells?: number }

/** Who signs, and hands in. */
export interface Signer { send(chain: Chain, call: Call, o: Options): Promise<RawReceipt> }

/** A receipt as the API has it. */
export interface RawReceipt {
  hash: Hex
  height: number
  status: string
  cycles: number
  cells: number
  fee: string
  events: ChainEvent[]
  logs: string[]
  output: Hex
  error: { code: string; message: string } | null
}

/** The devnet signs, for one of its named accounts: no key is in the program. */
export class Devnet implements Signer {
  constructor(readonly account = 'alice') {}

  send(chain: Chain, call: Call, o: Options): Promise<RawReceipt> {
    return chain.post<RawReceipt>('/devnet/send', {
      from: this.account, to: call.to, handler: call.handler, payload: toHex(call.payload), value: String(call.value),
      sponsor: String(call.sponsor), cycles_limit: call.cycles, cells_limit: call.cells, dry_run: o.dryRun || undefined,
    }, o.signal)
  }
}

/** A key of the program's own. sign answers r ‖ s ‖ v of a digest: 65 bytes, s in its lower half, v 0 or 1. */
export class Key implements Signer {
  readonly address: Hex
  private last: Promise<unknown> = Promise.resolve()

  /** publicKey is the uncompressed one: 65 bytes, the first of them 4. */
  constructor(publicKey: Uint8Array, private readonly sign: (digest: Uint8Array) => Uint8Array | Promise<Uint8Array>) {
    if (publicKey.length !== 65 || publicKey[0] !== 4) {
      throw new CowboyError('bad_key', 'the public key is not uncompressed: 65 bytes, of which the first is 4')
    }
    this.address = toHex(keccak256(publicKey.subarray(1)).subarray(12))
  }

  /** One call after the other, since each has the nonce behind the one before. */
  send(chain: Chain, call: Call, o: Options): Promise<RawReceipt> {
    if (o.dryRun) return Promise.reject(new CowboyError('no_dry_run', 'only the devnet signs dry runs: use read, or new Devnet(account)'))
    const sent = this.last.then(() => this.submit(chain, call, o), () => this.submit(chain, call, o))
    this.last = sent.catch(() => undefined)
    return sent
  }

  private async submit(chain: Chain, call: Call, o: Options): Promise<RawReceipt> {
    const [id, account, fees] = await Promise.all([
      chain.id(o.signal),
      chain.get<{ nonce: number }>('/account/' + this.address, o.signal),
      chain.get<{ basefee_cycle: string; basefee_cell: string }>('/basefee', o.signal),
    ])
    const payload = map({ kind: text('execute'), handler: text(call.handler), payload: bytes(call.payload),
      ...(call.sponsor > 0n ? { sponsor: unsigned(call.sponsor) } : {}) })
    const fields = [
      unsigned(BigInt(id)), unsigned(BigInt(account.nonce)), bytes(fromHex(call.to)), unsigned(call.value),
      unsigned(BigInt(call.cycles ?? 2_000_000)), unsigned(BigInt(call.cells ?? 100_000 + 2 * payload.length)),
      unsigned(2n * BigInt(fees.basefee_cycle)), unsigned(2n * BigInt(fees.basefee_cell)), unsigned(0n), unsigned(0n), payload,
    ]
    const signature = await this.sign(signingDigest(BigInt(id), fields))
    if (signature.length !== 65) throw new CowboyError('bad_signature', `a signature has 65 bytes, r, s and v: this has ${signature.length}`)
    return chain.post<RawReceipt>('/submit_wait', { tx: toHex(array([...fields, bytes(signature)])) }, o.signal)
  }
}

/** What a transaction's signer signs: its domain, the chain, and its fields without the signature. */
export function signingDigest(chainId: bigint, fields: Uint8Array[]): Uint8Array {
  const id = new Uint8Array(8)
  new DataView(id.buffer).setBigUint64(0, chainId)
  return keccak256(concat([utf8('cowboy/tx/1'), id, array([...fields, Uint8Array.of(0xf6)])]))
}

/** An event of the network. */
export interface NetworkEvent { id: string; kind: string; data: any }

/** The kinds of events. A delivered message is a tx, whose origin is message. */
export type Kind = 'block' | 'tx' | 'timer' | 'log' | 'job' | 'presence' | 'runner' | 'fault' | 'view'

/** Which events to follow. */
export interface Follow { kinds?: Kind[]; actor?: string; from?: number; lastId?: string; signal?: AbortSignal }

/** A network, at the URL of its API: in a page that it serves itself, new Chain(). */
export class Chain {
  readonly url: string
  private known?: Promise<number>

  constructor(url?: string, readonly signer: Signer = new Devnet()) {
    const origin = (globalThis as { location?: { origin: string } }).location?.origin
    const given = url ?? origin
    if (given === undefined) throw new CowboyError('no_url', 'give the URL of the network, like http://127.0.0.1:4001')
    this.url = given.replace(/\/$/, '')
  }

  get<T>(path: string, signal?: AbortSignal): Promise<T> { return this.ask<T>(path, { signal }) }

  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.ask<T>(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal })
  }

  private async ask<T>(path: string, init: RequestInit): Promise<T> {
    const answer = await this.answer(path, init)
    try {
      return (await answer.json()) as T
    } catch (error) {
      throw new CowboyError('not_a_devnet', `${this.url}${path} answered what is not JSON`, '', '', answer.status)
    }
  }

  /** The answer of a path, which is no refusal. */
  async answer(path: string, init: RequestInit): Promise<Response> {
    let answer: Response
    try {
      answer = await fetch(this.url + path, init)
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new CowboyError('unreachable', `no network answers at ${this.url}: ${error instanceof Error ? error.message : error}`)
    }
    if (answer.ok) return answer
    const told = await answer.json().catch(() => undefined) as { error?: { code: string; message: string; hint: string; field: string } } | undefined
    if (!told?.error) throw new CowboyError('not_a_devnet', `${this.url}${path} answered with HTTP status ${answer.status}`, '', '', answer.status)
    throw new CowboyError(told.error.code, told.error.message, told.error.field.replace(/^args\.?/, ''), told.error.hint, answer.status)
  }

  /** The chain's id. */
  id(signal?: AbortSignal): Promise<number> {
    this.known ??= this.get<{ chain_id: number }>('/ready', signal).then((r) => r.chain_id)
    this.known.catch(() => { this.known = undefined })
    return this.known
  }

  /** Height of the latest final block. */
  async height(): Promise<number> { return (await this.get<{ height: number }>('/height')).height }

  /** In wei. */
  async balance(of: string): Promise<bigint> {
    return BigInt((await this.get<{ balance: string }>('/account/' + encodeURIComponent(of))).balance)
  }

  /** The address of an account or an actor by its name. */
  async address(of: string, signal?: AbortSignal): Promise<Hex> {
    return (await this.get<{ address: Hex }>('/account/' + encodeURIComponent(of), signal)).address
  }

  /** The events of the network, until the signal aborts. Each id goes on behind its event, by lastId. */
  async *events(f: Follow = {}): AsyncGenerator<NetworkEvent, void, undefined> {
    const asked = new URLSearchParams()
    if (f.kinds?.length) asked.set('type', f.kinds.join(','))
    if (f.actor) asked.set('actor', f.actor)
    if (f.from !== undefined) asked.set('from', String(f.from))
    const answer = await this.answer('/events?' + asked, { signal: f.signal, headers: f.lastId ? { 'Last-Event-ID': f.lastId } : {} })
    let event: { id: string; kind: string; data: string } = { id: '', kind: '', data: '' }
    for await (const line of linesOf(answer.body!, f.signal)) {
      const at = line.indexOf(': ')
      const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 2)]
      if (name === 'id') event.id = value
      else if (name === 'event') event.kind = value
      else if (name === 'data') event.data = value
      else if (line === '' && event.kind !== '') {
        const data = JSON.parse(event.data)
        if (event.kind === 'dropped') throw new CowboyError(data.code, data.message, '', data.hint)
        yield { id: event.id, kind: event.kind, data }
        event = { id: '', kind: '', data: '' }
      }
    }
  }
}

/** The most characters of one line of a stream: a block's largest receipt. */
const MAX_LINE = 64 << 20

async function* linesOf(body: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const all = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = all.pop()!
      if (rest.length > MAX_LINE) throw new CowboyError('too_long', 'a line of the stream of events has no end')
      yield* all
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** What generated clients are built on. Its own members begin with $, so that no handler meets them. */
export class Actor {
  private $checked?: Promise<Hex>

  constructor(readonly $chain: Chain, readonly $name: Hex | string, readonly $schema: Schema) {}

  /** Its address. The first use asks the network, and sees that the actor still has this client's schema. */
  $address(signal?: AbortSignal): Promise<Hex> {
    this.$checked ??= this.$check(signal)
    this.$checked.catch(() => { this.$checked = undefined })
    return this.$checked
  }

  private async $check(signal?: AbortSignal): Promise<Hex> {
    const path = encodeURIComponent(this.$name)
    const [address, schema] = await Promise.all([
      this.$chain.address(this.$name, signal), this.$chain.answer(`/actor/${path}/schema`, { signal })])
    await schema.text()
    if (schema.headers.get('ETag') !== `"${this.$schema.hash}"`) {
      throw new CowboyError('schema_changed', `the schema of ${this.$name} changed: run devnet actor client ${this.$name} again`)
    }
    return address
  }

  /** Call a typed handler. */
  async $call<T>(handler: string, args: object, o: Options = {}): Promise<Receipt<T>> {
    const told = this.$schema.handlers.find((h) => h.name === handler)
    if (!told || told.raw) throw new CowboyError('unknown_handler', `the schema has no typed handler ${handler}`)
    const payload = utf8(encodeArguments(this.$schema, handler, told.arguments ?? [], args))
    const raw = await this.$raw(handler, payload, o)
    const value = told.returns === undefined ? null : decode(this.$schema, told.returns, textOf(fromHex(raw.output)))
    return { ...raw, value: value as T }
  }

  /** Call a handler with bytes. */
  async $send(handler: string, payload: Uint8Array, o: Options = {}): Promise<Receipt<Hex>> {
    const raw = await this.$raw(handler, payload, o)
    return { ...raw, value: raw.output }
  }

  private async $raw(handler: string, payload: Uint8Array, o: Options): Promise<Receipt<null>> {
    const to = await this.$address(o.signal)
    if (o.read) {
      const from = o.signer ?? this.$chain.signer
      const account = from instanceof Devnet ? from.account : from instanceof Key ? from.address : undefined
      return judged(handler, await this.$chain.post<RawReceipt>('/actor/read', { actor: to, handler, payload: toHex(payload), from: account }, o.signal))
    }
    const call: Call = { to, handler, payload, value: o.value ?? 0n, sponsor: o.sponsor ?? 0n, cycles: o.cycles, cells: o.cells }
    return judged(handler, await (o.signer ?? this.$chain.signer).send(this.$chain, call, o))
  }

  /** The events of a name in a receipt, in order. */
  $events<T>(name: string, of: Receipt<unknown>): T[] {
    return of.events.filter((e) => e.name === name).map((e) => decode(this.$schema, name, textOf(fromHex(e.data))) as T)
  }
}

function judged(handler: string, r: RawReceipt): Receipt<null> {
  const receipt: Receipt<null> = { value: null, status: r.status, hash: r.hash ?? '', height: r.height ?? 0, cycles: r.cycles, cells: r.cells ?? 0,
    fee: BigInt(r.fee ?? 0), events: r.events ?? [], logs: r.logs ?? [], output: r.output }
  if (r.status === 'ok') return receipt
  const { code, message } = r.error ?? { code: r.status, message: '' }
  const at = code === 'bad_argument' ? message.split(' ', 1)[0]! : ''
  throw new CowboyError(code, `${handler} ended with ${r.status}: ${code}: ${message}`, at, '', 0, receipt)
}

// Values.

const SAFE = 2n ** 53n - 1n
const MAX_BYTES = 1 << 20
const MAX_DEPTH = 16
const WHOLE = /^(?:-?[1-9][0-9]{0,77}|0)$/
const HEX = /^0x(?:[0-9a-fA-F]{2})*$/
const RANGES: { [word: string]: [bigint, bigint] } = {
  int: [-(2n ** 255n), 2n ** 255n - 1n], u8: [0n, 2n ** 8n - 1n], u16: [0n, 2n ** 16n - 1n], u32: [0n, 2n ** 32n - 1n],
  u64: [0n, 2n ** 64n - 1n], Amount: [0n, 2n ** 256n - 1n],
}
const SIZES: { [word: string]: number } = { bytes: 0, Address: 20, Hash: 32 }

/** bad is why a value is refused, and where. */
function bad(path: string, what: string): CowboyError {
  return new CowboyError('bad_argument', path === '' ? what : `${path} ${what}`, path)
}

const own = (o: object, name: string): boolean => Object.prototype.hasOwnProperty.call(o, name)
const within = (path: string, name: string): string => (path === '' ? clipped(name) : `${path}.${clipped(name)}`)

/** A stranger's text in an error: one line, not too long. */
function clipped(s: string): string {
  const all = [...s]
  return quoted(all.slice(0, 40).join('')).slice(1, -1) + (all.length > 40 ? '…' : '')
}

function rangeOf(t: Type): [bigint, bigint] | undefined {
  if (typeof t === 'string') return own(RANGES, t) ? RANGES[t] : undefined
  return 'int' in t ? [BigInt(t.int[0]!), BigInt(t.int[1]!)] : undefined
}

const numeric = ([low, high]: [bigint, bigint]): boolean => low >= -SAFE && high <= SAFE

function noun(t: Type, [low, high]: [bigint, bigint]): string {
  return t === 'Amount' ? 'an amount in wei' : `an integer from ${low} to ${high}`
}

function named(schema: Schema, t: string): Named {
  if (!own(schema.types, t)) throw new CowboyError('unknown_type', `the schema has a type ${t} that this client does not know`)
  return schema.types[t]!
}

/** A value of the program in an error. */
function shown(v: unknown): string {
  if (typeof v === 'string') return `"${clipped(v)}"`
  if (typeof v === 'object' && v !== null) return Array.isArray(v) ? 'a list' : 'an object'
  return String(v)
}

/** The payload of arguments, in its one form. What is left out stays left out. */
export function encodeArguments(schema: Schema, handler: string, fields: Field[], args: object): string {
  const out = encodeFields(schema, handler, fields, args, '', 1, false)
  if (utf8(out).length > MAX_BYTES) throw bad('', `the arguments have more than ${MAX_BYTES} bytes`)
  return out
}

function encodeFields(schema: Schema, of: string, fields: Field[], v: object, path: string, depth: number, whole: boolean): string {
  const record = v as { [name: string]: unknown }
  for (const name of Object.keys(record)) {
    if (record[name] !== undefined && !fields.some((f) => f.name === name)) throw unknown(of, fields, path, name)
  }
  const parts: string[] = []
  for (const f of [...fields].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const at = within(path, f.name)
    const given = own(record, f.name) ? record[f.name] : undefined
    if (given !== undefined) parts.push(`"${f.name}":` + encode(schema, f.type, given, at, depth))
    else if (!own(f, 'default')) throw bad(at, 'is missing: ' + words(f.type))
    else if (whole) parts.push(`"${f.name}":` + encode(schema, f.type, read(schema, f.type, f.default, at), at, depth))
  }
  return '{' + parts.join(',') + '}'
}

function unknown(of: string, fields: Field[], path: string, name: string): CowboyError {
  return bad(within(path, name), `is unknown: ${of} has ${fields.map((f) => f.name).join(', ') || 'none'}`)
}

/** A value in the one form of its type. */
export function encode(schema: Schema, t: Type, v: unknown, path = '', depth = 0): string {
  const range = rangeOf(t)
  if (range) return encodeInteger(t, range, v, path)
  if (typeof t !== 'string') return encodeComposed(schema, t, v, path, depth)
  if (t === 'bool') {
    if (typeof v !== 'boolean') throw bad(path, `is true or false: this is ${shown(v)}`)
    return String(v)
  }
  if (t === 'str') return quoted(textual(v, path))
  if (own(SIZES, t)) {
    const hex = v instanceof Uint8Array ? toHex(v) : v
    return `"${binary(hex, SIZES[t]!, path)}"`
  }
  const of = named(schema, t)
  if ('enum' in of) return encodeMember(of.enum, v, path)
  if (typeof v !== 'object' || v === null || Array.isArray(v)) throw bad(path, `is an object, ${t}: this is ${shown(v)}`)
  return encodeFields(schema, t, of.record, v, path, deeper(depth, path), true)
}

function encodeInteger(t: Type, range: [bigint, bigint], v: unknown, path: string): string {
  if (typeof v !== 'bigint' && (typeof v !== 'number' || !Number.isSafeInteger(v)) || BigInt(v) < range[0] || BigInt(v) > range[1]) {
    throw bad(path, `is ${noun(t, range)}: this is ${shown(v)}`)
  }
  return numeric(range) ? String(BigInt(v)) : `"${v}"`
}

function encodeMember(members: { value: string | number }[], v: unknown, path: string): string {
  if (!members.some((m) => m.value === v)) throw bad(path, `is one of ${members.map((m) => m.value).join(', ')}: this is ${shown(v)}`)
  return typeof v === 'string' ? quoted(v) : String(v)
}

function encodeComposed(schema: Schema, t: Exclude<Type, string>, v: unknown, path: string, depth: number): string {
  if ('optional' in t) return v === null ? 'null' : encode(schema, t.optional, v, path, depth)
  if ('str' in t) {
    const s = textual(v, path)
    sized(t.str, s, path)
    return quoted(s)
  }
  if ('list' in t || 'tuple' in t) {
    if (!Array.isArray(v)) throw bad(path, `is a list: this is ${shown(v)}`)
    const types = 'tuple' in t ? t.tuple : undefined
    if (types && types.length !== v.length) throw bad(path, `is a list of ${types.length}: this has ${v.length}`)
    const inner = deeper(depth, path)
    return '[' + Array.from(v, (x, i) => encode(schema, types ? types[i]! : (t as { list: Type }).list, x, `${path}[${i}]`, inner)).join(',') + ']'
  }
  if ('dict' in t) {
    if (typeof v !== 'object' || v === null || Array.isArray(v)) throw bad(path, `is an object: this is ${shown(v)}`)
    const inner = deeper(depth, path)
    const rows = Object.keys(v).map((name) => [name, utf8(textual(name, path))] as const).sort((a, b) => compare(a[1], b[1]))
    return '{' + rows.map(([name]) => {
      const at = within(path, name)
      if (key(schema, t.dict[0]!, name, at) !== name) throw bad(at, 'is a key in another form than its one')
      return quoted(name) + ':' + encode(schema, t.dict[1]!, (v as { [name: string]: unknown })[name], at, inner)
    }).join(',') + '}'
  }
  throw new CowboyError('unknown_type', `the schema has a form of type that this client does not know: ${Object.keys(t).join(', ')}`)
}

function deeper(depth: number, path: string): number {
  if (depth >= MAX_DEPTH) throw bad(path, `nests deeper than ${MAX_DEPTH}`)
  return depth + 1
}

function sized(bounds: (string | number)[], s: string, path: string): void {
  const n = [...s].length
  if (n < Number(bounds[0]) || n > Number(bounds[1])) throw bad(path, `has ${bounds[0]} to ${bounds[1]} characters: this has ${n}`)
}

/** A text without halves of surrogate pairs, of which no UTF-8 can be made. */
function textual(v: unknown, path: string): string {
  if (typeof v !== 'string') throw bad(path, `is a text: this is ${shown(v)}`)
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(v)) throw bad(path, 'has half of a surrogate pair')
  return v
}

function binary(v: unknown, size: number, path: string): string {
  if (typeof v !== 'string' || !HEX.test(v) || (size > 0 && v.length !== 2 + 2 * size)) {
    const want = size > 0 ? `${size} bytes, 0x and ${2 * size} hexadecimal digits` : 'bytes, 0x and pairs of hexadecimal digits'
    throw bad(path, `is ${want}: this is ${shown(v)}`)
  }
  return v.toLowerCase()
}

/** A key of a dict in its one form. */
function key(schema: Schema, t: Type, name: string, path: string): string {
  const v = read(schema, t, name, path)
  return String(v)
}

/** A text in quotes: escapes for ", \ and control characters alone. */
function quoted(s: string): string {
  return '"' + s.replace(/["\\\u0000-\u001f]/g, (c) => {
    const short = '\b\f\n\r\t'.indexOf(c)
    if (c === '"' || c === '\\') return '\\' + c
    return short >= 0 ? '\\' + 'bfnrt'[short] : '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')
  }) + '"'
}

/** Bytes in their order: that of names on the wire. UTF-16 has another. */
function compare(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return a.length - b.length
}

/** A type as Python has it. */
function words(t: Type): string {
  if (typeof t === 'string') return t
  if ('optional' in t) return words(t.optional) + ' | None'
  if ('list' in t) return `list[${words(t.list)}]`
  if ('tuple' in t) return `tuple[${t.tuple.map(words).join(', ')}]`
  if ('dict' in t) return `dict[${t.dict.map(words).join(', ')}]`
  if ('int' in t) return `Annotated[int, Bounds(${t.int.join(', ')})]`
  return `Annotated[str, Bounds(${t.str.join(', ')})]`
}

/** The value that a text of the wire has. */
export function decode(schema: Schema, t: Type, json: string): unknown { return read(schema, t, parse(json, true), '') }

/** The arguments that a payload has. */
export function decodeArguments(schema: Schema, handler: string, payload: string): unknown {
  const told = schema.handlers.find((h) => h.name === handler)
  const v = parse(payload === '' ? '{}' : payload)
  if (!(v instanceof Object_)) throw bad('', `the arguments are an object: this is ${shown(v)}`)
  return readFields(schema, handler, told?.arguments ?? [], v, '')
}

/** A number as it stands there. JSON.parse would lose its digits. */
class Number_ { constructor(readonly text: string) {} }

/** An object as it stands there, in which names may stand twice. */
class Object_ {
  readonly pairs: [string, unknown][] = []
  /** An open one may have names that its record lacks: the actor's code may have become newer than the schema. */
  constructor(readonly open = false) {}
}

/** JSON without loss: numbers as they stand there, names that stand twice. */
function parse(s: string, open = false): unknown {
  if (utf8(s).length > MAX_BYTES) throw bad('', `the payload has more than ${MAX_BYTES} bytes`)
  let at = 0
  const wrong = (): CowboyError => bad('', 'the payload is not JSON')
  const space = (): void => { while (at < s.length && ' \t\n\r'.includes(s[at]!)) at++ }
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(s)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  const string = (): string => {
    const found = take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y)
    if (found === undefined) throw wrong()
    return JSON.parse(found) as string
  }
  const value = (depth: number): unknown => {
    space()
    const c = s[at]
    if (c === '"') return string()
    if (c === '{' || c === '[') {
      if (depth === MAX_DEPTH) throw bad('', `the payload nests deeper than ${MAX_DEPTH}`)
      at++
      return c === '[' ? list(depth + 1) : object(depth + 1)
    }
    const word = take(/null|true|false/y)
    if (word !== undefined) return word === 'null' ? null : word === 'true'
    const number = take(/-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|NaN|-?Infinity/y)
    if (number === undefined) throw wrong()
    return new Number_(number)
  }
  const more = (end: string, first: boolean): boolean => {
    space()
    if (s[at] === end) {
      at++
      return false
    }
    if (!first) {
      if (s[at] !== ',') throw wrong()
      at++
    }
    return true
  }
  const list = (depth: number): unknown[] => {
    const all: unknown[] = []
    while (more(']', all.length === 0)) all.push(value(depth))
    return all
  }
  const object = (depth: number): Object_ => {
    const all = new Object_(open)
    while (more('}', all.pairs.length === 0)) {
      space()
      const name = string()
      space()
      if (s[at++] !== ':') throw wrong()
      all.pairs.push([name, value(depth)])
    }
    return all
  }
  const found = value(0)
  space()
  if (at < s.length) throw wrong()
  return found
}

/** What stands there, in an error. */
function stands(v: unknown): string { return v instanceof Number_ ? v.text : shown(v) }

/** The value of what stands there. A default of a schema is read in the same way. */
function read(schema: Schema, t: Type, v: unknown, path: string): unknown {
  const range = rangeOf(t)
  if (range) return readInteger(t, range, v, path)
  if (typeof t !== 'string') return readComposed(schema, t, v, path)
  if (t === 'bool') {
    if (typeof v !== 'boolean') throw bad(path, `is true or false: this is ${stands(v)}`)
    return v
  }
  if (t === 'str') return textual(v instanceof Number_ ? undefined : v, path)
  if (own(SIZES, t)) return binary(v, SIZES[t]!, path)
  const of = named(schema, t)
  if ('enum' in of) {
    const found = of.enum.find((m) => (typeof m.value === 'string' ? m.value === v : v instanceof Number_ ? String(m.value) === v.text : m.value === v))
    if (!found) throw bad(path, `is one of ${of.enum.map((m) => m.value).join(', ')}: this is ${stands(v)}`)
    return found.value
  }
  const pairs = pairsOf(v)
  if (!pairs) throw bad(path, `is an object, ${t}: this is ${stands(v)}`)
  return readFields(schema, t, of.record, pairs, path)
}

function readInteger(t: Type, range: [bigint, bigint], v: unknown, path: string): bigint | number {
  const text = v instanceof Number_ ? v.text : typeof v === 'string' ? v : Number.isSafeInteger(v) ? String(v) : ''
  if (!WHOLE.test(text)) throw bad(path, `is ${noun(t, range)}: this is ${stands(v)}`)
  const n = BigInt(text)
  if (v instanceof Number_ && (n > SAFE || n < -SAFE)) throw bad(path, 'is a number beyond 2^53: write its digits in quotes')
  if (n < range[0] || n > range[1]) throw bad(path, `is ${noun(t, range)}: this is ${stands(v)}`)
  return numeric(range) ? Number(n) : n
}

function readComposed(schema: Schema, t: Exclude<Type, string>, v: unknown, path: string): unknown {
  if ('optional' in t) return v === null ? null : read(schema, t.optional, v, path)
  if ('str' in t) {
    const s = textual(v, path)
    sized(t.str, s, path)
    return s
  }
  if ('list' in t || 'tuple' in t) {
    if (!Array.isArray(v)) throw bad(path, `is a list: this is ${stands(v)}`)
    const types = 'tuple' in t ? t.tuple : undefined
    if (types && types.length !== v.length) throw bad(path, `is a list of ${types.length}: this has ${v.length}`)
    return v.map((x, i) => read(schema, types ? types[i]! : (t as { list: Type }).list, x, `${path}[${i}]`))
  }
  if ('dict' in t) {
    const pairs = pairsOf(v)
    if (!pairs) throw bad(path, `is an object: this is ${stands(v)}`)
    const made: { [name: string]: unknown } = {}
    for (const [name, x] of pairs.pairs) {
      const at = within(path, name)
      const k = key(schema, t.dict[0]!, name, at)
      if (own(made, k)) throw bad(at, 'is given twice')
      set(made, k, read(schema, t.dict[1]!, x, at))
    }
    return made
  }
  throw new CowboyError('unknown_type', `the schema has a form of type that this client does not know: ${Object.keys(t).join(', ')}`)
}

/** set gives an object a property of its own, whatever its name. */
function set(of: object, name: string, value: unknown): void {
  Object.defineProperty(of, name, { value, enumerable: true, writable: true, configurable: true })
}

function pairsOf(v: unknown): Object_ | undefined {
  if (v instanceof Object_) return v
  if (typeof v !== 'object' || v === null || Array.isArray(v) || v instanceof Number_) return undefined
  const all = new Object_()
  all.pairs.push(...Object.entries(v))
  return all
}

function readFields(schema: Schema, of: string, fields: Field[], v: Object_, path: string): object {
  const made: { [name: string]: unknown } = {}
  for (const [name, x] of v.pairs) {
    const f = fields.find((known) => known.name === name)
    if (!f && v.open) continue
    if (!f) throw unknown(of, fields, path, name)
    const at = within(path, name)
    if (own(made, name)) throw bad(at, 'is given twice')
    set(made, name, read(schema, f.type, x, at))
  }
  for (const f of fields) {
    if (!own(f, 'default') && !own(made, f.name)) throw bad(within(path, f.name), 'is missing: ' + words(f.type))
  }
  return made
}

// Bytes.

export function utf8(s: string): Uint8Array { return new TextEncoder().encode(s) }

function textOf(data: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    throw bad('', 'the payload is not UTF-8')
  }
}

export function toHex(data: Uint8Array): Hex { return `0x${Array.from(data, (b) => b.toString(16).padStart(2, '0')).join('')}` }

export function fromHex(hex: string): Uint8Array {
  if (!HEX.test(hex)) throw bad('', `is bytes, 0x and pairs of hexadecimal digits: this is ${shown(hex)}`)
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (pair) => parseInt(pair, 16))
}

function concat(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0))
  let at = 0
  for (const p of parts) {
    out.set(p, at)
    at += p.length
  }
  return out
}

// Deterministic CBOR, as far as transactions have it.

function head(major: number, n: bigint): Uint8Array {
  if (n < 24n) return Uint8Array.of((major << 5) | Number(n))
  for (const [info, size] of [[24, 1], [25, 2], [26, 4], [27, 8]] as const) {
    if (n < 1n << BigInt(8 * size)) {
      const out = new Uint8Array(1 + size)
      out[0] = (major << 5) | info
      for (let i = 0; i < size; i++) out[size - i] = Number((n >> BigInt(8 * i)) & 0xffn)
      return out
    }
  }
  throw new CowboyError('too_large', `${n} does not fit 8 bytes`)
}

/** An amount: beyond 2^64 it is tag 2 with its bytes. */
export function unsigned(n: bigint): Uint8Array {
  if (n < 0n || n >= 1n << 256n) throw new CowboyError('too_large', `${n} is no amount of 256 bits`)
  if (n < 1n << 64n) return head(0, n)
  const digits = n.toString(16)
  return concat([Uint8Array.of(0xc2), bytes(fromHex('0x' + (digits.length % 2 ? '0' : '') + digits))])
}

export function bytes(data: Uint8Array): Uint8Array { return concat([head(2, BigInt(data.length)), data]) }

export function text(s: string): Uint8Array { return concat([head(3, BigInt(utf8(s).length)), utf8(s)]) }

export function array(items: Uint8Array[]): Uint8Array { return concat([head(4, BigInt(items.length)), ...items]) }

/** A map with text keys, in the order of their encoded bytes. */
export function map(members: { [name: string]: Uint8Array }): Uint8Array {
  const rows = Object.entries(members).map(([name, value]) => [text(name), value] as const).sort((a, b) => compare(a[0], b[0]))
  return concat([head(5, BigInt(rows.length)), ...rows.flat()])
}

// keccak256, as Ethereum has it.

const MASK = (1n << 64n) - 1n
const [ROUNDS, ROTATIONS] = constants()

function constants(): [bigint[], bigint[]] {
  const rounds: bigint[] = []
  let lfsr = 1
  for (let round = 0; round < 24; round++) {
    let constant = 0n
    for (let j = 0; j < 7; j++) {
      if (lfsr & 1) constant |= 1n << ((1n << BigInt(j)) - 1n)
      lfsr = (lfsr << 1) ^ (lfsr & 0x80 ? 0x171 : 0)
    }
    rounds.push(constant)
  }
  const rotations = new Array<bigint>(25).fill(0n)
  for (let t = 0, x = 1, y = 0; t < 24; t++, [x, y] = [y, (2 * x + 3 * y) % 5]) rotations[x + 5 * y] = BigInt((((t + 1) * (t + 2)) / 2) % 64)
  return [rounds, rotations]
}

const rotate = (v: bigint, n: bigint): bigint => ((v << n) | (v >> (64n - n))) & MASK

function permute(s: bigint[]): void {
  for (const constant of ROUNDS) {
    const c = [0, 1, 2, 3, 4].map((x) => s[x]! ^ s[x + 5]! ^ s[x + 10]! ^ s[x + 15]! ^ s[x + 20]!)
    for (let i = 0; i < 25; i++) s[i] = s[i]! ^ c[(i + 4) % 5]! ^ rotate(c[(i + 1) % 5]!, 1n)
    const b = new Array<bigint>(25)
    for (let x = 0; x < 5; x++) for (let y = 0; y < 5; y++) b[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(s[x + 5 * y]!, ROTATIONS[x + 5 * y]!)
    for (let i = 0; i < 25; i++) s[i] = b[i]! ^ (~b[(i % 5 + 1) % 5 + 5 * Math.floor(i / 5)]! & MASK & b[(i % 5 + 2) % 5 + 5 * Math.floor(i / 5)]!)
    s[0] = s[0]! ^ constant
  }
}

/** keccak256 of bytes. */
export function keccak256(data: Uint8Array): Uint8Array {
  const rate = 136
  const padded = new Uint8Array(rate * (Math.floor(data.length / rate) + 1))
  padded.set(data)
  padded[data.length]! |= 1
  padded[padded.length - 1]! |= 0x80
  const view = new DataView(padded.buffer)
  const state = new Array<bigint>(25).fill(0n)
  for (let block = 0; block < padded.length; block += rate) {
    for (let i = 0; i < rate / 8; i++) state[i] = state[i]! ^ view.getBigUint64(block + 8 * i, true)
    permute(state)
  }
  const out = new Uint8Array(32)
  for (let i = 0; i < 4; i++) new DataView(out.buffer).setBigUint64(8 * i, state[i]!, true)
  return out
}
