/** Names and ids that a server takes. The same word always becomes the same word, so that calls and results still meet. */

import { sha256 } from '../../lib/hash.ts'
import { trimCharacters } from '../../lib/text.ts'
import type { Profile } from '../profile.ts'

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
