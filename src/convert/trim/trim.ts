/** Makes a conversation fit a smaller window: whole turns from the end stay, a summary of facts stands for the others. */
import type { NormalizedMessage } from '../../model/normalized.ts'
import { byteLength, countTokens, estimateOf } from '../../model/tokens/estimate.ts'
import { type Backlinks, backlinksOf, isPrompt } from '../../model/turn.ts'
import { Facts } from './facts.ts'
import { summaryText } from './summary.ts'

export interface Trimmed {
  /** Headers, the summary where something was cut, and the turns that stay. Reads once more when it is iterated. */
  readonly messages: AsyncIterable<NormalizedMessage>
  /** What stands before the first prompt counts as a turn. */
  readonly turns: { readonly kept: number; readonly cut: number }
  /** Estimates: of everything, and of the turns that stay, without the summary. */
  readonly tokens: { readonly all: number; readonly kept: number }
  /** Even the last turn, with those that its results belong to, and the shortest summary are more than was asked for. */
  readonly tooLarge: boolean
}

/**
 * Three readings, none of which holds more than a number for each turn and the ids of open calls.
 * @param open reads the conversation from its beginning
 */
export async function trim(open: () => AsyncIterable<NormalizedMessage>, maxTokens: number): Promise<Trimmed> {
  const links = await backlinksOf(open())
  const turns = await measured(open(), links)
  const all = sum(turns)
  if (countTokens(all) <= maxTokens) {
    const tokens = { all: countTokens(all), kept: countTokens(all) }
    return { messages: open(), turns: { kept: turns.length, cut: 0 }, tokens, tooLarge: false }
  }
  const cut = cutIn(turns, maxTokens)
  const kept = countTokens(sum(turns.slice(cut)))
  const room = Math.max(maxTokens - kept, SHORTEST_SUMMARY)
  return {
    messages: rest(open, links, cut, (Math.min(room, LONGEST_SUMMARY) - ROUNDING) * BYTES),
    turns: { kept: turns.length - cut, cut },
    tokens: { all: countTokens(all), kept },
    tooLarge: cut === 0 || kept + SHORTEST_SUMMARY > maxTokens,
  }
}

/** Bytes in a token, by the rule of the estimate. */
const BYTES = 4
/** In tokens. What rounding to tens may add is paid for by the summary. */
const ROUNDING = 10
const SHORTEST_SUMMARY = 60
const LONGEST_SUMMARY = 2_000

interface Measured {
  readonly bytes: number
  /** The first turn that it cannot be without: that of the earliest call whose result it holds. */
  readonly needs: number
}

const sum = (turns: readonly Measured[]): number => turns.reduce((total, { bytes }) => total + bytes, 0)

async function measured(messages: AsyncIterable<NormalizedMessage>, links: Backlinks): Promise<readonly Measured[]> {
  const turns: { bytes: number; needs: number }[] = []
  const calls = new Map<string, number>()
  for await (const message of messages) {
    if (isHeader(message)) continue
    if (turns.length === 0 || isPrompt(message, links)) turns.push({ bytes: 0, needs: turns.length })
    const at = turns.length - 1
    const turn = turns[at]
    if (!turn) continue
    turn.bytes += bytesOf(message, links)
    const id = message.tool_call?.call_id ?? undefined
    if (id === undefined) continue
    if (message.source_type === 'tool_call') calls.set(id, at)
    else if (message.source_type === 'tool_result') {
      turn.needs = Math.min(turn.needs, calls.get(id) ?? at)
      calls.delete(id)
    }
  }
  return turns
}

/** Not a part of the conversation: it stays, and takes no room. */
const isHeader = ({ source_type }: NormalizedMessage): boolean => source_type === 'session'

/** Instructions count here: they are sent. What was taken back, or only repeats another message, is not. */
function bytesOf(message: NormalizedMessage, { rolledBack, duplicates, eventsOnly }: Backlinks): number {
  if (rolledBack.has(message.id) || duplicates.has(message.id)) return 0
  const { user_bytes, assistant_bytes } = estimateOf(message)
  const isSent = message.role === 'system' || (message.role === 'meta' && eventsOnly)
  const said = isSent ? message.segments.reduce((total, { text }) => total + byteLength(text ?? ''), 0) : 0
  return user_bytes + assistant_bytes + said
}

/** The first turn that stays. As many stay as leave room for a summary, and at least the last. */
function cutIn(turns: readonly Measured[], maxTokens: number): number {
  const room = maxTokens - Math.min(LONGEST_SUMMARY, Math.max(SHORTEST_SUMMARY, Math.floor(maxTokens / 5)))
  let cut: number | undefined
  let bytes = 0
  let needed = turns.length
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at]
    bytes += turn?.bytes ?? 0
    needed = Math.min(needed, turn?.needs ?? at)
    if (needed < at) continue
    if (cut !== undefined && countTokens(bytes) > room) break
    cut = at
  }
  return cut ?? 0
}

async function* rest(
  open: () => AsyncIterable<NormalizedMessage>,
  links: Backlinks,
  cut: number,
  summaryBytes: number,
): AsyncGenerator<NormalizedMessage> {
  const facts = new Facts()
  let turn = -1
  let isCut = cut > 0
  for await (const message of open()) {
    if (isHeader(message)) {
      yield message
      continue
    }
    const asks = isPrompt(message, links)
    if (turn < 0 || asks) turn++
    if (turn < cut) {
      facts.add(message, asks && !links.rolledBack.has(message.id))
      continue
    }
    if (isCut) yield summaryBefore(message, summaryText(facts.gathered(), cut, summaryBytes), cut)
    isCut = false
    yield message
  }
}

/** No part of a line has the number 0, so its id is free. */
function summaryBefore({ id, timestamp, raw }: NormalizedMessage, text: string, turns: number): NormalizedMessage {
  const { file_path, line_index, session_id } = raw
  return {
    id: `${id}.0`,
    timestamp,
    role: 'system',
    source_type: 'message',
    segments: [{ channel: 'system', type: 'text', format: 'summary', text }],
    raw: { event_type: null, payload_type: 'summary', file_path, line_index, session_id },
    metadata: { kind: 'summary', trimmed_turns: turns },
  }
}
