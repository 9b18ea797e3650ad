/** What a search found, for a person: by session, with the words in their context. */
import type { Entry, Hit, SearchAnswer, Snippet } from '../../../app.ts'
import { oneLine } from '../../../model/gist.ts'
import { safe } from '../conversation.ts'
import { paint } from '../paint.ts'
import { moment, shortId } from '../session-table.ts'
import { count, plural, terminalWidth, truncate } from '../table.ts'

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
  const titled = named.length > 0 ? `${paint.dim('by their titles')}\n${named.join('')}\n` : ''
  return `${blocks.join('\n')}${blocks.length > 0 ? '\n' : ''}${titled}${summary(answer)}`
}

/** @param session told before the hit, where it is the first of it */
export function hitBlock(hit: Hit, session: Entry | undefined): string {
  const head = session ? `${sessionLine(session)}\n` : ''
  const who = hit.tool === undefined ? hit.scope : `${hit.scope} ${safe(hit.tool)}`
  const where = `  ${paint.dim(`${moment(hit.timestamp)}  ${who}`)}`
  return `${head}${where}\n    ${hit.snippet ? shown(hit.snippet) : paint.dim('(its log is gone)')}\n`
}

function sessionLine({ id, title, project, gone }: Entry): string {
  const name = oneLine(safe(title ?? '(nothing said)'))
  const facts = [shortId(id), project === undefined ? '' : safe(project), gone ? 'gone' : '']
    .filter(Boolean)
    .join(' · ')
  const room = Math.max(20, terminalWidth() - Math.min(facts.length, 60) - 2)
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
  if (total === 0 && complete) return 'Nothing was found.\n'
  const all = `${total_is === 'exact' ? '' : 'at least '}${plural(total, 'message')}`
  const more = total > hits.length ? `${all}, of which ${count(hits.length)} are shown; --limit shows more.` : `${all}.`
  const rest = complete
    ? ''
    : ` ${megabytes(left.bytes)} of long output and unread logs are not in the index: --deep looks through them.`
  return paint.dim(`${total === 0 ? 'Nothing was found.' : more}${rest}\n`)
}

const megabytes = (bytes: number): string =>
  bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${count(Math.round(bytes / 1e6))} MB`
