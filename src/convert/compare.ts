/** Compares two versions of a conversation in any formats, exchange by exchange. */

import { sha256 } from '../lib/hash.ts'
import { isSameJson } from '../lib/json/compare.ts'
import { toWellFormed } from '../lib/text.ts'
import type { MessageSegment, NormalizedMessage, ToolCall, ToolStatus } from '../model/normalized.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { replayMessages } from '../model/replay/replay.ts'
import { callsOfAnswer, imageAddressesOf, textMessagesOf, textsOfMessage } from '../model/replay/step.ts'
import type { SessionFacts } from '../model/session-facts.ts'

/** Changes that the writer reported. */
export interface AllowedChanges {
  /** Names that the target does not allow were changed. */
  readonly names: boolean
  /** Number of images replaced by notes. */
  readonly images: number
}

/** Describes the first difference without quoting the conversation; undefined if there is none. */
export async function findDifference(
  source: AsyncIterator<Exchange>,
  target: AsyncIterator<Exchange>,
  allowed: AllowedChanges,
): Promise<Phrase | undefined> {
  const names = new ToolNameMatcher(allowed.names)
  const images = new ImageMatcher()
  for (let number = 1; ; number++) {
    const [one, other] = [await source.next(), await target.next()]
    if (one.done && other.done) return images.differ(allowed.images)
    if (one.done || other.done)
      return phrase(
        `it has ${one.done ? 'more' : 'fewer'} than ${number - 1} exchanges`,
        `やり取りが ${number - 1} 件${one.done ? 'より多くあります' : 'に足りません'}`,
      )
    const what = compareExchange(one.value, other.value, names)
    if (what) return phrase(`exchange ${number}: ${what.en}`, `${number} 番目のやり取り: ${what.ja}`)
    images.compare(one.value.images, other.value.images)
  }
}

/** Names may differ, but different tools must keep different names. */
class ToolNameMatcher {
  readonly #mayChange: boolean
  readonly #given = new Map<string, string | null>()
  readonly #taken = new Map<string | null, string>()

  constructor(mayChange: boolean) {
    this.#mayChange = mayChange
  }

  same({ name: source }: ToolCall, { name: target }: ToolCall): boolean {
    if (source === target) return true
    if (!this.#mayChange) return false
    const name = source ?? ''
    const given = this.#given.get(name) ?? target
    const taken = this.#taken.get(target) ?? name
    this.#given.set(name, given)
    this.#taken.set(target, taken)
    return given === target && taken === name
  }
}

/** Counts over the complete conversation, because formats differ in which message contains an image. */
class ImageMatcher {
  readonly #missing = new Map<string, number>()

  compare(source: readonly string[], target: readonly string[]): void {
    for (const one of source) this.#count(one, 1)
    for (const one of target) this.#count(one, -1)
  }

  differ(lost: number): Phrase | undefined {
    const missing = [...this.#missing.values()].reduce((sum, count) => sum + Math.max(0, count), 0)
    return missing > lost
      ? phrase(`${missing - lost} images are missing`, `画像が ${missing - lost} 件足りません`)
      : undefined
  }

  #count(one: string, by: number): void {
    this.#missing.set(one, (this.#missing.get(one) ?? 0) + by)
  }
}

function compareExchange(source: Exchange, target: Exchange, names: ToolNameMatcher): Phrase | undefined {
  if (!containsTexts(target.said, source.said)) return phrase('a prompt differs', '発言が異なります')
  if (!containsTexts(target.answered, source.answered)) return phrase('the answer differs', '応答が異なります')
  const [calls, others] = [source.calls.length, target.calls.length]
  if (calls !== others)
    return phrase(`${calls} calls became ${others}`, `${calls} 件の呼び出しが ${others} 件になりました`)
  for (const [at, call] of source.calls.entries()) {
    const other = target.calls[at]
    if (!other || !names.same(call.tool, other.tool))
      return phrase('the name of a tool differs', 'ツールの名前が異なります')
    if (!sameArguments(call.tool, other.tool))
      return phrase('the arguments of a call differ', '呼び出しの引数が異なります')
    if (!call.result) continue
    const { output = '', status } = call.result
    if (!containsTexts([other.result?.output ?? ''], [output])) return phrase('a result differs', '結果が異なります')
    const found = other.result?.status
    if (isOpposite(status, found))
      return phrase(`a result is ${found}, not ${status}`, `結果が ${status} ではなく ${found} です`)
  }
  return undefined
}

/**
 * Every format distinguishes failure from success. Cancellation is recorded for all calls together in some formats, and
 * not at all in others.
 */
const isOpposite = (source: ToolStatus, target: ToolStatus | undefined): boolean =>
  (source === 'success' && target === 'error') || (source === 'error' && target === 'success')

/** Whether the texts occur in order. The target may join texts and insert notes. */
function containsTexts(target: readonly string[], source: readonly string[]): boolean {
  const all = target.join('\n\n')
  let from = 0
  return source.every((given) => {
    const text = toWellFormed(given)
    // No format stores an empty prompt; the target has a substitute.
    if (text.trim() === '') return true
    const at = all.indexOf(text, from)
    if (at >= 0) from = at + text.length
    return at >= 0 || isTruncated(text, all)
  })
}

/** Some targets truncate long texts and report it. None has a lower limit than this. */
const MIN_TEXT_LIMIT = 100_000

const isTruncated = (text: string, all: string): boolean =>
  text.length > MIN_TEXT_LIMIT && all.includes(text.slice(0, MIN_TEXT_LIMIT))

function sameArguments(source: ToolCall, target: ToolCall): boolean {
  const given = callInput(source)
  const found = callInput(target)
  return isSameJson(given, found) || isSameJson(found, { _raw: given }) || isSameJson(found, { input: given })
}

/** For a tool, no input and an empty object are equivalent. */
function callInput({ arguments: text, input }: ToolCall): unknown {
  if (text === undefined || text.trim() === '') return input === undefined ? {} : toWellFormed(input)
  try {
    return JSON.parse(text) as unknown
  } catch {
    return toWellFormed(text)
  }
}

/** A prompt and the answer to it. */
export interface Exchange {
  readonly said: readonly string[]
  readonly answered: readonly string[]
  readonly calls: readonly ExchangeCall[]
  /** Digests of the images before the answer, including images in tool results. */
  readonly images: readonly string[]
}

interface ExchangeCall {
  readonly tool: ToolCall
  readonly result: ToolCall | undefined
}

type MutableExchange = { said: string[]; answered: string[]; calls: ExchangeCall[]; images: string[] }

/**
 * Joins consecutive messages of the same role, because formats split them differently. Leaves out instructions, which
 * each format stores elsewhere.
 */
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
    // Calls that the server executed are not calls for other programs.
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

/** Identical for the same bytes in any encoding. */
const imageHashes = (segments: readonly MessageSegment[]): readonly string[] =>
  imageAddressesOf(segments).map((url) => {
    const [, data] = /^data:[^,]*;base64,([\s\S]*)$/i.exec(url) ?? []
    return sha256(data === undefined ? url : Buffer.from(data, 'base64'))
  })
