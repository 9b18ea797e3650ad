/** Any sequence of changes to rows: everything seen is backed up and can be restored. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BackupDatabase, openBackupDatabase } from '../../src/backup/backup-database.ts'
import type { Instant, SessionId } from '../../src/model/ids.ts'
import { tempFolder } from '../support/codex-log.ts'
import { AGENT, at, entryObject, entryTuple, row, wordsIn } from './test-rows.ts'

const STORE = '/store'

/** Changes made by the owner before it writes the row again. */
type Deed =
  | { readonly kind: 'says'; readonly letters: string }
  | { readonly kind: 'drops'; readonly side: 'front' | 'end'; readonly count: number }
  | { readonly kind: 'clears' | 'rewrites' | 'breaks' | 'vanishes' }
  /** Writes an earlier value of some row. */
  | { readonly kind: 'returns'; readonly to: number }
  | { readonly kind: 'switches'; readonly native: string }

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 3 })
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('says' as const), letters }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('drops' as const),
      side: fc.constantFrom('front' as const, 'end' as const),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  fc.record({ kind: fc.constantFrom('clears' as const, 'rewrites' as const, 'breaks' as const, 'vanishes' as const) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('returns' as const), to: fc.nat() }) },
  fc.record({ kind: fc.constant('switches' as const), native: fc.constantFrom('c1', 'c2') }),
)
const event = fc.record({
  deed,
  key: fc.constantFrom('one', 'two'),
  spell: fc.constantFrom(entryObject, entryTuple),
  summary: fc.constantFrom('s', 't'),
  tools: fc.constantFrom('u', 'v'),
  hasSnapshot: fc.boolean(),
})

interface TestSession {
  readonly native: string
  readonly words: string
}

/** A simple model of the backup. */
class Witness {
  readonly #last = new Map<string, Uint8Array>()
  readonly #firstSeen = new Map<SessionId, Instant>()
  readonly holds = new Map<string, SessionId>()

  saw(session: SessionId, key: string, bytes: Uint8Array, when: Instant, renamed: SessionId | undefined): void {
    if (renamed !== undefined) this.#rename(session, renamed)
    this.#last.set(`${session} ${key}`, bytes)
    this.holds.set(key, session)
    if (!this.#firstSeen.has(session)) this.#firstSeen.set(session, when)
  }

  check(keep: BackupDatabase): void {
    for (const [where, bytes] of this.#last) {
      const [session, key] = where.split(' ') as [SessionId, string]
      expect(keep.bytes(session, { store: STORE, key })).toEqual(bytes)
    }
    for (const session of this.#firstSeen.keys()) {
      const states = [...this.#last].filter(([where]) => where.startsWith(`${session} `)).map(([, bytes]) => bytes)
      expect(states).toContainEqual(keep.bytes(session))
    }
    const alive = new Set(this.holds.values())
    const stored = keep.list()
    expect(new Map(stored.map((one) => [one.session, one.first_seen]))).toEqual(this.#firstSeen)
    expect(new Set(keep.list({ alive: true }).map((one) => one.session))).toEqual(alive)
  }

  #rename(from: SessionId, to: SessionId): void {
    for (const [where, bytes] of [...this.#last])
      if (where.startsWith(`${from} `)) {
        this.#last.delete(where)
        this.#last.set(where.replace(from, to), bytes)
      }
    const first = this.#firstSeen.get(from)
    if (first !== undefined) this.#firstSeen.set(to, first)
    for (const [key, session] of this.holds) if (session === from) this.holds.set(key, to)
  }
}

function after(chat: TestSession, deed: Deed, seen: readonly TestSession[]): TestSession {
  switch (deed.kind) {
    case 'says':
      return { ...chat, words: chat.words + deed.letters }
    case 'drops':
      return { ...chat, words: deed.side === 'front' ? chat.words.slice(deed.count) : chat.words.slice(0, -deed.count) }
    case 'clears':
      return { ...chat, words: '' }
    case 'returns':
      return seen[deed.to % Math.max(1, seen.length)] ?? chat
    case 'switches':
      return { native: deed.native, words: '' }
    default:
      return chat
  }
}

test('every row can be restored, and every sequence of entries ever seen is in some session', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 25 }), (events) => {
      const directory = tempFolder()
      const keep = openBackupDatabase(directory)
      const witness = new Witness()
      const sessions = new Map<string, TestSession>()
      const seen: TestSession[] = []
      for (const [minute, { deed, key, spell, summary, tools, hasSnapshot }] of events.entries()) {
        const place = { agent: AGENT, store: STORE, key }
        if (deed.kind === 'vanishes') {
          witness.holds.delete(key)
          keep.sweep(STORE, witness.holds.keys(), at(minute))
          continue
        }
        if (deed.kind === 'breaks') {
          const bytes = Buffer.from(`broken ${summary}`)
          const { session, renamed } = keep.putUnreadable(bytes, place, at(minute))
          witness.saw(session, key, bytes, at(minute), renamed)
          continue
        }
        const chat = after(sessions.get(key) ?? { native: 'c1', words: '' }, deed, seen)
        sessions.set(key, chat)
        seen.push(chat)
        const history = [...chat.words].map(spell)
        const captured = row(chat.native, history, {
          summary,
          tools,
          snapshots: hasSnapshot ? [history, [...'ab'].map(entryObject)] : [],
        })
        const match = keep.match(captured, place)
        const put = keep.put(captured, place, at(minute))
        expect(put).toMatchObject({ session: match.session, first_number: match.first_number })
        witness.saw(put.session, key, captured.bytes, match.first_seen ?? at(minute), put.renamed)
      }
      witness.check(keep)
      const sessionsKept = keep.list({ kind: 'conversation' }).map((one) => {
        const words = wordsIn(keep.conversation(one.session))
        expect(words).toHaveLength(one.entries)
        return { native: one.native_id, words: words.join('') }
      })
      for (const chat of seen)
        expect(sessionsKept.some((one) => one.native === chat.native && one.words.includes(chat.words))).toBe(true)
      const stored = keep.list()
      keep.close()
      const again = openBackupDatabase(directory)
      expect(again.list()).toEqual(stored)
      again.close()
    }),
    { numRuns: 60 },
  )
})
