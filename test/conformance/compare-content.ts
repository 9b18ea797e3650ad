/** Content of a conversation independent of its format: texts in pieces, and calls with their results. */
import type { Agent, Source } from '../../src/agents/agent.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { replayMessages } from '../../src/model/replay/replay.ts'
import { callsOfAnswer, type ReplayCall, textMessagesOf, textsOfMessage } from '../../src/model/replay/step.ts'
import { SessionFactsCollector } from '../../src/model/session-facts.ts'

export interface ConversationContent {
  /** Split at blank lines, so that joining texts changes nothing. */
  readonly texts: readonly string[]
  readonly calls: readonly ContentCall[]
}

/** A call with its result; undefined if it has none. */
interface ContentCall {
  readonly asked: unknown
  readonly output: string | null
}

export async function readContent(
  agent: Agent,
  source: Source,
  session: string | undefined,
): Promise<ConversationContent> {
  const messages: NormalizedMessage[] = []
  for await (const batch of agent.read(source, { includeSource: true, includePrivate: true }))
    for (const one of batch)
      if (one.kind === 'message' && (session === undefined || one.message.raw.session_id === session))
        messages.push(one.message)
  const lookout = new SessionFactsCollector()
  for (const message of messages) lookout.add(message)
  const texts: string[] = []
  const calls: ContentCall[] = []
  for await (const one of replayMessages(toAsync(messages), lookout.facts())) {
    if (one.kind === 'prompt' || one.kind === 'instruction') texts.push(...textsOfMessage(one.message))
    else if (one.kind === 'orphan') texts.push(one.result.tool.output ?? '')
    else if (one.kind === 'answer') {
      texts.push(...textMessagesOf(one).flatMap(textsOfMessage))
      calls.push(...callsOfAnswer(one).flatMap(callOf))
    }
  }
  return { texts: texts.flatMap(pieces), calls }
}

const pieces = (text: string): readonly string[] =>
  text
    .split(/\n\n+/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')

/** Calls executed by the server have no equivalent elsewhere. */
function callOf({ tool, result, isServed }: ReplayCall): readonly ContentCall[] {
  if (isServed) return []
  const given = tool.input ?? tool.arguments ?? ''
  return [{ asked: given === '' ? {} : parseJson(given), output: result?.tool.output ?? null }]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

export interface ReportedRepair {
  readonly code: string
  readonly what: string
}

const CUTS = new Set(['oldest_left_out', 'unread_left_out', 'after_last_answer'])

/** Whether the writer reported that it omitted part of the conversation. */
export const isCut = (repairs: readonly ReportedRepair[]): boolean => repairs.some(({ code }) => CUTS.has(code))

/**
 * Texts and calls that are missing or added. Exact matches are removed first; only the rest may be explained by a
 * reported repair.
 * @param repairs repairs that the writer reported
 */
export function differences(
  wanted: ConversationContent,
  found: ConversationContent,
  repairs: readonly ReportedRepair[],
): Differences {
  const isReported = (code: string): boolean => repairs.some((repair) => repair.code === code)
  const texts = pairOff(wanted.texts, found.texts, [
    (text) => text,
    (text) => (isReported('result_in_words') ? text.replace(FRAME, '').trim() : text),
  ])
  const calls = pairOff(wanted.calls.map(keyOf), found.calls, [
    keyOf,
    (call) => keyOf({ ...call, asked: unwrapText(call.asked) }),
    (call) => keyOf(unanswered(call)),
    (call) => keyOf({ ...unanswered(call), asked: unwrapText(call.asked) }),
  ])
  // An example may end with calls, whose results are then counted as missing.
  const isUnheard = (call: ContentCall): boolean =>
    isCut(repairs) &&
    unanswered(call).output === null &&
    [call.asked, unwrapText(call.asked)].some((one) => calls.missing.some(asks(one)))
  const isMade = (text: string): boolean =>
    NOTE.test(text) ||
    (GENERATED_TEXTS.has(text) && repairs.some(({ what }) => what.includes(text))) ||
    FRAME_ONLY.test(text)
  return {
    missing: [...texts.missing, ...calls.missing],
    added: [
      ...texts.added.filter((text) => !isMade(text)),
      ...calls.added.filter((call) => !isUnheard(call)).map(keyOf),
    ],
  }
}

export interface Differences {
  readonly missing: readonly string[]
  readonly added: readonly string[]
}

/** Pairs equal elements, comparing by the strictest criterion first. */
function pairOff<T>(
  wanted: readonly string[],
  found: readonly T[],
  readings: readonly ((one: T) => string)[],
): { readonly missing: readonly string[]; readonly added: readonly T[] } {
  const open = new Map<string, number>()
  for (const one of wanted) open.set(one, (open.get(one) ?? 0) + 1)
  let added = found
  for (const reading of readings)
    added = added.filter((one) => {
      const key = reading(one)
      const left = open.get(key) ?? 0
      if (left > 0) open.set(key, left - 1)
      return left === 0
    })
  return { missing: [...open].flatMap(([one, left]) => Array<string>(left).fill(one)), added }
}

const keyOf = ({ asked, output }: ContentCall): string => JSON.stringify([asked, output])

const asks =
  (asked: unknown) =>
  (key: string): boolean =>
    JSON.stringify((JSON.parse(key) as readonly unknown[])[0]) === JSON.stringify(asked)

/** A result without its call, as text. */
const FRAME = /^\[tool result [^\]]*\]\n/
const FRAME_ONLY = /^\[tool result [^\]]*\]$/

/** Replaces something that a format cannot represent. */
const NOTE = /^\[[\w.]+(?:: .*)?\]$/

/** Texts that formats require and writers insert. */
const GENERATED_TEXTS: ReadonlySet<string> = new Set([
  '(start of imported conversation)',
  '(the conversation goes on)',
  '(no response recorded)',
  'Empty prompt',
])

/** Results that formats use for unanswered calls. */
const NO_RESULT: ReadonlySet<string | null> = new Set(['aborted', 'Tool use was cancelled by the user'])

const unanswered = (call: ContentCall): ContentCall => (NO_RESULT.has(call.output) ? { ...call, output: null } : call)

/** Formats that allow only objects wrap other values. */
function unwrapText(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const [[key, inner] = [], ...more] = Object.entries(value) as [string, unknown][]
  return more.length === 0 && (key === 'input' || key === '_raw') && typeof inner === 'string'
    ? parseJson(inner)
    : value
}

async function* toAsync<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
