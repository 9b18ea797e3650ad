/** Joins an agent's history of typed prompts with the prompts of its sessions, so that each prompt is listed once. */
import { type AgentId, type Instant, makeSessionId, type SessionId } from '../model/ids.ts'

/** A prompt in a session. */
export interface LoggedPrompt {
  readonly agent: AgentId
  readonly session: SessionId
  readonly message_id: string
  readonly cwd: string | null
  readonly text: string
  readonly at: Instant
  readonly at_inferred: boolean
}

/** A history of typed prompts, oldest first. */
export interface TypedList {
  readonly agent: AgentId
  /** When the history was last written. */
  readonly at: Instant
  readonly prompts: readonly TypedPrompt[]
}

export interface TypedPrompt {
  readonly text: string
  /** Undefined when the history has no times. */
  readonly at: Instant | undefined
  /** The agent's own id of the session, if the history names it. */
  readonly of: string | undefined
}

export interface LinkedPrompt {
  readonly text: string
  readonly at: Instant
  /** Not recorded; inferred from neighbouring prompts. */
  readonly at_inferred: boolean
  readonly agent: AgentId
  /** Null when no session contains the prompt. */
  readonly session: SessionId | null
  readonly message_id: string | null
  readonly cwd: string | null
  /** The prompt is in a history of typed prompts. */
  readonly typed: boolean
}

/** Newest first. */
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
  /** Orders prompts of the same time, counted from the end of the history. */
  readonly order: number
}

const compareNewestFirst = (a: OrderedPrompt, b: OrderedPrompt): number =>
  a.prompt.at === b.prompt.at ? a.order - b.order : a.prompt.at < b.prompt.at ? 1 : -1

/** Matches by index in the history. If a text occurs several times on both sides, the last ones match each other. */
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

/** Typed prompts that no session contains. One without a time gets the time of the next prompt that has one. */
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
