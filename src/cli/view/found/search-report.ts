/** What a search found, for a person: by session, with the words in their context. */

import stringWidth from 'string-width'
import type { Entry, Hit, SearchAnswer, Snippet } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import { say } from '../../language.ts'
import { exact, safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { moment, shortId } from '../session-table.ts'
import { count, plural, terminalWidth, truncate } from '../table.ts'
import { word } from '../words.ts'

type Answer = Extract<SearchAnswer, { kind: 'found' }>

export function searchReport(answer: Answer): string {
  const { hits, titles, sessions } = answer
  const bySession = new Map<string, Hit[]>()
  for (const hit of hits) {
    const others = bySession.get(hit.session_id)
    if (others) others.push(hit)
    else bySession.set(hit.session_id, [hit])
  }
  const known = new Map(sessions.map((one) => [one.id as string, one]))
  const blocks = [...bySession].map(([id, found]) => {
    const [first, ...rest] = found.map((hit, at) => hitBlock(hit, at === 0 ? known.get(id) : undefined))
    return [first, ...rest].join('')
  })
  const named = titles.filter(({ id }) => !bySession.has(id)).map((one) => `${sessionLine(one)}\n`)
  const titled = named.length > 0 ? `${paint.dim(say('by their titles', 'タイトルの一致'))}\n${named.join('')}\n` : ''
  return `${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${titled}${summary(answer)}`
}

/** @param session told before the hit, where it is the first of it */
export function hitBlock(hit: Hit, session: Entry | undefined): string {
  const head = session ? `${sessionLine(session)}\n` : ''
  const who = hit.tool === undefined ? word(hit.scope) : `${word(hit.scope)} ${exact(hit.tool)}`
  const where = `  ${paint.dim(`${moment(hit.timestamp)}  ${who}`)}`
  return `${head}${where}\n    ${hit.snippet ? shown(hit.snippet) : paint.dim(say('(its log is gone)', '（元のログがありません）'))}\n`
}

function sessionLine({ id, title, project, gone }: Entry): string {
  const name = oneLine(safe(title ?? say('(nothing said)', '（発言なし）')))
  const facts = [shortId(id), project === undefined ? '' : exact(project), gone ? word('gone') : '']
    .filter(Boolean)
    .join(' · ')
  const room = Math.max(20, terminalWidth() - Math.min(stringWidth(facts), 60) - 2)
  return `${paint.bold(truncate(name, room))}  ${paint.dim(truncate(facts, 60))}`
}

const LINE_ENDS = /\s+/g

/** On one line, with what was looked for made bright. */
function shown({ text, highlights, cutBefore, cutAfter }: Snippet): string {
  let at = 0
  let line = ''
  for (const [start, end] of highlights) {
    line += plain(text.slice(at, start)) + paint.yellow(paint.bold(plain(text.slice(start, end))))
    at = end
  }
  line += plain(text.slice(at))
  return `${cutBefore ? '…' : ''}${line.trim()}${cutAfter ? '…' : ''}`
}

const plain = (text: string): string => safe(text).replaceAll(LINE_ENDS, ' ')

function summary({ total, total_is, hits, complete, left }: Answer): string {
  const none = say('Nothing was found.', '見つかりませんでした。')
  if (total === 0 && complete) return `${none}\n`
  const rest = say(
    ` ${megabytes(left.bytes)} of long output and unread logs are not in the index: --deep looks through them.`,
    `長い出力と未読のログ ${megabytes(left.bytes)} は索引にありません。--deep で探せます。`,
  )
  return paint.dim(`${total === 0 ? none : foundText(total, total_is, hits.length)}${complete ? '' : rest}\n`)
}

function foundText(total: number, total_is: Answer['total_is'], shown: number): string {
  const isExact = total_is === 'exact'
  const en = `${isExact ? '' : 'at least '}${plural(total, 'message')}`
  const ja = `${isExact ? '' : '少なくとも '}${count(total)} 件のメッセージ`
  if (total <= shown) return say(`${en}.`, `${ja}。`)
  return say(
    `${en}, of which ${count(shown)} are shown; --limit shows more.`,
    `${ja}のうち ${count(shown)} 件を表示しています。--limit で増やせます。`,
  )
}

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${count(Math.round(bytes / 1e6))} MB`
