/** What is said in a conversation, whoever tells it: texts in pieces, and calls with their results. */
import type { Agent, Source } from '../../src/agents/agent.ts'
import { parseStructure } from '../../src/lib/object.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import { Lookout } from '../../src/model/replay/outlook.ts'
import { replay } from '../../src/model/replay/replay.ts'
import { type Call, callsIn, textsIn, wordsIn } from '../../src/model/replay/step.ts'

export interface Said {
  /** Sorted. Joining texts with blank lines does not change them. */
  readonly texts: readonly string[]
  /** Sorted: what was asked, and what came of it. */
  readonly calls: readonly string[]
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
  const calls: string[] = []
  for await (const one of replay(listed(messages), lookout.outlook())) {
    if (one.kind === 'prompt' || one.kind === 'instruction') texts.push(...textsIn(one.message))
    else if (one.kind === 'orphan') texts.push(one.result.tool.output ?? '')
    else if (one.kind === 'answer') {
      texts.push(...wordsIn(one).flatMap(textsIn))
      calls.push(...callsIn(one).flatMap(callOf))
    }
  }
  return { texts: texts.flatMap(pieces).sort(), calls: calls.sort() }
}

/** Notes that stand for what a form has no place for, and frames around it, are not words of anybody. */
const pieces = (text: string): readonly string[] =>
  text
    .split(/\n\n+/)
    .map((piece) => piece.replace(/^\[tool result [^\]]*\]\n/, '').trim())
    .filter((piece) => piece !== '' && !NOBODYS.test(piece))

/** Notes, and what a form needs where nobody said anything. */
const NOBODYS =
  /^(?:\[[\w.]+(?:: .*)?\]|\((?:start of imported conversation|the conversation goes on|no response recorded)\)|Empty prompt)$/

function callOf({ tool, result, isServed }: Call): readonly string[] {
  if (isServed) return []
  const given = tool.input ?? tool.arguments ?? ''
  const value = parseStructure(given) ?? given
  const inner = tool.input === undefined && typeof value === 'object' ? unwrapped(value) : value
  const plain = typeof inner === 'string' ? (parseStructure(inner) ?? inner) : inner
  const asked = plain === '' ? {} : plain
  const output = result?.tool.output ?? NO_RESULT
  return [JSON.stringify([asked, output === CANCELLED ? NO_RESULT : output])]
}

/** What forms say of a call that nobody answered. */
const NO_RESULT = 'aborted'
const CANCELLED = 'Tool use was cancelled by the user'

function unwrapped(value: object): unknown {
  const [[key, inner] = [], ...more] = Object.entries(value) as [string, unknown][]
  return more.length === 0 && (key === 'input' || key === '_raw') && typeof inner === 'string' ? inner : value
}

async function* listed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
