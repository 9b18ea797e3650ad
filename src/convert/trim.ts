/** Fits a conversation into a smaller context window: keeps complete turns from the end and summarizes the others. */

import { classify } from '../model/classify.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { collectSessionFacts, type SessionFacts } from '../model/session-facts.ts'
import { byteLength, estimateMessage, tokensOfBytes } from '../model/token-estimate.ts'
import { type ConversationFacts, FactCollector } from './trim-facts.ts'

/** Returns the conversation from its beginning on each call. */
type ReadMessages = () => AsyncIterable<NormalizedMessage>

export type Cut = Pick<TrimResult, 'turns' | 'tokens' | 'tooLarge'>

interface ShortenedConversation {
  readonly open: ReadMessages
  readonly cut: Cut
}

export async function shortenConversation(open: ReadMessages, maxTokens: number): Promise<ShortenedConversation> {
  const { turns, tokens, tooLarge } = await trimConversation(open, maxTokens)
  async function* readTrimmed(): AsyncGenerator<NormalizedMessage> {
    yield* (await trimConversation(open, maxTokens)).messages
  }
  return { open: turns.cut === 0 ? open : readTrimmed, cut: { turns, tokens, tooLarge } }
}

export interface TrimResult {
  /** Headers, the summary of what was cut, and the remaining turns. Iterating reads the source again. */
  readonly messages: AsyncIterable<NormalizedMessage>
  /** Text before the first prompt counts as a turn. */
  readonly turns: { readonly kept: number; readonly cut: number }
  /** Estimates, without the summary. */
  readonly tokens: { readonly all: number; readonly kept: number }
  /** Even the last turn with the turns it needs, plus the shortest summary, exceeds the limit. */
  readonly tooLarge: boolean
}

/**
 * Reads the conversation three times, and holds only a number per turn and the ids of open calls. @param open returns
 * the conversation from its beginning
 */
export async function trimConversation(
  open: () => AsyncIterable<NormalizedMessage>,
  maxTokens: number,
): Promise<TrimResult> {
  const facts = await collectSessionFacts(open())
  const turns = await measureTurns(open(), facts)
  const all = sumBytes(turns)
  if (tokensOfBytes(all) <= maxTokens) {
    const tokens = { all: tokensOfBytes(all), kept: tokensOfBytes(all) }
    return { messages: open(), turns: { kept: turns.length, cut: 0 }, tokens, tooLarge: false }
  }
  const cut = findCut(turns, maxTokens)
  const keptTokens = tokensOfBytes(sumBytes(turns.slice(cut)))
  const availableTokens = Math.max(maxTokens - keptTokens, MIN_SUMMARY_TOKENS)
  return {
    messages: readRemaining(
      open,
      facts,
      cut,
      (Math.min(availableTokens, MAX_SUMMARY_TOKENS) - ROUNDING_TOKENS) * BYTES_PER_TOKEN,
    ),
    turns: { kept: turns.length - cut, cut },
    tokens: { all: tokensOfBytes(all), kept: keptTokens },
    tooLarge: cut === 0 || keptTokens + MIN_SUMMARY_TOKENS > maxTokens,
  }
}

/** As in the estimate. */
const BYTES_PER_TOKEN = 4
/** Rounding to tens may add this much; the summary leaves room for it. */
const ROUNDING_TOKENS = 10
const MIN_SUMMARY_TOKENS = 60
const MAX_SUMMARY_TOKENS = 2_000

interface MeasuredTurn {
  readonly bytes: number
  /** The earliest turn with a call whose result is in this turn. */
  readonly needs: number
}

const sumBytes = (turns: readonly MeasuredTurn[]): number => turns.reduce((total, { bytes }) => total + bytes, 0)

async function measureTurns(
  messages: AsyncIterable<NormalizedMessage>,
  facts: SessionFacts,
): Promise<readonly MeasuredTurn[]> {
  const turns: { bytes: number; needs: number }[] = []
  const calls = new Map<string, number>()
  for await (const message of messages) {
    if (isSessionHeader(message)) continue
    if (turns.length === 0 || classify(message, facts).isTyped) turns.push({ bytes: 0, needs: turns.length })
    const at = turns.length - 1
    const turn = turns[at]
    if (!turn) continue
    turn.bytes += sentBytes(message, facts)
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

/** Always kept and not counted. */
const isSessionHeader = ({ source_type }: NormalizedMessage): boolean => source_type === 'session'

/** Counts instructions, which are sent; ignores rolled-back messages and repeats. */
function sentBytes(message: NormalizedMessage, facts: SessionFacts): number {
  const { isRolledBack, isRepeat } = classify(message, facts)
  if (isRolledBack || isRepeat) return 0
  const { user_bytes, assistant_bytes } = estimateMessage(message)
  const isSent = message.role === 'system' || (message.role === 'meta' && facts.eventsOnly)
  const systemBytes = isSent ? message.segments.reduce((total, { text }) => total + byteLength(text ?? ''), 0) : 0
  return user_bytes + assistant_bytes + systemBytes
}

/** The first turn that stays. Keeps as many as leave room for a summary, and at least the last. */
function findCut(turns: readonly MeasuredTurn[], maxTokens: number): number {
  const availableTokens =
    maxTokens - Math.min(MAX_SUMMARY_TOKENS, Math.max(MIN_SUMMARY_TOKENS, Math.floor(maxTokens / 5)))
  let cut: number | undefined
  let bytes = 0
  let needed = turns.length
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at]
    bytes += turn?.bytes ?? 0
    needed = Math.min(needed, turn?.needs ?? at)
    if (needed < at) continue
    if (cut !== undefined && tokensOfBytes(bytes) > availableTokens) break
    cut = at
  }
  return cut ?? 0
}

async function* readRemaining(
  open: () => AsyncIterable<NormalizedMessage>,
  facts: SessionFacts,
  cut: number,
  summaryBytes: number,
): AsyncGenerator<NormalizedMessage> {
  const cutFacts = new FactCollector()
  let turn = -1
  let isCut = cut > 0
  for await (const message of open()) {
    if (isSessionHeader(message)) {
      yield message
      continue
    }
    const startsTurn = classify(message, facts).isTyped
    if (turn < 0 || startsTurn) turn++
    if (turn < cut) {
      cutFacts.add(message, startsTurn && !facts.isRolledBack(message))
      continue
    }
    if (isCut) yield createSummaryMessage(message, buildSummary(cutFacts.facts(), cut, summaryBytes), cut)
    isCut = false
    yield message
  }
}

/** Parts of a line are numbered from 1, so id 0 is free. */
function createSummaryMessage(
  { id, timestamp, raw }: NormalizedMessage,
  text: string,
  turns: number,
): NormalizedMessage {
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

/** @param bytes limit, except that the first line is always included */
function buildSummary(facts: ConversationFacts, turns: number, bytes: number): string {
  const { messages, from, to } = facts
  const time = from !== undefined && to !== undefined ? `, from ${from} to ${to}` : ''
  const first = `The beginning of this conversation was left out: ${pluralizeNoun(turns, 'turn')}, ${pluralizeNoun(messages, 'message')}${time}.`
  const sections = fillSections(facts, bytes - byteLength(first))
  return [first, ...sections].join('\n')
}

const pluralizeNoun = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`

interface SummarySection {
  readonly title: string
  readonly lines: readonly string[]
  /** How many of the last lines are included. */
  shownLines: number
}

/** Adds one line to each section in turn, latest first, while they fit. */
function fillSections(facts: ConversationFacts, availableBytes: number): readonly string[] {
  const sections: SummarySection[] = [
    { title: 'Still to do:', lines: facts.todos, shownLines: 0 },
    { title: 'Files:', lines: facts.files, shownLines: 0 },
    { title: 'Commands:', lines: facts.commands, shownLines: 0 },
    { title: 'Asked:', lines: facts.asked, shownLines: 0 },
  ]
  let remaining = availableBytes
  for (let grew = true; grew; ) {
    grew = false
    for (const section of sections) {
      const line = section.lines.at(-1 - section.shownLines)
      if (section.shownLines >= section.lines.length || line === undefined) continue
      // The first line also pays for the title and the note about earlier ones.
      const cost =
        byteLength(line) +
        LINE_MARKER_BYTES +
        (section.shownLines === 0 ? byteLength(section.title) + MAX_NOTE_BYTES : 0)
      if (cost > remaining) continue
      remaining -= cost
      section.shownLines++
      grew = true
    }
  }
  const summary = facts.summary === undefined ? [] : fitSummary(facts.summary, remaining)
  return [...summary, ...sections.filter(({ shownLines }) => shownLines > 0).flatMap(sectionLines)]
}

/** `\n- ` */
const LINE_MARKER_BYTES = 3
/** `\n` before the title, and the longest note. */
const MAX_NOTE_BYTES = 24

function sectionLines({ title, lines, shownLines }: SummarySection): readonly string[] {
  const more = lines.length - shownLines
  const note = more > 0 ? [`- (${more} earlier)`] : []
  return [title, ...note, ...lines.slice(lines.length - shownLines).map((line) => `- ${line}`)]
}

const EARLIER_SUMMARY_TITLE = 'Summary of what was before that:'

/** Includes an earlier summary completely or not at all. */
function fitSummary(summary: string, availableBytes: number): readonly string[] {
  return byteLength(summary) + byteLength(EARLIER_SUMMARY_TITLE) + 2 <= availableBytes
    ? [EARLIER_SUMMARY_TITLE, summary]
    : []
}
