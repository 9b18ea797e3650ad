/** Decides which messages have a row: from their shape letters, and from the messages once they are loaded. */
import type { MessageItem } from '../../model/api/message.ts'
import { eventNameOf } from '../../model/classify.ts'

/** Consecutive messages of context share a row. */
const CONTEXT_CODES = codesOf('is')
/** Results are shown with their calls; headers, copies and events without text are hidden. */
const HIDDEN_CODES = codesOf('hrxdp')
/** Events without text that are shown nevertheless. */
const MARKER_EVENTS = /compact|roll|abort|interrupt|undo|error/

/** Steps between two texts: reasoning, tool calls, and events with text. */
const STEP_CODES = codesOf('cme')
/** Fewer consecutive steps have a row each. */
export const MIN_GROUPED_STEPS = 4

/** How a loaded message is laid out: in no row, as its shape letter says, as a step, or always in its own row. */
export type RowKind = 'hidden' | 'shown' | 'step' | 'separate'

const ROW_KINDS: readonly (RowKind | undefined)[] = [undefined, 'hidden', 'shown', 'step', 'separate']

/** How loaded messages are laid out, by offset. Overrides the shape letters. */
export class RowKinds {
  #codes = new Uint8Array(1024)

  set(offset: number, kind: RowKind): void {
    if (offset >= this.#codes.length) {
      const larger = new Uint8Array(2 * offset)
      larger.set(this.#codes)
      this.#codes = larger
    }
    this.#codes[offset] = ROW_KINDS.indexOf(kind)
  }

  get(offset: number): RowKind | undefined {
    return ROW_KINDS[this.#codes[offset] ?? 0]
  }

  clear(): void {
    this.#codes.fill(0)
  }
}

/** `everything`: also hidden messages, without groups. `words`: prompts, answers and summaries only. */
export type ConversationView = 'steps' | 'words' | 'everything'

/** Consecutive steps that share one row while the group is closed. */
export interface StepGroup {
  /** The offset of its first message. */
  readonly first: number
  /** The offset of its last message. */
  readonly last: number
  readonly steps: number
  readonly isOpen: boolean
}

export interface RowLayout {
  /** The offset of the first message of each row. */
  readonly rows: Int32Array
  /** By the offset of their first message. */
  readonly groups: ReadonlyMap<number, StepGroup>
}

export interface RowLayoutOptions {
  readonly view: ConversationView
  /** Whether the reader opened or closed a group; undefined if neither. */
  readonly isGroupOpen: (first: number) => boolean | undefined
  /** Leaves the last group of a growing session open. */
  readonly isLive: boolean
}

export function layOutRows(shape: string, kinds: RowKinds, options: RowLayoutOptions): RowLayout {
  const { view, isGroupOpen, isLive } = options
  const rows = new Int32Array(shape.length)
  const groups = new Map<number, StepGroup>()
  let count = 0
  let isContext = false
  /** The row of the first step since the last text; -1 without one. */
  let firstStep = -1
  const endSteps = (isLast: boolean): void => {
    const [from, steps] = [firstStep, count - firstStep]
    firstStep = -1
    if (from < 0 || steps < MIN_GROUPED_STEPS) return
    const first = rows[from] ?? 0
    const isOpen = isGroupOpen(first) ?? (isLast && isLive)
    groups.set(first, { first, last: rows[count - 1] ?? first, steps, isOpen })
    if (!isOpen) count = from + 1
  }
  for (let offset = 0; offset < shape.length; offset++) {
    const letter = shape.charCodeAt(offset)
    if (view === 'everything') {
      rows[count++] = offset
      continue
    }
    const kind = kinds.get(offset) ?? (HIDDEN_CODES[letter] ? 'hidden' : 'shown')
    if (kind === 'hidden') continue
    const isStep = kind === 'step' || (kind === 'shown' && STEP_CODES[letter] === 1)
    if (view === 'words' && (isStep || CONTEXT_CODES[letter])) continue
    if (!isStep) endSteps(false)
    const continuesRow = isContext && CONTEXT_CODES[letter]
    isContext = CONTEXT_CODES[letter] === 1
    if (continuesRow) continue
    if (isStep && firstStep < 0) firstStep = count
    rows[count++] = offset
  }
  endSteps(true)
  return { rows: rows.slice(0, count), groups }
}

/** The group that contains a message. */
export function groupOf(groups: ReadonlyMap<number, StepGroup>, offset: number): StepGroup | undefined {
  for (const group of groups.values()) if (group.first <= offset && offset <= group.last) return group
  return undefined
}

/** The tool calls among these messages. A failure is counted until it proves to be the result of a call. */
export function countCalls(shape: string, kinds: RowKinds, first: number, last: number): number {
  let calls = 0
  for (let offset = first; offset <= last; offset++)
    if (shape[offset] === 'c' || (shape[offset] === 'e' && kinds.get(offset) !== 'hidden')) calls++
  return calls
}

function codesOf(letters: string): Uint8Array {
  const codes = new Uint8Array(128)
  for (const letter of letters) codes[letter.charCodeAt(0)] = 1
  return codes
}

export function areSameRows(before: Int32Array, after: Int32Array): boolean {
  if (before.length !== after.length) return false
  for (let row = 0; row < before.length; row++) if (before[row] !== after[row]) return false
  return true
}

export function rowKindOf(message: MessageItem, letter: string): RowKind {
  switch (message.show) {
    case 'joined':
    case 'copy':
    case 'session':
      return 'hidden'
    case 'event': {
      const isMarker = message.flags.error === true || MARKER_EVENTS.test(eventNameOf(message))
      if (isMarker) return 'separate'
      return letter === 'x' ? 'hidden' : 'shown'
    }
    case 'reasoning':
    case 'tool':
      return 'step'
    default:
      return 'separate'
  }
}

/** The shape letter of a message that is newer than the loaded shape. */
export function shapeCodeOf({ show, flags, role, source_type, segments }: MessageItem): string {
  if (flags.replayed) return 'p'
  if (flags.duplicate) return 'd'
  if (flags.error) return 'e'
  if (source_type === 'session') return 'h'
  if (source_type === 'tool_call') return 'c'
  if (source_type === 'tool_result') return 'r'
  if (flags.injected) return 'i'
  if (role === 'user') return 'u'
  if (role === 'assistant') return 'a'
  if (role === 'system') return 's'
  return show === 'event' && segments.length === 0 ? 'x' : 'm'
}

const HEIGHT_BY_LETTER: { readonly [letter: string]: number } = { u: 120, a: 150, m: 34 }
const LINE_HEIGHT = 34

/** Estimated, in pixels. */
export const heightOf = (letter: string | undefined): number => HEIGHT_BY_LETTER[letter ?? ''] ?? LINE_HEIGHT

/** The row of a message, or the one before it. */
export const rowOfMessage = (rows: Int32Array, offset: number): number =>
  Math.max(0, countWhile(rows.length, (row) => (rows[row] ?? 0) <= offset) - 1)

/** The last of the sorted items that starts before a message, or -1. */
export const findLastBefore = (items: readonly { readonly offset: number }[], offset: number): number =>
  countWhile(items.length, (at) => (items[at]?.offset ?? 0) < offset) - 1

/** Binary search: the number of leading items that satisfy the predicate. */
export function countWhile(count: number, predicate: (at: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (predicate(middle)) low = middle + 1
    else high = middle
  }
  return low
}
