/** What was said is in a log twice: as the event that is shown and as the item that is sent. */

import { sha256 } from '../../../lib/hash.ts'
import { type Fields, isObject, listOf, stringOf } from '../../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import type { CodexReport, CodexRule } from './rules.ts'

// Texts that come in pairs, an event and an item, in any order.

/** One half of a pair. */
interface PairHalf {
  /** Nothing for one that may stay alone. */
  readonly place: string | undefined
  /** Any of them may meet. */
  readonly keys: readonly string[]
}

/** Of those that have not met their other half, the place; of the text only a hash. */
class EventItemPairs {
  readonly #items = new UnpairedHalves()
  readonly #events = new UnpairedHalves()

  /** @param texts what its event may show */
  item(texts: readonly string[], place: string): void {
    pairUp({ place, keys: textKeys(texts) }, this.#events, this.#items)
  }

  event(text: string, place: string | undefined): void {
    pairUp({ place, keys: textKeys([text]) }, this.#items, this.#events)
  }

  items(): readonly string[] {
    return this.#items.places()
  }

  events(): readonly string[] {
    return this.#events.places()
  }
}

class UnpairedHalves {
  readonly #byKey = new Map<string, Set<PairHalf>>()

  add(half: PairHalf): void {
    for (const key of half.keys) {
      const halves = this.#byKey.get(key)
      if (halves) halves.add(half)
      else this.#byKey.set(key, new Set([half]))
    }
  }

  /** The first that waits for it. */
  take(keys: readonly string[]): PairHalf | undefined {
    for (const key of keys)
      for (const half of this.#byKey.get(key) ?? []) {
        this.#drop(half)
        return half
      }
    return undefined
  }

  #drop(half: PairHalf): void {
    for (const key of half.keys) {
      const halves = this.#byKey.get(key)
      halves?.delete(half)
      if (halves?.size === 0) this.#byKey.delete(key)
    }
  }

  places(): readonly string[] {
    const halves = new Set([...this.#byKey.values()].flatMap((some) => [...some]))
    return [...halves].flatMap(({ place }) => place ?? [])
  }
}

function pairUp(half: PairHalf, others: UnpairedHalves, own: UnpairedHalves): void {
  if (!others.take(half.keys)) own.add(half)
}

function textKeys(texts: readonly string[]): readonly string[] {
  const bare = new Set(texts.map((text) => text.replace(/\s+/g, '')))
  bare.delete('')
  return [...bare].map((text) => sha256(text))
}

/** What the program puts into the user's mouth begins like this; it has no event. */
const INJECTED_START = /^\s*(?:<[a-z][\w-]*[\s>/]|# AGENTS\.md instructions|Another language model started|Warning: )/i
/** Stands behind an answer in its item only. */
const CITATION = /<oai-mem-citation>[\s\S]*$/

export class PromptEventChecker {
  readonly #report: CodexReport
  readonly #prompts = new EventItemPairs()
  readonly #answers = new EventItemPairs()
  /** In a paginated log, completed items stand for events. */
  #isPaginated = false
  #hasEvents = false
  #hasPrompts = false

  constructor(report: CodexReport) {
    this.#report = report
  }

  header(payload: Fields): void {
    if (payload['history_mode'] === 'paginated') this.#isPaginated = true
  }

  item(item: Fields, place: string): void {
    if (item['type'] !== 'message') return
    const texts = listOf(item['content']).flatMap((part) => (isObject(part) ? (stringOf(part['text']) ?? []) : []))
    if (item['role'] === 'assistant') this.#answers.item([texts.join('').replace(CITATION, '')], place)
    if (item['role'] !== 'user') return
    const typed = texts.filter((text) => !INJECTED_START.test(text)).join('\n')
    if (typed.trim() === '') return
    this.#hasPrompts = true
    // What a person types may begin as if the program had: then the event shows all of it.
    this.#prompts.item([typed, texts.join('\n')], place)
  }

  event(payload: Fields, place: string): void {
    const { type, item } = payload
    const text = stringOf(payload['message']) ?? ''
    if (type === 'item_completed' && isObject(item) && item['type'] === 'UserMessage') this.#hasEvents = true
    if (type === 'agent_message') this.#answers.event(text, place)
    if (type !== 'user_message') return
    this.#hasEvents = true
    this.#prompts.event(text, INJECTED_START.test(text) ? undefined : place)
  }

  end(): void {
    const promptsWithoutEvent = this.#isPaginated ? [] : this.#prompts.items()
    if (!this.#hasPrompts && !this.#hasEvents)
      this.#report(
        'prompt_none',
        'the end',
        phrase('Nobody asks anything; the session is not listed.', '依頼がありません。会話が一覧に出ません。'),
      )
    else if (!this.#hasEvents)
      this.#report(
        'prompt_any',
        'the end',
        phrase(
          'There is no `user_message` event; the session is not listed.',
          '`user_message` イベントがありません。会話が一覧に出ません。',
        ),
      )
    else
      this.#reportEach(
        promptsWithoutEvent,
        'prompt_event',
        phrase(
          'No `user_message` event shows this prompt.',
          'この依頼を表示する `user_message` イベントがありません。',
        ),
      )
    this.#reportEach(
      this.#prompts.events(),
      'prompt_item',
      phrase(
        'No item holds this prompt; the model does not get it.',
        'この依頼を持つ項目がありません。モデルに届きません。',
      ),
    )
    if (!this.#isPaginated)
      this.#reportEach(
        this.#answers.items(),
        'answer_event',
        phrase(
          'No `agent_message` event shows this answer.',
          'この応答を表示する `agent_message` イベントがありません。',
        ),
      )
  }

  #reportEach(places: readonly string[], rule: CodexRule, what: Phrase): void {
    for (const place of places) this.#report(rule, place, what)
  }
}
