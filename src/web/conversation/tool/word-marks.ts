/** Which words differ between a removed line and the added line beside it. */

export interface WordPart {
  readonly text: string
  readonly isChanged: boolean
}

/** Longer lines are compared at their ends only. */
const MAX_WORDS = 160
/** With less in common, the lines have nothing to do with each other. */
const MIN_COMMON_SHARE = 0.3
const WORDS = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu

/** Undefined if the lines have too little in common. */
export function markWords(
  before: string,
  after: string,
): { readonly before: readonly WordPart[]; readonly after: readonly WordPart[] } | undefined {
  const [old, fresh] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []]
  const { left, right } = commonWords(old, fresh)
  const common = old.reduce((sum, word, at) => sum + (left[at] && word.trim() !== '' ? word.length : 0), 0)
  const shorter = Math.min(before.replace(/\s/g, '').length, after.replace(/\s/g, '').length)
  if (common === 0 || common < shorter * MIN_COMMON_SHARE) return undefined
  return { before: toParts(old, left), after: toParts(fresh, right) }
}

/** The longest common subsequence, as flags of both lists. */
function commonWords(old: readonly string[], fresh: readonly string[]) {
  const left = new Uint8Array(old.length)
  const right = new Uint8Array(fresh.length)
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) {
    left[start] = right[start] = 1
    start++
  }
  let [oldEnd, freshEnd] = [old.length, fresh.length]
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    left[--oldEnd] = 1
    right[--freshEnd] = 1
  }
  const [rows, columns] = [oldEnd - start, freshEnd - start]
  if (rows > MAX_WORDS || columns > MAX_WORDS) return { left, right }
  const width = columns + 1
  const lengths = new Uint16Array((rows + 1) * width)
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] =
        old[start + row] === fresh[start + column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (old[start + row] === fresh[start + column]) {
      left[start + row] = right[start + column] = 1
      row++
      column++
    } else if (at(row + 1, column) >= at(row, column + 1)) row++
    else column++
  }
  return { left, right }
}

/** Neighbours of one kind are one part; a space between two changed words is changed with them. */
function toParts(words: readonly string[], isCommon: Uint8Array): readonly WordPart[] {
  const parts: { text: string; isChanged: boolean }[] = []
  for (const [at, word] of words.entries()) {
    const isBetween = word.trim() === '' && at > 0 && !isCommon[at - 1] && at + 1 < words.length && !isCommon[at + 1]
    const isChanged = !isCommon[at] || isBetween
    const last = parts.at(-1)
    if (last?.isChanged === isChanged) last.text += word
    else parts.push({ text: word, isChanged })
  }
  return parts
}
