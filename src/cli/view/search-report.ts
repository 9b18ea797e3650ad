/** Renders search results by session, with snippets. */

import stringWidth from 'string-width'
import type { MessageHit, SearchAnswer, SessionEntry, Snippet } from '../../app.ts'
import { toSingleLine } from '../../model/tool-summary.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { formatCount, plural, terminalWidth, truncate } from './table.ts'
import { codeLabel, formatDateTime, shortId, toTerminalLine, toTerminalText } from './text.ts'

type FoundAnswer = Extract<SearchAnswer, { kind: 'found' }>

export function renderSearchReport(answer: FoundAnswer): string {
  const { hits, titles, sessions } = answer
  const bySession = new Map<string, MessageHit[]>()
  for (const hit of hits) {
    const others = bySession.get(hit.session_id)
    if (others) others.push(hit)
    else bySession.set(hit.session_id, [hit])
  }
  const known = new Map(sessions.map((one) => [one.id as string, one]))
  const blocks = [...bySession].map(([id, found]) => {
    const [first, ...rest] = found.map((hit, at) => renderHit(hit, at === 0 ? known.get(id) : undefined))
    return [first, ...rest].join('')
  })
  const named = titles.filter(({ id }) => !bySession.has(id)).map((one) => `${renderSessionLine(one)}\n`)
  const titled = named.length > 0 ? `${paint.dim(say('matching titles', 'タイトルの一致'))}\n${named.join('')}\n` : ''
  return `${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${titled}${renderSummary(answer)}`
}

/** @param session printed before the hit; set for the first hit of a session */
export function renderHit(hit: MessageHit, session: SessionEntry | undefined): string {
  const head = session ? `${renderSessionLine(session)}\n` : ''
  const who = hit.tool === undefined ? codeLabel(hit.scope) : `${codeLabel(hit.scope)} ${toTerminalLine(hit.tool)}`
  const where = `  ${paint.dim(`${formatDateTime(hit.timestamp)}  ${who}`)}`
  return `${head}${where}\n    ${hit.snippet ? renderSnippet(hit.snippet) : paint.dim(say('(log deleted)', '（元のログがありません）'))}\n`
}

function renderSessionLine({ id, title, project, gone }: SessionEntry): string {
  const name = toSingleLine(toTerminalText(title ?? say('(no prompt)', '（依頼なし）')))
  const facts = [shortId(id), project === undefined ? '' : toTerminalLine(project), gone ? codeLabel('gone') : '']
    .filter(Boolean)
    .join(' · ')
  const availableWidth = Math.max(20, terminalWidth() - Math.min(stringWidth(facts), 60) - 2)
  return `${paint.bold(truncate(name, availableWidth))}  ${paint.dim(truncate(facts, 60))}`
}

const WHITESPACE = /\s+/g

/** On one line, with the matches highlighted. */
function renderSnippet({ text, highlights, cutBefore, cutAfter }: Snippet): string {
  let at = 0
  let line = ''
  for (const [start, end] of highlights) {
    line += toOneLine(text.slice(at, start)) + paint.yellow(paint.bold(toOneLine(text.slice(start, end))))
    at = end
  }
  line += toOneLine(text.slice(at))
  return `${cutBefore ? '…' : ''}${line.trim()}${cutAfter ? '…' : ''}`
}

const toOneLine = (text: string): string => toTerminalText(text).replaceAll(WHITESPACE, ' ')

function renderSummary({ total, total_is, hits, complete, left: unindexed }: FoundAnswer): string {
  const none = say('No matches.', '見つかりませんでした。')
  if (total === 0 && complete) return `${none}\n`
  const rest = say(
    ` ${formatUnindexedSize(unindexed.bytes)} of long output and unread logs are not in the index. Pass --deep to search them.`,
    `長い出力と未読のログ ${formatUnindexedSize(unindexed.bytes)} は索引にありません。--deep で探せます。`,
  )
  return paint.dim(`${total === 0 ? none : formatFoundCount(total, total_is, hits.length)}${complete ? '' : rest}\n`)
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
