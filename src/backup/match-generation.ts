/** Decides which kept generation a row goes on with. Pure: entries are known by their identities alone. */

/** A generation as far as the decision needs it. */
export interface EntryLine {
  readonly identities: readonly string[]
  /** How many of them the row lacked at its front when it was last seen. */
  readonly skip: number
  /** The row that is looked at held this generation until now. */
  readonly isHere: boolean
  /** Another row holds it. */
  readonly isElsewhere: boolean
}

export type GenerationMatch<L> =
  /** Nothing that is kept goes on here. */
  | { readonly kind: 'begin' }
  /** The row's first entry is number `skip + 1` of this generation; what it has beyond the generation's end is new. */
  | { readonly kind: 'same'; readonly line: L; readonly skip: number }
  /** As before up to number `skip + shared`, and from there on something else, or nothing. */
  | { readonly kind: 'branch'; readonly line: L; readonly skip: number; readonly shared: number }

/** @param lines all generations of this conversation, the latest first */
export function matchGeneration<L extends EntryLine>(row: readonly string[], lines: readonly L[]): GenerationMatch<L> {
  if (row.length === 0) return matchEmptyRow(lines)
  const borders = prefixBorders(row)
  const next = firstBest(
    lines.flatMap((line) => {
      const matched = continuesLine(row, borders, line)
      return matched === undefined ? [] : [{ line, matched }]
    }),
    (one) => one.matched * 2 + (one.line.isHere ? 1 : 0),
  )
  if (next) return { kind: 'same', line: next.line, skip: next.line.identities.length - next.matched }
  const branched = firstBest(
    lines.flatMap((line) => {
      const shared = sharedBeginning(row, line)
      return shared === undefined ? [] : [{ line, ...shared }]
    }),
    (one) => (one.line.isHere ? Number.MAX_SAFE_INTEGER : one.shared),
  )
  if (!branched) return { kind: 'begin' }
  const isOlderCopy = branched.line.isElsewhere && branched.shared === row.length
  return isOlderCopy ? { kind: 'same', line: branched.line, skip: branched.skip } : { kind: 'branch', ...branched }
}

/** A row without entries says nothing of its own: it belongs to what was there. */
function matchEmptyRow<L extends EntryLine>(lines: readonly L[]): GenerationMatch<L> {
  const line = lines.find((one) => one.isHere) ?? lines[0]
  return line ? { kind: 'same', line, skip: line.identities.length } : { kind: 'begin' }
}

/**
 * How many entries at a generation's end are the row's beginning; nothing when it does not go on. Entries may have been
 * lost at the front, but only if the row does not still begin as the generation does.
 */
function continuesLine(row: readonly string[], borders: readonly number[], line: EntryLine): number | undefined {
  const stored = line.identities
  if (stored.length === 0) return 0
  const overlap = findOverlap(stored, row, borders)
  if (overlap === stored.length) return overlap
  return overlap > commonBeginning(row, stored, 0) ? overlap : undefined
}

/** Where a row began when it was last seen is a beginning too. */
export function sharedBeginning(row: readonly string[], line: EntryLine): { skip: number; shared: number } | undefined {
  const fromStart = { skip: 0, shared: commonBeginning(row, line.identities, 0) }
  const fromSkip = { skip: line.skip, shared: commonBeginning(row, line.identities, line.skip) }
  const longer = fromSkip.shared > fromStart.shared ? fromSkip : fromStart
  return longer.shared > 0 ? longer : undefined
}

function commonBeginning(row: readonly string[], stored: readonly string[], skip: number): number {
  let length = 0
  while (length < row.length && skip + length < stored.length && row[length] === stored[skip + length]) length++
  return length
}

/** The longest end of `stored` that `row` begins with, in linear time (Knuth, Morris, Pratt). */
function findOverlap(stored: readonly string[], row: readonly string[], borders: readonly number[]): number {
  let matched = 0
  for (const identity of stored) {
    while (matched > 0 && (matched === row.length || row[matched] !== identity)) matched = borders[matched - 1] ?? 0
    if (row[matched] === identity) matched++
  }
  return matched
}

/** For each beginning of `row`, the length of its longest proper end that is a beginning too. */
function prefixBorders(row: readonly string[]): readonly number[] {
  const borders = [0]
  let length = 0
  for (let at = 1; at < row.length; at++) {
    while (length > 0 && row[at] !== row[length]) length = borders[length - 1] ?? 0
    if (row[at] === row[length]) length++
    borders.push(length)
  }
  return borders
}

/** The first of those that score highest. */
function firstBest<T>(candidates: readonly T[], score: (candidate: T) => number): T | undefined {
  let found: T | undefined
  for (const candidate of candidates) if (found === undefined || score(candidate) > score(found)) found = candidate
  return found
}
