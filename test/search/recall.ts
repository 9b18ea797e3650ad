/**
 * Compares the search for words cut from messages with a scan of every message.
 *
 * The search finds words, not substrings: `day` is not in `today`, but the parts of an identifier are words too. So two
 * scans bound the result. A message that contains the needle without adjacent letters or digits must be found. A
 * message that does not contain it as a substring, ignoring case, accents and underscores, must not. Punctuation
 * separates words, so `exit_code` is also `exit code`: for identifiers, the second scan ignores all punctuation.
 * Scripts without spaces have no word boundaries, so both scans agree and the result must equal a substring scan.
 */
import { expect } from 'vitest'
import type { App } from '../../src/app.ts'
import { searchableTextOf } from '../../src/model/searchable-text.ts'
import { findTouchedFiles } from '../../src/model/touched-files.ts'
import { random } from '../support/seeded-random.ts'

interface SearchedText {
  readonly id: string
  readonly text: string
  readonly folded: { readonly [kind in Kind]: string }
}

/** Normalizes what the search ignores, for each kind of needle. */
function foldedOf(text: string): SearchedText['folded'] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('_', '')
  const bare = plain.replaceAll(/[^\p{L}\p{N}]/gu, '')
  return { word: plain, number: plain, identifier: bare, japanese: text.normalize('NFKC') }
}

/** All searchable text, read message by message. */
export async function readAllTexts(application: App): Promise<readonly SearchedText[]> {
  const all: SearchedText[] = []
  for (const { id } of application.list({ limit: 100_000, children: 'all', kind: 'any' }).sessions)
    for (const body of await application.messages(id, { limit: 1_000_000 })) {
      if (body.kind !== 'body' || body.known.duplicate || body.known.replayed) continue
      const { context: _, ...searchable } = searchableTextOf(body.message)
      const files = findTouchedFiles(body.message).map(({ path }) => path)
      const text = [...Object.values(searchable), ...files].join('\n')
      if (text !== '') all.push({ id: `${id} ${body.known.id}`, text, folded: foldedOf(text) })
    }
  return all
}

const KINDS = {
  word: /(?<![\p{L}\p{N}\p{M}_])[A-Za-z]{3,20}(?![\p{L}\p{N}\p{M}_])/gu,
  identifier: /(?<![\p{L}\p{N}\p{M}_])(?:[a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:_[a-z]+)+)(?![\p{L}\p{N}\p{M}_])/gu,
  number: /(?<![\p{L}\p{N}\p{M}_])[0-9]{3,10}(?![\p{L}\p{N}\p{M}_])/gu,
  japanese: /[\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]{1,4}/gu,
} as const

type Kind = keyof typeof KINDS

export interface Needle {
  readonly kind: Kind
  readonly text: string
}

/** The same number of each kind, cut at random positions; more from long texts, most of which are not indexed. */
export function needlesIn(all: readonly SearchedText[], count: number, seed: number): readonly Needle[] {
  const next = random(seed)
  const kinds = Object.keys(KINDS) as Kind[]
  const long = all.filter(({ text }) => text.length > 2000)
  const found = new Map<string, Needle>()
  for (let tries = 0; found.size < count && tries < count * 200; tries++) {
    const from = tries % 2 === 0 && long.length > 0 ? long : all
    const { text } = from[Math.floor(next() * from.length)] ?? { text: '' }
    const start = Math.floor(next() * text.length)
    const kind = kinds[tries % kinds.length] ?? 'word'
    const cut = text.slice(start, start + 4000).match(KINDS[kind]) ?? []
    // The first word may be cut in two.
    const needle = cut[1 + Math.floor(next() * (cut.length - 1))]
    if (needle !== undefined) found.set(needle, { kind, text: needle })
  }
  return [...found.values()]
}

interface NeedlePlaces extends Needle {
  /** Messages in which it must be found, and those in which it may be found. */
  readonly must: ReadonlySet<string>
  readonly may: ReadonlySet<string>
}

function findNeedle(all: readonly SearchedText[], needle: Needle): NeedlePlaces {
  const folded = foldedOf(needle.text)[needle.kind]
  const unattended = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}_])${needle.text}(?![\\p{L}\\p{N}\\p{M}_])`, 'iu')
  const may = all.filter((texts) => texts.folded[needle.kind].includes(folded))
  const must = needle.kind === 'japanese' ? may : may.filter(({ text }) => unattended.test(text))
  return { ...needle, may: new Set(may.map(({ id }) => id)), must: new Set(must.map(({ id }) => id)) }
}

/** Needles per query. */
const NEEDLES_PER_QUERY = 40

/**
 * Groups needles that never occur in the same message, so that one query can test them and each hit belongs to one
 * needle.
 */
function groupNeedles(places: readonly NeedlePlaces[]): readonly (readonly NeedlePlaces[])[] {
  const groups: { readonly places: NeedlePlaces[]; readonly ids: Set<string> }[] = []
  for (const place of places) {
    const fits = ({ places: there, ids }: (typeof groups)[number]): boolean =>
      there.length < NEEDLES_PER_QUERY && ![...place.may].some((id) => ids.has(id))
    const group = groups.find(fits)
    const { places: there, ids } = group ?? { places: [], ids: new Set<string>() }
    there.push(place)
    for (const id of place.may) ids.add(id)
    if (!group) groups.push({ places: there, ids })
  }
  return groups.map((group) => group.places)
}

/** A needle in more messages than this is too frequent to be a useful test. */
const MAX_HITS = 400

/** @returns the number of needles tested */
export async function expectFound(
  application: App,
  all: readonly SearchedText[],
  needles: readonly Needle[],
): Promise<number> {
  const places = needles.map((needle) => findNeedle(all, needle)).filter(({ may }) => may.size <= MAX_HITS)
  for (const group of groupNeedles(places)) {
    const found = await foundIds(application, group.map(({ text }) => `"${text}"`).join(' OR '))
    const missed = group.flatMap(({ text, must }) => [...must].filter((id) => !found.has(id)).map((id) => [text, id]))
    const may = new Set(group.flatMap((place) => [...place.may]))
    const wrong = [...found].filter((id) => !may.has(id))
    expect({ group: group.map(({ text }) => text), missed, wrong }).toMatchObject({ missed: [], wrong: [] })
  }
  return places.length
}

async function foundIds(application: App, query: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (let after: number | undefined; ; ) {
    const answer = await application.search(query, { limit: 500, ...(after !== undefined && { after }) })
    if (answer.kind === 'problem') throw new Error(answer.what)
    for (const { session_id, message_id } of answer.hits) {
      const id = `${session_id} ${message_id}`
      expect(found.has(id), `${id} is found twice`).toBe(false)
      found.add(id)
    }
    if (answer.next === undefined) return found
    after = answer.next
  }
}
