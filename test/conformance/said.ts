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
    .replace(/^\[tool result [^\]]*\]\n/, '')
    .split(/\n\n+/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '' && !/^\[[\w.]+(?:: [^\]]*)?\]$/.test(piece))

function callOf({ tool, result, isServed }: Call): readonly string[] {
  if (isServed) return []
  const given = tool.input ?? tool.arguments ?? ''
  const value = parseStructure(given) ?? given
  const inner = tool.input === undefined && typeof value === 'object' && isWrapped(value) ? value.input : value
  const plain = typeof inner === 'string' ? (parseStructure(inner) ?? inner) : inner
  const asked = plain === '' ? {} : plain
  return [JSON.stringify([asked, result?.tool.output ?? 'aborted'])]
}

const isWrapped = (value: object): value is { readonly input: string } =>
  Object.keys(value).join() === 'input' && typeof (value as { input: unknown }).input === 'string'

async function* listed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
