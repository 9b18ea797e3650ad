/** What people type to name turns, tags and sizes, read once. */
import { parseTurnRange } from '../../model/turn.ts'

/** Empty for all of them. */
export const isTurnRange = (text: string): boolean => text === '' || parseTurnRange(text) !== undefined

const MAX_TAGS = 50
const MAX_TAG_LENGTH = 60

/** Between commas, also those of Japanese. Each once. */
export function parseTags(text: string): readonly string[] {
  const tags = text.split(/[,、，]/).map((tag) => tag.trim().slice(0, MAX_TAG_LENGTH))
  return [...new Set(tags.filter((tag) => tag !== ''))].slice(0, MAX_TAGS)
}

/** Tokens: `32000`, `32k`, `1.5M`; nothing where it is no number. */
export function parseTokenCount(text: string): number | undefined {
  const [, count, unit] =
    /^\s*(\d+(?:\.\d+)?)\s*([km]?)\s*$/i.exec(text.normalize('NFKC').replaceAll(/[,_]/g, '')) ?? []
  if (count === undefined) return undefined
  return Math.round(Number(count) * ({ k: 1e3, m: 1e6 }[unit?.toLowerCase() ?? ''] ?? 1))
}

/** Empty for no limit. */
export const isTokenLimit = (text: string): boolean => text.trim() === '' || parseTokenCount(text) !== undefined

/** A whole path, of this system or of Windows; or nothing, for the conversation's own. */
export const isAbsolutePathOrEmpty = (text: string): boolean =>
  text.trim() === '' || /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(text.trim())
