/** The text of a message as an answer shows it, and the part of it that concerns a question. */
import { classify, reasoningTextOf, withoutInjectedText } from '../model/classify.ts'
import { removeEscapeSequences } from '../model/escape-sequences.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { qualifiedToolName, summarizeToolCall } from '../model/tool-summary.ts'

export interface Passage {
  /** `user`, `assistant`, `shell call`, `shell output` … */
  readonly label: string
  readonly text: string
}

/** Texts are examined for secrets before they are cut; what is far from the words asked for is not needed. */
const MAX_EXAMINED = 32_000

/** @param words what the part to show should contain, if the text is long */
export function passageOf(message: NormalizedMessage, words: readonly string[]): Passage | undefined {
  const found = textOf(message)
  if (!found) return undefined
  const text = removeEscapeSequences(found.text).trim()
  return text === '' ? undefined : { label: found.label, text: excerptAround(text, words, MAX_EXAMINED).text }
}

function textOf(message: NormalizedMessage): Passage | undefined {
  const { tool_call: call, segments } = message
  const { kind } = classify(message)
  if (call && kind === 'call') return { label: `${labelOfTool(call.name)} call`, text: callText(message) }
  if (call && kind === 'result') {
    const failed = call.status === 'error' || (call.exit_code ?? 0) !== 0 ? ' (failed)' : ''
    const output = call.output_json ? JSON.stringify(call.output_json) : (call.output ?? '')
    return { label: `${labelOfTool(call.name)} output${failed}`, text: output }
  }
  if (kind === 'reasoning') return { label: 'reasoning', text: reasoningTextOf(message) ?? '' }
  if (kind === 'event' || kind === 'session' || kind === 'instruction' || kind === 'context') return undefined
  const label = kind === 'prompt' ? 'user' : kind === 'summary' ? 'summary' : 'assistant'
  return { label, text: segments.map(withoutInjectedText).join('\n') }
}

const labelOfTool = (name: string | null): string => (name ?? 'tool').replaceAll(/[^\w.-]+/g, '_').slice(0, 40)

function callText({ tool_call: call }: NormalizedMessage): string {
  if (!call) return ''
  const summary = summarizeToolCall(call)
  const complete = call.input ?? call.arguments ?? (call.arguments_json ? JSON.stringify(call.arguments_json) : '')
  // The essence first: the command, the path. What it writes or sends may be long.
  return complete.length <= summary.length + 40 || complete === summary
    ? summary
    : `${qualifiedToolName(call)} ${summary}\n${complete}`
}

export interface Excerpt {
  readonly text: string
  readonly isCut: boolean
}

/** The part of at most `length` characters that contains most of the words, extended to lines where they are short. */
export function excerptAround(text: string, words: readonly string[], length: number): Excerpt {
  if (text.length <= length) return { text, isCut: false }
  const at = bestPlace(text, words, length)
  let start = at
  let end = Math.min(text.length, start + length)
  const line = text.lastIndexOf('\n', start) + 1
  if (start - line < length / 4 && start > 0) {
    start = line
    end = Math.min(text.length, start + length)
  }
  const lastLine = text.lastIndexOf('\n', end)
  if (end < text.length && lastLine > start && end - lastLine < length / 4) end = lastLine
  start = alignToCharacter(text, start)
  end = alignToCharacter(text, end)
  return { text: `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`, isCut: true }
}

const alignToCharacter = (text: string, at: number): number =>
  /[\udc00-\udfff]/.test(text.charAt(at)) && at > 0 ? at - 1 : at

const MAX_PLACES = 50

/** The start of the window in which most different words are. */
function bestPlace(text: string, words: readonly string[], length: number): number {
  const folded = text.length <= 1_000_000 ? text.toLowerCase() : text
  const places: { readonly at: number; readonly word: number }[] = []
  for (const [word, one] of words.entries()) {
    let from = 0
    for (let n = 0; n < MAX_PLACES; n++) {
      const at = folded.indexOf(one, from)
      if (at < 0) break
      places.push({ at, word })
      from = at + one.length
    }
  }
  places.sort((a, b) => a.at - b.at)
  const counts = new Map<number, number>()
  let best = { start: 0, size: 0 }
  let first = 0
  for (const { at, word } of places) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
    for (let head = places[first]; head && at - head.at > length * 0.7; head = places[++first]) {
      const left = (counts.get(head.word) ?? 1) - 1
      if (left === 0) counts.delete(head.word)
      else counts.set(head.word, left)
    }
    if (counts.size > best.size) best = { start: places[first]?.at ?? 0, size: counts.size }
  }
  return Math.max(0, best.start - Math.floor(length * 0.15))
}
