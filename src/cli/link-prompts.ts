/** Joins what a program noted down as typed with what stands in its conversations: the same prompt comes once. */
import { type AgentId, type Instant, makeSessionId, type SessionId } from '../model/ids.ts'

/** A prompt of a conversation. */
export interface LoggedPrompt {
  readonly agent: AgentId
  readonly session: SessionId
  readonly message_id: string
  readonly cwd: string | null
  readonly text: string
  readonly at: Instant
  readonly at_inferred: boolean
}

/** One list of typed prompts, in the order in which they were typed. */
export interface TypedList {
  readonly agent: AgentId
  /** When it was last written to. */
  readonly at: Instant
  readonly prompts: readonly TypedPrompt[]
}

export interface TypedPrompt {
  readonly text: string
  /** Nothing where the list tells no times. */
  readonly at: Instant | undefined
  /** The agent's own id of the conversation, where the list tells it. */
  readonly of: string | undefined
}

export interface LinkedPrompt {
  readonly text: string
  readonly at: Instant
  /** No log tells it: it was concluded from its neighbours. */
  readonly at_inferred: boolean
  readonly agent: AgentId
  /** Nothing where it was typed and no conversation holds it. */
  readonly session: SessionId | null
  readonly message_id: string | null
  readonly cwd: string | null
  /** It is also, or only, in a list of typed prompts. */
  readonly typed: boolean
}

/** The newest first. */
export function linkPrompts(logged: readonly LoggedPrompt[], lists: readonly TypedList[]): readonly LinkedPrompt[] {
  const links = lists.map((list) => matchTyped(list, logged))
  const linked = new Set(links.flatMap((one) => [...one.values()]))
  const prompts: OrderedPrompt[] = logged.map((one) => ({ prompt: { ...one, typed: linked.has(one) }, order: 0 }))
  lists.forEach((list, at) => {
    prompts.push(...unmatchedTyped(list, links[at] ?? new Map()))
  })
  return prompts.sort(compareNewestFirst).map(({ prompt }) => prompt)
}

interface OrderedPrompt {
  readonly prompt: LinkedPrompt
  /** Among those of one moment: the place from the end of its list. */
  readonly order: number
}

const compareNewestFirst = (a: OrderedPrompt, b: OrderedPrompt): number =>
  a.prompt.at === b.prompt.at ? a.order - b.order : a.prompt.at < b.prompt.at ? 1 : -1

/** By their places in the list. The same words may be typed and said several times: the last belongs to the last. */
function matchTyped({ agent, prompts }: TypedList, logged: readonly LoggedPrompt[]): ReadonlyMap<number, LoggedPrompt> {
  const open = new Map<string, LoggedPrompt[]>()
  const put = (key: string, one: LoggedPrompt): void => {
    const others = open.get(key)
    if (others) others.push(one)
    else open.set(key, [one])
  }
  const needed = new Set(prompts.map(({ text }) => normalizeText(text)))
  for (const one of [...logged].sort((a, b) => (a.at < b.at ? -1 : 1))) {
    const text = normalizeText(one.text)
    if (one.agent !== agent || !needed.has(text)) continue
    put(promptKey(undefined, text), one)
    put(promptKey(one.session.replace(/~[0-9a-f]+$/, ''), text), one)
  }
  const taken = new Set<LoggedPrompt>()
  const found = new Map<number, LoggedPrompt>()
  for (let at = prompts.length - 1; at >= 0; at--) {
    const { text = '', of = undefined } = prompts[at] ?? {}
    const candidates =
      open.get(promptKey(of === undefined ? undefined : makeSessionId(agent, of), normalizeText(text))) ?? []
    const last = takeLastFree(candidates, taken)
    if (last) found.set(at, last)
  }
  return found
}

/** Each belongs to two keys, and goes once. */
function takeLastFree(candidates: LoggedPrompt[], taken: Set<LoggedPrompt>): LoggedPrompt | undefined {
  for (let one = candidates.pop(); one; one = candidates.pop()) {
    if (taken.has(one)) continue
    taken.add(one)
    return one
  }
  return undefined
}

const promptKey = (session: string | undefined, text: string): string => `${session ?? ''}\n${text}`

const normalizeText = (text: string): string => text.replaceAll('\r\n', '\n').trim()

/** What was typed and is in no conversation. Without a time of its own it was typed before the next one that has one. */
function unmatchedTyped(
  { agent, at: written, prompts }: TypedList,
  links: ReadonlyMap<number, LoggedPrompt>,
): readonly OrderedPrompt[] {
  const found: OrderedPrompt[] = []
  let before = written
  for (let at = prompts.length - 1; at >= 0; at--) {
    const typed = prompts[at]
    const logged = links.get(at)
    before = logged?.at ?? typed?.at ?? before
    if (logged || !typed) continue
    const session = typed.of === undefined ? null : makeSessionId(agent, typed.of)
    const prompt = { text: typed.text, at: before, at_inferred: typed.at === undefined, agent, session }
    found.push({ prompt: { ...prompt, message_id: null, cwd: null, typed: true }, order: prompts.length - at })
  }
  return found
}
