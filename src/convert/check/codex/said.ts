/** What was said is in a log twice: as the event that is shown and as the item that is sent. */
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, isObject, listOf, stringOf } from '../../../lib/object.ts'
import type { CodexReport, CodexRule } from './rules.ts'

/** What the program puts into the user's mouth begins like this; it has no event. */
const INJECTED = /^\s*(?:<[a-z][\w-]*[\s>/]|# AGENTS\.md instructions|Another language model started|Warning: )/i
/** Stands behind an answer in its item only. */
const CITATION = /<oai-mem-citation>[\s\S]*$/

export class Said {
  readonly #report: CodexReport
  readonly #prompts = new Twins()
  readonly #answers = new Twins()
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
    if (item['role'] === 'assistant') this.#answers.item(texts.join('').replace(CITATION, ''), place)
    if (item['role'] !== 'user') return
    const typed = texts.filter((text) => !INJECTED.test(text)).join('\n')
    if (typed.trim() !== '') this.#hasPrompts = true
    this.#prompts.item(typed, place)
  }

  event(payload: Fields, place: string): void {
    const { type, item } = payload
    const text = stringOf(payload['message']) ?? ''
    if (type === 'item_completed' && isObject(item) && item['type'] === 'UserMessage') this.#hasEvents = true
    if (type === 'agent_message') this.#answers.event(text, place)
    if (type !== 'user_message') return
    this.#hasEvents = true
    if (!INJECTED.test(text)) this.#prompts.event(text, place)
  }

  end(): void {
    const unshown = this.#isPaginated ? [] : this.#prompts.items()
    if (!this.#hasPrompts && !this.#hasEvents)
      this.#report('prompt_none', 'the end', 'Nobody asks anything; the session is not listed.')
    else if (!this.#hasEvents)
      this.#report('prompt_any', 'the end', 'There is no `user_message` event; the session is not listed.')
    else this.#each(unshown, 'prompt_event', 'No `user_message` event shows this prompt.')
    this.#each(this.#prompts.events(), 'prompt_item', 'No item holds this prompt; the model does not get it.')
    if (!this.#isPaginated)
      this.#each(this.#answers.items(), 'answer_event', 'No `agent_message` event shows this answer.')
  }

  #each(places: readonly string[], rule: CodexRule, what: string): void {
    for (const place of places) this.#report(rule, place, what)
  }
}

/** Texts that come in pairs. Of those that have not met their other half, the place; of the text only a hash. */
class Twins {
  readonly #items = new Map<string, string[]>()
  readonly #events = new Map<string, string[]>()

  item(text: string, place: string): void {
    meet(text, place, this.#events, this.#items)
  }

  event(text: string, place: string): void {
    meet(text, place, this.#items, this.#events)
  }

  items(): readonly string[] {
    return [...this.#items.values()].flat()
  }

  events(): readonly string[] {
    return [...this.#events.values()].flat()
  }
}

function meet(text: string, place: string, others: Map<string, string[]>, own: Map<string, string[]>): void {
  const bare = text.replace(/\s+/g, '')
  if (bare === '') return
  const key = sha256(bare)
  const waiting = others.get(key)
  waiting?.shift()
  if (waiting?.length === 0) others.delete(key)
  if (!waiting) own.set(key, [...(own.get(key) ?? []), place])
}
