/** A conversation as exchanges, whoever wrote it down: so that two writings of it can be compared. */
import { sameJson } from '../lib/same.ts'
import { wellFormed } from '../lib/text.ts'
import type { NormalizedMessage, ToolCall } from '../model/normalized.ts'
import type { Outlook } from '../model/replay/outlook.ts'
import { replay } from '../model/replay/replay.ts'
import { callsIn, textsIn, wordsIn } from '../model/replay/step.ts'

/** What was said to the model, and its answer. */
export interface Exchange {
  readonly said: readonly string[]
  readonly answered: readonly string[]
  readonly calls: readonly { readonly tool: ToolCall; readonly output: string | undefined }[]
}

type Open = { said: string[]; answered: string[]; calls: Exchange['calls'][number][] }

/** Forms differ in how they cut what one party says in a row: here it is one. Instructions are left out: each form has its own place for them. */
export async function* exchangesOf(
  messages: AsyncIterable<NormalizedMessage>,
  outlook: Outlook,
): AsyncGenerator<Exchange> {
  let said: string[] = []
  let open: Open | undefined
  for await (const step of replay(messages, outlook)) {
    if (step.kind === 'prompt' && !step.isInjected) said.push(...textsIn(step.message))
    if (step.kind === 'orphan') said.push(step.result.tool.output ?? '')
    if (step.kind !== 'answer') continue
    if (!open || said.length > 0 || open.calls.length > 0) {
      if (open) yield open
      open = { said, answered: [], calls: [] }
      said = []
    }
    open.answered.push(...wordsIn(step).flatMap(textsIn))
    open.calls.push(...callsIn(step).map(({ tool, result }) => ({ tool, output: result?.tool.output })))
  }
  if (open) yield open
  if (said.length > 0) yield { said, answered: [], calls: [] }
}

/** A sentence about the first difference, without a word of the conversation; nothing when there is none. */
export async function differenceBetween(
  source: AsyncIterator<Exchange>,
  target: AsyncIterator<Exchange>,
): Promise<string | undefined> {
  for (let number = 1; ; number++) {
    const [one, other] = [await source.next(), await target.next()]
    if (one.done && other.done) return undefined
    if (one.done || other.done) return `it has ${one.done ? 'more' : 'fewer'} than ${number - 1} exchanges`
    const what = differs(one.value, other.value)
    if (what !== undefined) return `exchange ${number}: ${what}`
  }
}

function differs(source: Exchange, target: Exchange): string | undefined {
  if (!holds(target.said, source.said)) return 'what was said reads otherwise'
  if (!holds(target.answered, source.answered)) return 'the answer reads otherwise'
  if (source.calls.length !== target.calls.length) return `${source.calls.length} calls became ${target.calls.length}`
  for (const [at, call] of source.calls.entries()) {
    const other = target.calls[at]
    if (!other || !sameArguments(call.tool, other.tool)) return 'the arguments of a call read otherwise'
    if (call.output !== undefined && !holds([other.output ?? ''], [call.output])) return 'a result reads otherwise'
  }
  return undefined
}

/** All texts, in order: texts may be joined, and notes may stand between them. */
function holds(target: readonly string[], source: readonly string[]): boolean {
  const all = target.join('\n\n')
  let from = 0
  return source.every((given) => {
    const text = wellFormed(given)
    const at = all.indexOf(text, from)
    if (at >= 0) from = at + text.length
    return at >= 0 || isCut(text, all)
  })
}

/** Targets cut texts above some limit, and say so in the report. None of them is as low as this. */
const SHORTEST_LIMIT = 100_000

const isCut = (text: string, all: string): boolean =>
  text.length > SHORTEST_LIMIT && all.includes(text.slice(0, SHORTEST_LIMIT))

function sameArguments(source: ToolCall, target: ToolCall): boolean {
  const given = askedIn(source)
  const found = askedIn(target)
  return sameJson(given, found) || sameJson(found, { _raw: given }) || sameJson(found, { input: given })
}

/** Nothing and an empty object are the same to a tool. */
function askedIn({ arguments: text, input }: ToolCall): unknown {
  if (text === undefined || text.trim() === '') return input === undefined ? {} : wellFormed(input)
  try {
    return JSON.parse(text) as unknown
  } catch {
    return wellFormed(text)
  }
}
