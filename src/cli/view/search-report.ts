/** Renders search results by session, with snippets. */

import type {
  LoadedMessage,
  MessageHit,
  QueryDescription,
  SearchAnswer,
  SessionAnnotation,
  SessionEntry,
  Snippet,
} from '../../app.ts'
import { withoutInjectedText } from '../../model/classify.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { qualifiedToolName, summarizeToolCall, toSingleLine } from '../../model/tool-summary.ts'
import { type StyledSpan, WordWrapper } from '../chat/output/styled-text.ts'
import type { HitContext } from '../index-queries/fetch-hits.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { formatCount, plural, truncate } from './table.ts'
import { codeLabel, formatDateTime, messageReference, shortId, toTerminalLine, toTerminalText } from './text.ts'
import { outputWidth, textWidth } from './text-width.ts'

type FoundAnswer = Extract<SearchAnswer, { kind: 'found' }>

/** A session with the name and tags that the user gave it. */
export interface NamedSession {
  readonly session: SessionEntry
  readonly annotation: SessionAnnotation | undefined
}

const NO_CONTEXT: HitContext = { before: [], after: [] }

/** @param contexts by hit */
export function renderSearchReport(
  answer: FoundAnswer,
  description: QueryDescription,
  contexts: ReadonlyMap<MessageHit, HitContext>,
): string {
  const { hits, titles, sessions, marks } = answer
  const bySession = new Map<string, MessageHit[]>()
  for (const hit of hits) {
    const others = bySession.get(hit.session_id)
    if (others) others.push(hit)
    else bySession.set(hit.session_id, [hit])
  }
  const annotations = new Map(marks.map((one) => [one.session as string, one]))
  const withName = (session: SessionEntry): NamedSession => ({ session, annotation: annotations.get(session.id) })
  const known = new Map(sessions.map((one) => [one.id as string, withName(one)]))
  const blocks = [...bySession].map(([id, found]) =>
    found
      .map((hit, at) => renderHit(hit, at === 0 ? known.get(id) : undefined, contexts.get(hit) ?? NO_CONTEXT))
      .join(''),
  )
  const named = titles.filter(({ id }) => !bySession.has(id)).map((one) => `${renderSessionLine(withName(one))}\n`)
  const titled = named.length > 0 ? `${paint.dim(say('matching titles', 'タイトルの一致'))}\n${named.join('')}\n` : ''
  return `${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${titled}${renderSummary(answer, description)}${renderAdvice(hits[0])}`
}

/** @param session printed before the hit; set for the first hit of a session */
export function renderHit(hit: MessageHit, session: NamedSession | undefined, context = NO_CONTEXT): string {
  const head = session ? `${renderSessionLine(session)}\n` : ''
  const scope = hit.tool === undefined ? codeLabel(hit.scope) : `${codeLabel(hit.scope)} ${toTerminalLine(hit.tool)}`
  const place = `${formatDateTime(hit.timestamp)}  ${scope}  ${messageReference(hit.message_id)}`
  const snippet = hit.snippet ? renderSnippet(hit.snippet) : paint.dim(missingTextNote(hit))
  return [
    head,
    ...context.before.map(renderNeighbour),
    `  ${paint.dim(place)}\n    ${snippet}\n`,
    ...context.after.map(renderNeighbour),
  ].join('')
}

const missingTextNote = ({ unverified }: MessageHit): string =>
  unverified
    ? say('(log deleted; the words may be in another order)', '（元のログがなく、語の並びは確認できません）')
    : say('(log deleted)', '（元のログがありません）')

/** One line for a message around a hit. */
function renderNeighbour(loaded: LoadedMessage): string {
  if (loaded.kind !== 'body') return ''
  const { message } = loaded
  const label = message.tool_call ? toTerminalLine(qualifiedToolName(message.tool_call)) : codeLabel(message.role)
  const start = `    ${messageReference(message.id)}  ${label}  `
  return `${paint.dim(start + truncate(neighbourText(message), Math.max(20, outputWidth() - textWidth(start))))}\n`
}

const neighbourText = ({ tool_call, segments }: NormalizedMessage): string =>
  tool_call
    ? toTerminalLine(summarizeToolCall(tool_call))
    : toSingleLine(toTerminalText(segments.map(withoutInjectedText).join('\n')))

/** Sessions only, each with its number of matches if there is a count. */
export const renderSessionCounts = (
  counts: readonly { readonly named: NamedSession; readonly messages?: number }[],
): string =>
  counts
    .map(
      ({ named, messages }) =>
        `${messages === undefined ? '' : `${formatCount(messages).padStart(6)}  `}${renderSessionLine(named)}\n`,
    )
    .join('')

const MAX_FACTS_WIDTH = 60
const MIN_TITLE_WIDTH = 20

/** The user's own name comes before the title of the log. */
function renderSessionLine({ session: { id, title, project, gone }, annotation }: NamedSession): string {
  const name = annotation?.name ?? title ?? say('(no prompt)', '（依頼なし）')
  const star = annotation?.starred ? '★ ' : ''
  const facts = [
    shortId(id),
    project === undefined ? '' : toTerminalLine(project),
    ...(annotation?.tags.map((tag) => `#${toTerminalLine(tag)}`) ?? []),
    gone ? codeLabel('gone') : '',
  ]
    .filter(Boolean)
    .join(' · ')
  const width = outputWidth()
  const factsWidth =
    width === Number.POSITIVE_INFINITY ? width : Math.max(0, Math.min(MAX_FACTS_WIDTH, width - MIN_TITLE_WIDTH - 2))
  const availableWidth = Math.max(MIN_TITLE_WIDTH, width - Math.min(textWidth(facts), factsWidth) - 2)
  const line = star + toSingleLine(toTerminalText(name))
  return `${paint.bold(truncate(line, availableWidth))}  ${paint.dim(truncate(facts, factsWidth))}`
}

const WHITESPACE = /\s+/g
const SNIPPET_INDENT = '    '

/** Wrapped, with the matches highlighted. */
function renderSnippet({ text, highlights, cutBefore, cutAfter }: Snippet): string {
  const spans: StyledSpan[] = [{ text: cutBefore ? '…' : '', styles: [] }]
  let at = 0
  for (const [start, end] of highlights) {
    spans.push({ text: toOneLine(text.slice(at, start)), styles: [] })
    spans.push({ text: toOneLine(text.slice(start, end)), styles: ['match'] })
    at = end
  }
  spans.push({ text: toOneLine(text.slice(at)).trimEnd(), styles: [] }, { text: cutAfter ? '…' : '', styles: [] })
  const wrapper = new WordWrapper(outputWidth(), SNIPPET_INDENT, SNIPPET_INDENT.length)
  return (wrapper.add(spans) + wrapper.end()).trimStart()
}

const toOneLine = (text: string): string => toTerminalText(text).replaceAll(WHITESPACE, ' ')

function renderSummary(answer: FoundAnswer, { filters }: QueryDescription): string {
  const { total, total_is, hits, complete, left: unindexed } = answer
  const none = say('No matches.', '見つかりませんでした。')
  const rest = say(
    ` ${formatUnindexedSize(unindexed.bytes)} of logs are not in the index yet. Run fumi sync to read them.`,
    `未読のログ ${formatUnindexedSize(unindexed.bytes)} は索引にありません。fumi sync で読み込めます。`,
  )
  const found = `${total === 0 ? none : formatFoundCount(total, total_is, hits.length)}${complete ? '' : rest}\n`
  return (total === 0 && complete ? found : paint.dim(found)) + renderFilters(filters)
}

/** Says which words of the query were not searched, because they are filters. */
export function renderFilters(filters: QueryDescription['filters']): string {
  if (filters.length === 0) return ''
  const words = filters.map(
    ({ key, value, not }) => `${not ? '-' : ''}${key}:${/\s/.test(value) ? `"${value}"` : value}`,
  )
  return paint.dim(`${say('Filters', '条件')}: ${toTerminalLine(words.join(' '))}\n`)
}

/** For a person only: shows how to open a hit. */
function renderAdvice(hit: MessageHit | undefined): string {
  if (!hit || !process.stdout.isTTY) return ''
  const command = `fumi show ${shortId(hit.session_id)} --at ${messageReference(hit.message_id)}`
  return paint.dim(say(`Open a match: ${command}\n`, `一致した箇所を開く: ${command}\n`))
}

function formatFoundCount(total: number, total_is: FoundAnswer['total_is'], shownCount: number): string {
  const isExact = total_is === 'exact'
  const en = `${isExact ? '' : 'at least '}${plural(total, 'message')}`
  const ja = `${isExact ? '' : '少なくとも '}${formatCount(total)} 件のメッセージ`
  if (total <= shownCount) return say(`${en}.`, `${ja}。`)
  return say(
    `Showing ${formatCount(shownCount)} of ${en}. Raise --limit for more.`,
    `${ja}のうち ${formatCount(shownCount)} 件を表示しています。--limit で増やせます。`,
  )
}

const formatUnindexedSize = (bytes: number): string =>
  bytes < 1e6 ? `${formatCount(Math.ceil(bytes / 1e3))} kB` : `${formatCount(Math.round(bytes / 1e6))} MB`
