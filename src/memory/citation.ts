/** Citations: `agent/session#turn`, with the time and the line of the log, in a form that tools and the page resolve. */

import type { App, SessionEntry } from '../app.ts'
import { countSessionsFrom } from '../index/turn-rows.ts'
import { toWellFormed } from '../lib/text.ts'
import type { SessionId } from '../model/ids.ts'
import { asDataLine } from './foreign-text.ts'

/** Enough to tell apart what one person has; longer where it is not. */
const SHORT_LENGTHS = [8, 13, 18]

/** `codex/019c22d1`: as short as is unique today. */
export function citeSession(app: App, id: SessionId): string {
  const colon = id.indexOf(':')
  const [agent, native] = [id.slice(0, colon), id.slice(colon + 1)]
  const short = SHORT_LENGTHS.map((length) => native.slice(0, length)).find(
    (start) =>
      start.length < native.length &&
      /^[\w.-]+$/.test(start) &&
      app.index.read((db) => countSessionsFrom(db, `${agent}:${start}`), 2) === 1,
  )
  return `${agent}/${short ?? encodeId(native)}`
}

/** An id comes from a log, and must not contain text that looks like ours. */
const encodeId = (native: string): string =>
  /^[\w.~-]+$/.test(native) ? native : encodeURIComponent(toWellFormed(native)).slice(0, MAX_ID)

const MAX_ID = 300

/** The id as commands take it, safe to print. */
export const printableId = (app: App, session: SessionEntry): string =>
  /^[\w.:~-]+$/.test(session.id) ? session.id : citeSession(app, session.id)

export interface Citation {
  /** As `findSessions` takes it: an id, or the beginning of one. */
  readonly name: string
  readonly turn?: number
}

/** Accepts citations, ids as other commands print them, and both with `#turn`. */
export function parseCitation(text: string): Citation {
  const [, name = '', turn] = /^(.*?)(?:#(\d{1,9}))?$/s.exec(text.trim()) ?? []
  const slash = name.indexOf('/')
  const isCited = slash > 0 && !name.slice(0, slash).includes(':')
  return {
    name: isCited ? `${name.slice(0, slash)}:${decodeId(name.slice(slash + 1))}` : name,
    ...(turn !== undefined && { turn: Number(turn) }),
  }
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `2026-11-03T14:02Z`. */
export const citeTime = (at: string | null): string => (at === null ? 'no date' : `${at.slice(0, 16)}Z`)

/** Where the log is. The home directory is `~`, so that no user name is in it. */
export function citeFile({ path, key, kept, gone }: SessionEntry, home: string): string {
  const place = `${asDataLine(withoutHome(path, home))}${key === undefined ? '' : ` (${asDataLine(key)})`}`
  return gone ? `${place} [source gone${kept ? ', kept copy' : ''}]` : kept ? `${place} [kept copy]` : place
}

export function withoutHome(text: string, home: string): string {
  if (home.length < 2) return text
  return text.replaceAll(new RegExp(`${escapeForPattern(home)}(?![\\w.-])`, 'g'), '~')
}

const escapeForPattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
