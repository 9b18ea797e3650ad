/** Joins what a program noted down as typed with what stands in its conversations: the same prompt comes once. */
import { type AgentId, type Instant, type SessionId, sessionId } from '../../model/ids.ts'

/** A prompt of a conversation. */
export interface Said {
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
  readonly prompts: readonly Typed[]
}

export interface Typed {
  readonly text: string
  /** Nothing where the list tells no times. */
  readonly at: Instant | undefined
  /** The agent's own id of the conversation, where the list tells it. */
  readonly of: string | undefined
}

export interface Prompt {
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
export function linkPrompts(said: readonly Said[], lists: readonly TypedList[]): readonly Prompt[] {
  const links = lists.map((list) => linksOf(list, said))
  const linked = new Set(links.flatMap((one) => [...one.values()]))
  const prompts: Ordered[] = said.map((one) => ({ prompt: { ...one, typed: linked.has(one) }, order: 0 }))
  lists.forEach((list, at) => {
    prompts.push(...unlinked(list, links[at] ?? new Map()))
  })
  return prompts.sort(newestFirst).map(({ prompt }) => prompt)
}

interface Ordered {
  readonly prompt: Prompt
  /** Among those of one moment: the place from the end of its list. */
  readonly order: number
}

const newestFirst = (a: Ordered, b: Ordered): number =>
  a.prompt.at === b.prompt.at ? a.order - b.order : a.prompt.at < b.prompt.at ? 1 : -1

/** By their places in the list. The same words may be typed and said several times: the last belongs to the last. */
function linksOf({ agent, prompts }: TypedList, said: readonly Said[]): ReadonlyMap<number, Said> {
  const open = new Map<string, Said[]>()
  const put = (key: string, one: Said): void => {
    const others = open.get(key)
    if (others) others.push(one)
    else open.set(key, [one])
  }
  const needed = new Set(prompts.map(({ text }) => plain(text)))
  for (const one of [...said].sort((a, b) => (a.at < b.at ? -1 : 1))) {
    const text = plain(one.text)
    if (one.agent !== agent || !needed.has(text)) continue
    put(keyOf(undefined, text), one)
    put(keyOf(one.session.replace(/~[0-9a-f]+$/, ''), text), one)
  }
  const taken = new Set<Said>()
  const found = new Map<number, Said>()
  for (let at = prompts.length - 1; at >= 0; at--) {
    const { text = '', of = undefined } = prompts[at] ?? {}
    const candidates = open.get(keyOf(of === undefined ? undefined : sessionId(agent, of), plain(text))) ?? []
    const last = takeLast(candidates, taken)
    if (last) found.set(at, last)
  }
  return found
}

/** Each belongs to two keys, and goes once. */
function takeLast(candidates: Said[], taken: Set<Said>): Said | undefined {
  for (let one = candidates.pop(); one; one = candidates.pop()) {
    if (taken.has(one)) continue
    taken.add(one)
    return one
  }
  return undefined
}

const keyOf = (session: string | undefined, text: string): string => `${session ?? ''}\n${text}`

const plain = (text: string): string => text.replaceAll('\r\n', '\n').trim()

/** What was typed and is in no conversation. Without a time of its own it was typed before the next one that has one. */
function unlinked({ agent, at: written, prompts }: TypedList, links: ReadonlyMap<number, Said>): readonly Ordered[] {
  const found: Ordered[] = []
  let before = written
  for (let at = prompts.length - 1; at >= 0; at--) {
    const typed = prompts[at]
    const said = links.get(at)
    before = said?.at ?? typed?.at ?? before
    if (said || !typed) continue
    const session = typed.of === undefined ? null : sessionId(agent, typed.of)
    const prompt = { text: typed.text, at: before, at_inferred: typed.at === undefined, agent, session }
    found.push({ prompt: { ...prompt, message_id: null, cwd: null, typed: true }, order: prompts.length - at })
  }
  return found
}
