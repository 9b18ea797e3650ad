/** What is said in a conversation, whoever tells it: texts in pieces, and calls with their results. */
import type { Agent, Source } from '../../src/agents/agent.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { Lookout } from '../../src/model/replay/outlook.ts'
import { replay } from '../../src/model/replay/replay.ts'
import { type Call, callsIn, textsIn, wordsIn } from '../../src/model/replay/step.ts'

export interface Said {
  /** Joining texts with blank lines does not change them. */
  readonly texts: readonly string[]
  readonly calls: readonly Asked[]
}

/** What was asked, and what came of it: nothing where nobody answered. */
interface Asked {
  readonly asked: unknown
  readonly output: string | null
}

export async function saidIn(agent: Agent, source: Source, session: string | undefined): Promise<Said> {
  const messages: NormalizedMessage[] = []
  for await (const batch of agent.read(source, { includeSource: true, includePrivate: true }))
    for (const one of batch)
      if (one.kind === 'message' && (session === undefined || one.message.raw.session_id === session))
        messages.push(one.message)
  const lookout = new Lookout()
  for (const message of messages) lookout.take(message)
  const texts: string[] = []
  const calls: Asked[] = []
  for await (const one of replay(listed(messages), lookout.outlook())) {
    if (one.kind === 'prompt' || one.kind === 'instruction') texts.push(...textsIn(one.message))
    else if (one.kind === 'orphan') texts.push(one.result.tool.output ?? '')
    else if (one.kind === 'answer') {
      texts.push(...wordsIn(one).flatMap(textsIn))
      calls.push(...callsIn(one).flatMap(callOf))
    }
  }
  return { texts: texts.flatMap(pieces), calls }
}

const pieces = (text: string): readonly string[] =>
  text
    .split(/\n\n+/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')

/** Of a call that the server ran nobody else can tell. */
function callOf({ tool, result, isServed }: Call): readonly Asked[] {
  if (isServed) return []
  const given = tool.input ?? tool.arguments ?? ''
  return [{ asked: given === '' ? {} : parsed(given), output: result?.tool.output ?? null }]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/**
 * What was said and is not told, and what is told and nobody said. First what is the same to the letter is taken from both;
 * only of the rest a mend that the writer reported may explain a difference.
 * @param repairs what the writer says that it mended
 */
export function differences(wanted: Said, found: Said, repairs: readonly string[]): Differences {
  const has = (word: string): boolean => repairs.some((what) => what.includes(word))
  const texts = pairOff(wanted.texts, found.texts, [
    (text) => text,
    (text) => (has('without its call') ? text.replace(FRAME, '').trim() : text),
  ])
  const calls = pairOff(wanted.calls.map(keyOf), found.calls, [
    keyOf,
    (call) => keyOf({ ...call, asked: unwrapped(call.asked) }),
    (call) => keyOf(unanswered(call)),
    (call) => keyOf({ ...unanswered(call), asked: unwrapped(call.asked) }),
  ])
  // An example ends with calls: what came of them is left out, and counts as missing.
  const isUnheard = (call: Asked): boolean =>
    has('left out') &&
    unanswered(call).output === null &&
    [call.asked, unwrapped(call.asked)].some((one) => calls.missing.some(asks(one)))
  const isMade = (text: string): boolean => NOTE.test(text) || (MADE.has(text) && has(text)) || FRAME_ONLY.test(text)
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

/** Each reading of what was found takes what it equals, the strictest first. */
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

const keyOf = ({ asked, output }: Asked): string => JSON.stringify([asked, output])

const asks =
  (asked: unknown) =>
  (key: string): boolean =>
    JSON.stringify((JSON.parse(key) as readonly unknown[])[0]) === JSON.stringify(asked)

/** A result without its call, in words. */
const FRAME = /^\[tool result [^\]]*\]\n/
const FRAME_ONLY = /^\[tool result [^\]]*\]$/

/** Stands for what a form has no place for. */
const NOTE = /^\[[\w.]+(?:: .*)?\]$/

/** What a form needs where nobody said anything. */
const MADE: ReadonlySet<string> = new Set([
  '(start of imported conversation)',
  '(the conversation goes on)',
  '(no response recorded)',
  'Empty prompt',
])

/** What forms say of a call that nobody answered. */
const NO_RESULT: ReadonlySet<string | null> = new Set(['aborted', 'Tool use was cancelled by the user'])

const unanswered = (call: Asked): Asked => (NO_RESULT.has(call.output) ? { ...call, output: null } : call)

/** A form that takes only objects wraps what is none. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const [[key, inner] = [], ...more] = Object.entries(value) as [string, unknown][]
  return more.length === 0 && (key === 'input' || key === '_raw') && typeof inner === 'string' ? parsed(inner) : value
}

async function* listed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
