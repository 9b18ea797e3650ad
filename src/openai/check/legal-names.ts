/** Fields, names and ids that a server takes. Equal names always become equal names, so that results still match their calls. */

import { sha256 } from '../../lib/hash.ts'
import { trimCharacters } from '../../lib/text.ts'
import type { Fields } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Profile } from '../profile.ts'
import { OMITTED_PHRASE, type ReportProblem } from './problem.ts'

export function toLegalCallId(id: string, profile: Profile): string {
  return profile.callIds.legal.test(id) ? id : makeCallId(id, profile)
}

/** @param seed whatever tells this call from all others */
export function makeCallId(seed: string, { callIds }: Profile): string {
  return callIds.prefix + sha256(seed).slice(0, callIds.digits)
}

/** Who sends calls with mended names must give the tools the same names: a changed one ends with a piece of its hash. */
export function legalToolName(name: string, profile: Profile): string {
  if (profile.toolNames.test(name)) return name
  const clean = cleanName(name).slice(0, 57)
  return `${clean === '' ? 'tool' : clean}_${sha256(name).slice(0, 6)}`
}

/** The name of a speaker, as far as it can be written; empty where nothing is left of it. */
export const toLegalSpeakerName = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : cleanName(name).slice(0, 64)

const cleanName = (name: string): string => trimCharacters(name.replace(/[^A-Za-z0-9_-]+/g, '_'), /_/)

export const unknownKeyPhrase = ({ label }: Profile): Phrase =>
  phrase(`${label} refuses a field that it does not know.`, `${label} は知らないフィールドを受け付けません。`)

/** The object without fields that the server does not know, or the object itself where it takes or passes over them all. */
export function pickKnownFields(
  object: Fields,
  known: readonly string[],
  profile: Profile,
  report: ReportProblem,
): Fields {
  const others = Object.keys(object).filter((key) => !known.includes(key) && object[key] !== undefined)
  if (profile.unknownKeys === 'ignored' || others.length === 0) return object
  for (const key of others) report(`.${key}`, 'unknown_key', unknownKeyPhrase(profile), OMITTED_PHRASE)
  return Object.fromEntries(Object.entries(object).filter(([key]) => known.includes(key)))
}
