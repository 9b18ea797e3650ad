/** Parses what users type into forms. */
import { parseTurnRange } from '../../model/turn.ts'

export const isTurnRange = (text: string): boolean => text === '' || parseTurnRange(text) !== undefined

const MAX_TAGS = 50
const MAX_TAG_LENGTH = 60

/** Separated by commas, also Japanese ones; without duplicates. */
export function parseTags(text: string): readonly string[] {
  const tags = text.split(/[,、，]/).map((tag) => tag.trim().slice(0, MAX_TAG_LENGTH))
  return [...new Set(tags.filter((tag) => tag !== ''))].slice(0, MAX_TAGS)
}

/** `32000`, `32k`, `1.5M`. */
export function parseTokenCount(text: string): number | undefined {
  const [, count, unit] =
    /^\s*(\d+(?:\.\d+)?)\s*([km]?)\s*$/i.exec(text.normalize('NFKC').replaceAll(/[,_]/g, '')) ?? []
  if (count === undefined) return undefined
  return Math.round(Number(count) * ({ k: 1e3, m: 1e6 }[unit?.toLowerCase() ?? ''] ?? 1))
}

export const isTokenLimit = (text: string): boolean => text.trim() === '' || parseTokenCount(text) !== undefined

export const isAbsolutePathOrEmpty = (text: string): boolean =>
  text.trim() === '' || /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(text.trim())
