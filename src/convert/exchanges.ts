/** A conversation as exchanges, whoever wrote it down: so that two writings of it can be compared. */
import { sha256 } from '../lib/hash.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../model/normalized.ts'
import type { Outlook } from '../model/replay/outlook.ts'
import { replay } from '../model/replay/replay.ts'
import { callsIn, imagesIn, textsIn, wordsIn } from '../model/replay/step.ts'

/** What was said to the model, and its answer. */
export interface Exchange {
  readonly said: readonly string[]
  readonly answered: readonly string[]
  readonly calls: readonly Asked[]
  /** What was shown before the answer, also as the result of a tool: check sums. */
  readonly images: readonly string[]
}

interface Asked {
  readonly tool: ToolCall
  readonly result: ToolCall | undefined
}

type Open = { said: string[]; answered: string[]; calls: Asked[]; images: string[] }

/** Forms differ in how they cut what one party says in a row: here it is one. Instructions are left out: each form has its own place for them. */
export async function* exchangesOf(
  messages: AsyncIterable<NormalizedMessage>,
  outlook: Outlook,
): AsyncGenerator<Exchange> {
  let said: string[] = []
  let images: string[] = []
  let open: Open | undefined
  for await (const step of replay(messages, outlook)) {
    if (step.kind === 'prompt' && !step.isInjected) said.push(textsIn(step.message).join('\n\n'))
    if (step.kind === 'prompt') images.push(...sumsOf(step.message.segments))
    if (step.kind === 'orphan') {
      said.push(step.result.tool.output ?? '')
      images.push(...sumsOf(step.result.segments))
    }
    if (step.kind !== 'answer') continue
    // What the server ran is no call to any other program.
    const calls = callsIn(step).filter(({ isServed }) => !isServed)
    if (wordsIn(step).length === 0 && calls.length === 0) continue
    if (!open || said.length > 0 || open.calls.length > 0) {
      if (open) yield open
      open = { said, answered: [], calls: [], images }
      said = []
      images = []
    }
    open.answered.push(...wordsIn(step).flatMap(textsIn))
    open.calls.push(...calls.map(({ tool, result }) => ({ tool, result: result?.tool })))
    images.push(...calls.flatMap(({ result }) => sumsOf(result?.segments ?? [])))
  }
  if (open) yield said.length > 0 ? open : { ...open, images: [...open.images, ...images] }
  if (said.length > 0) yield { said, answered: [], calls: [], images }
}

/** The same bytes, however they are spelt. */
const sumsOf = (segments: readonly MessageSegment[]): readonly string[] =>
  imagesIn(segments).map((url) => {
    const [, data] = /^data:[^,]*;base64,([\s\S]*)$/i.exec(url) ?? []
    return sha256(data === undefined ? url : Buffer.from(data, 'base64'))
  })
