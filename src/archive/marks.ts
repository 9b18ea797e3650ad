/** What the user says about sessions: a name, a star, tags, a note. It is precious: no log and no index holds it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { folded } from '../lib/text.ts'
import type { Instant, SessionId } from '../model/ids.ts'
import type { Mark, MarkChange, MarkFilter } from './marks/record.ts'
import { MARKS, MarkTables } from './marks/tables.ts'
import { explained, openToReadAtLeast } from './open.ts'

/**
 * Throws an AppError when there are marks and they cannot be used.
 * @param directory the data directory; it and the file in it are made with the first mark
 */
export function openMarks(directory: string): Marks {
  return new Marks(join(directory, 'marks.sqlite3'))
}

/** Every door that writes does so at once or not at all, and waits for other processes that write. */
export class Marks {
  readonly path: string
  #open: MarkTables | undefined
  #close: (() => void) | undefined
  #read: { readonly version: string; readonly marks: readonly Mark[] } | undefined
  #writes = 0

  constructor(path: string) {
    this.path = path
    if (existsSync(path)) this.#tables()
  }

  /** What is marked last comes first. */
  list(filter: MarkFilter = {}): readonly Mark[] {
    if (!this.#isThere()) return []
    const all = this.#in((tables) => this.#all(tables), 'deferred')
    return all.filter((mark) => fits(mark, filter))
  }

  get(session: SessionId): Mark | undefined {
    return this.#isThere() ? this.#in((tables) => tables.one(session), 'deferred') : undefined
  }

  /** The mark as it is now; nothing when nothing is left of it. */
  change(session: SessionId, change: MarkChange, at: Instant): Mark | undefined {
    return this.#in((tables) => {
      const next = changed(tables.one(session) ?? blank(session, at), change, at)
      if (isBlank(next)) tables.remove(session)
      else tables.put(next)
      return tables.one(session)
    }, 'immediate')
  }

  /** Whether there was one. */
  clear(session: SessionId): boolean {
    return this.#isThere() && this.#in((tables) => tables.remove(session), 'immediate')
  }

  close(): void {
    this.#close?.()
    this.#open = undefined
    this.#close = undefined
  }

  /** Every search asks for them: they are read again when somebody has written. */
  #all(tables: MarkTables): readonly Mark[] {
    const version = `${tables.version()} ${this.#writes}`
    if (this.#read?.version !== version) this.#read = { version, marks: tables.all() }
    return this.#read.marks
  }

  #isThere(): boolean {
    return this.#open !== undefined || existsSync(this.path)
  }

  #tables(): MarkTables {
    if (this.#open) return this.#open
    const { db, close } = openToReadAtLeast(this.path, MARKS)
    this.#open = new MarkTables(db)
    this.#close = close
    return this.#open
  }

  #in<T>(work: (tables: MarkTables) => T, how: 'deferred' | 'immediate'): T {
    const tables = this.#tables()
    if (how === 'immediate') this.#writes++
    return explained(this.path, () => tables.db.transaction(() => work(tables))[how]())
  }
}

const blank = (session: SessionId, at: Instant): Mark => ({
  session,
  name: null,
  starred: false,
  tags: [],
  note: null,
  made_at: at,
  changed_at: at,
})

const isBlank = ({ name, starred, tags, note }: Mark): boolean =>
  name === null && !starred && tags.length === 0 && note === null

function changed(mark: Mark, change: MarkChange, at: Instant): Mark {
  const { name = mark.name, starred = mark.starred, note = mark.note, tag = [], untag = [] } = change
  const without = new Set(untag.map((one) => folded(oneLine(one))))
  const tags = new Map<string, string>()
  for (const one of [...mark.tags, ...tag].map(oneLine)) {
    const key = folded(one)
    if (key !== '' && !without.has(key) && !tags.has(key)) tags.set(key, one)
  }
  return {
    ...mark,
    name: name === null ? null : oneLine(name) || null,
    starred,
    tags: [...tags.values()].sort(),
    note: note === null ? null : note.trim() || null,
    changed_at: at,
  }
}

const oneLine = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

function fits(mark: Mark, { starred, tag, text }: MarkFilter): boolean {
  if (starred !== undefined && mark.starred !== starred) return false
  if (tag !== undefined && !mark.tags.some((one) => folded(one) === folded(oneLine(tag)))) return false
  if (text === undefined) return true
  return [mark.name ?? '', mark.note ?? '', ...mark.tags].some((one) => folded(one).includes(folded(text)))
}
