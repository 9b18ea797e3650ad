/** Joins an agent's history of typed prompts with the prompts of its sessions, so that each prompt is listed once. */
import { type AgentId, type Instant, makeSessionId, type SessionId } from '../model/ids.ts'

/** A prompt in a session. */
export interface LoggedPrompt {
  readonly agent: AgentId
  readonly session: SessionId
  readonly message_id: string
  readonly cwd: string | null
  readonly text: string
  /** Null if the log records no time. */
  readonly at: Instant | null
}

/** A history of typed prompts, oldest first. */
export interface TypedList {
  readonly agent: AgentId
  readonly prompts: readonly TypedPrompt[]
}

export interface TypedPrompt {
  readonly text: string
  /** Null if the history records no time. */
  readonly at: Instant | null
  /** The agent's own id of the session, if the history names it. */
  readonly of: string | undefined
}

export interface LinkedPrompt {
  readonly text: string
  /** Null if neither a log nor the history records a time. */
  readonly at: Instant | null
  readonly agent: AgentId
  /** Null when no session contains the prompt. */
  readonly session: SessionId | null
  readonly message_id: string | null
  readonly cwd: string | null
  /** The prompt is in a history of typed prompts. */
  readonly typed: boolean
}

/**
 * Newest first. A typed prompt without a time stays next to its neighbours in the history; prompts without any known
 * neighbour come last.
 */
export function linkPrompts(logged: readonly LoggedPrompt[], lists: readonly TypedList[]): readonly LinkedPrompt[] {
  const links = lists.map((list) => matchTyped(list, logged))
  const linked = new Set(links.flatMap((one) => [...one.values()]))
  const prompts: OrderedPrompt[] = logged.map((one) => ({
    prompt: { ...one, typed: linked.has(one) },
    sortAt: one.at ?? '',
    order: 0,
  }))
  lists.forEach((list, at) => {
    prompts.push(...unmatchedTyped(list, links[at] ?? new Map()))
  })
  return prompts.sort(compareNewestFirst).map(({ prompt }) => prompt)
}

interface OrderedPrompt {
  readonly prompt: LinkedPrompt
  /** The prompt's own time or that of a neighbour. Empty if there is none. */
  readonly sortAt: string
  /** Orders prompts of the same time; the smallest is the newest. */
  readonly order: number
}

const compareNewestFirst = (a: OrderedPrompt, b: OrderedPrompt): number =>
  a.sortAt === b.sortAt ? a.order - b.order : a.sortAt < b.sortAt ? 1 : -1

/** Matches by index in the history. If a text occurs several times on both sides, the last ones match each other. */
function matchTyped({ agent, prompts }: TypedList, logged: readonly LoggedPrompt[]): ReadonlyMap<number, LoggedPrompt> {
  const open = new Map<string, LoggedPrompt[]>()
  const put = (key: string, one: LoggedPrompt): void => {
    const others = open.get(key)
    if (others) others.push(one)
    else open.set(key, [one])
  }
  const needed = new Set(prompts.map(({ text }) => normalizeText(text)))
  for (const one of [...logged].sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1))) {
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

/** Candidates are listed under two keys; each is taken once. */
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

/**
 * Typed prompts that no session contains. One without a time is placed before the next prompt that has one; behind the
 * last one that has one, after it.
 */
function unmatchedTyped(
  { agent, prompts }: TypedList,
  links: ReadonlyMap<number, LoggedPrompt>,
): readonly OrderedPrompt[] {
  const found: OrderedPrompt[] = []
  const knownTimes = prompts.map((typed, at) => links.get(at)?.at ?? typed.at)
  const lastKnown = knownTimes.findLastIndex((time) => time !== null)
  let sortAt = knownTimes[lastKnown] ?? ''
  for (let at = prompts.length - 1; at >= 0; at--) {
    const typed = prompts[at]
    const logged = links.get(at)
    sortAt = knownTimes[at] ?? sortAt
    if (logged || !typed) continue
    const session = typed.of === undefined ? null : makeSessionId(agent, typed.of)
    const prompt = { text: typed.text, at: typed.at, agent, session, message_id: null, cwd: null, typed: true }
    found.push({ prompt, sortAt, order: at > lastKnown ? -at : prompts.length - at })
  }
  return found
}
