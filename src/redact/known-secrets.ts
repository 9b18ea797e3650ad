/** The secrets of a session, found wherever they stand: also alone, encoded, or as part of another text. */
import type { RedactionSpan } from './find/span.ts'
import { TriggerTable } from './find/trigger-table.ts'

/** A place of a known secret. */
export interface KnownSpan extends RedactionSpan {
  /** The secret as it was found first, which may be written differently here. */
  readonly secret: string
}

interface Spelling {
  readonly text: string
  readonly secret: string
  readonly kind: string
  /** Could be part of a longer word. */
  readonly isWord: boolean
}

/** Shorter ones may be ordinary words, and are replaced only where their context gives them away. */
const MIN_LENGTH = 6
const MIN_LETTERS = 8
const MIN_LINE = 40
const MIN_ENCODED = 8
/** Words and numbers shorter than this are replaced only between other signs. */
const MIN_INSIDE_WORD = 16

export class KnownSecrets {
  readonly #kinds = new Map<string, string>()
  /** Created with the first secret: it is large. */
  #spellings: TriggerTable<Spelling> | undefined

  /** Whether the secret can be found by itself. */
  static isDistinctive(secret: string): boolean {
    if (secret.length < MIN_LENGTH || /^\d{1,7}$/.test(secret)) return false
    return !/^\p{L}+$/u.test(secret) || secret.length >= MIN_LETTERS
  }

  get size(): number {
    return this.#kinds.size
  }

  add(secret: string, kind: string): void {
    if (this.#kinds.has(secret) || !KnownSecrets.isDistinctive(secret)) return
    this.#kinds.set(secret, kind)
    this.#spellings ??= new TriggerTable()
    const spellings = this.#spellings
    const add = (text: string, isWord: boolean): void => spellings.add(text, { text, secret, kind, isWord })
    for (const text of spellingsOf(secret)) add(text, text.length < MIN_INSIDE_WORD)
    for (const text of [...base64Of(secret), Buffer.from(secret).toString('hex')]) add(text, false)
    for (const line of secret.split(/\r?\n|\\n/))
      if (line.length >= MIN_LINE && line !== secret && !line.startsWith('-----')) this.add(line, kind)
  }

  find(text: string): readonly KnownSpan[] {
    if (!this.#spellings) return []
    const spans: KnownSpan[] = []
    this.#spellings.scan(text, (spellings, at) => {
      for (const { text: spelling, secret, kind, isWord } of spellings) {
        if (!text.startsWith(spelling, at)) continue
        if (isWord && (continuesWord(text, at - 1) || continuesWord(text, at + spelling.length))) continue
        spans.push({ start: at, end: at + spelling.length, kind, secret })
      }
    })
    return spans
  }
}

/** Its letter does not continue a word: a line end, or the end of a colour. */
const ESCAPE_BEFORE = /(?:\\[nrtbf]|(?:\x1b|\\u001b)\[[\d;]{0,16}[A-Za-z])$/
const MAX_ESCAPE = 24

const continuesWord = (text: string, at: number): boolean =>
  /[A-Za-z0-9]/.test(text[at] ?? '') && !ESCAPE_BEFORE.test(text.slice(Math.max(0, at + 1 - MAX_ESCAPE), at + 1))

/** The ways in which other texts may contain it. */
function spellingsOf(secret: string): ReadonlySet<string> {
  const spellings = new Set([secret])
  const json = JSON.stringify(secret).slice(1, -1)
  for (const one of [
    json,
    JSON.stringify(json).slice(1, -1),
    encodeUri(secret),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  ])
    if (one.length >= MIN_LENGTH) spellings.add(one)
  return spellings
}

/** Base64 of a text depends on how many bytes come before it. */
function base64Of(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from(`${' '.repeat(before)}${secret}`)
      .toString('base64')
      .replace(/=+$/, '')
    const core = encoded.slice(before === 0 ? 0 : before + 1, encoded.length - 1)
    return core.length >= MIN_ENCODED ? [core, core.replaceAll('+', '-').replaceAll('/', '_')] : []
  })
}

function encodeUri(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return text
  }
}
