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

/** @param seed unique for each call */
export function makeCallId(seed: string, { callIds }: Profile): string {
  return callIds.prefix + sha256(seed).slice(0, callIds.digits)
}

/**
 * A changed name ends with part of its hash. Apply the function to tool definitions as well, so that calls match them.
 */
export function legalToolName(name: string, profile: Profile): string {
  if (profile.toolNames.test(name)) return name
  const clean = cleanName(name).slice(0, 57)
  return `${clean === '' ? 'tool' : clean}_${sha256(name).slice(0, 6)}`
}

/** The valid characters of a speaker's name; may be empty. */
export const toLegalSpeakerName = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : cleanName(name).slice(0, 64)

const cleanName = (name: string): string => trimCharacters(name.replace(/[^A-Za-z0-9_-]+/g, '_'), /_/)

export const unknownKeyPhrase = ({ label }: Profile): Phrase =>
  phrase(`${label} rejects this unknown field.`, `${label} は知らないフィールドを受け付けません。`)

/** Removes fields that the server rejects. Returns the same object if there are none. */
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
