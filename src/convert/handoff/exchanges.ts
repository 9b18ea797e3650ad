/** A conversation as exchanges, whoever wrote it down: so that two writings of it can be compared. */
import { sha256 } from '../../lib/hash.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import { replayMessages } from '../../model/replay/replay.ts'
import { callsOfAnswer, imageAddressesOf, textMessagesOf, textsOfMessage } from '../../model/replay/step.ts'
import type { SessionFacts } from '../../model/session-facts.ts'

/** What was said to the model, and its answer. */
export interface Exchange {
  readonly said: readonly string[]
  readonly answered: readonly string[]
  readonly calls: readonly ExchangeCall[]
  /** What was shown before the answer, also as the result of a tool: check sums. */
  readonly images: readonly string[]
}

interface ExchangeCall {
  readonly tool: ToolCall
  readonly result: ToolCall | undefined
}

type MutableExchange = { said: string[]; answered: string[]; calls: ExchangeCall[]; images: string[] }

/** Forms differ in how they cut what one party says in a row: here it is one. Instructions are left out: each form has its own place for them. */
export async function* readExchanges(
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts,
): AsyncGenerator<Exchange> {
  let prompts: string[] = []
  let images: string[] = []
  let open: MutableExchange | undefined
  for await (const step of replayMessages(messages, facts)) {
    if (step.kind === 'prompt' && !step.isInjected) prompts.push(textsOfMessage(step.message).join('\n\n'))
    if (step.kind === 'prompt') images.push(...imageHashes(step.message.segments))
    if (step.kind === 'orphan') {
      prompts.push(step.result.tool.output ?? '')
      images.push(...imageHashes(step.result.segments))
    }
    if (step.kind !== 'answer') continue
    // What the server ran is no call to any other program.
    const calls = callsOfAnswer(step).filter(({ isServed }) => !isServed)
    if (textMessagesOf(step).length === 0 && calls.length === 0) continue
    if (!open || prompts.length > 0 || open.calls.length > 0) {
      if (open) yield open
      open = { said: prompts, answered: [], calls: [], images }
      prompts = []
      images = []
    }
    open.answered.push(...textMessagesOf(step).flatMap(textsOfMessage))
    open.calls.push(...calls.map(({ tool, result }) => ({ tool, result: result?.tool })))
    images.push(...calls.flatMap(({ result }) => imageHashes(result?.segments ?? [])))
  }
  if (open) yield prompts.length > 0 ? open : { ...open, images: [...open.images, ...images] }
  if (prompts.length > 0) yield { said: prompts, answered: [], calls: [], images }
}

/** The same bytes, however they are spelt. */
const imageHashes = (segments: readonly MessageSegment[]): readonly string[] =>
  imageAddressesOf(segments).map((url) => {
    const [, data] = /^data:[^,]*;base64,([\s\S]*)$/i.exec(url) ?? []
    return sha256(data === undefined ? url : Buffer.from(data, 'base64'))
  })
