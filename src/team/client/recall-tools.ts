/** What an agent recalls of the team, beside its user's own archive. The server decides what the user may read. */
import { AnswerText, cutToBytes } from '../../memory/budget.ts'
import { citeTime } from '../../memory/citation.ts'
import { asData, asDataLine, newDataMark } from '../../memory/foreign-text.ts'
import { excerptAround, passageOf } from '../../memory/passage.ts'
import { ToolProblem } from '../../memory/tool-problem.ts'
import { AGENT, BUDGET, SINCE, type Tool } from '../../memory/tools/tool.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { ReadReply, RecalledPassage, RecalledSession } from '../protocol.ts'
import type { TeamClient } from './team-client.ts'

const MAX_HITS = 40
const ENTRY_BYTES = 900
const MIN_ENTRY_BYTES = 220
const FOOT_BYTES = 300
const MAX_SEQ = 2_000_000_000
/** Messages before the one that was asked for. */
const BEFORE = 3
const CITATION = /^team[/:]([\da-f]{16})(?:#(\d{1,9}))?$/

export const teamTools = (client: TeamClient): readonly Tool[] => [searchOf(client), readOf(client)]

const searchOf = (client: TeamClient): Tool => ({
  name: 'team_search',
  title: 'Search conversations of the team',
  description:
    "Search what colleagues' coding agents said and did, as far as they share it: decisions, fixes, errors, commands. Ask in plain words or paste an error. Every hit is cited; pass a citation to team_read.",
  properties: {
    query: { type: 'string', description: 'A question, words or an error text, in any language' },
    project: { type: 'string', description: 'Name of a project at the team: owner/name' },
    person: { type: 'string', description: 'Only sessions of this person' },
    agent: AGENT,
    since: SINCE,
    budget: BUDGET,
  },
  required: ['query'],
  async run({ archive }, args) {
    const wanted = {
      q: args.required('query'),
      project: args.text('project'),
      person: args.text('person'),
      agent: args.text('agent'),
      since: args.text('since'),
      limit: String(Math.min(MAX_HITS, Math.ceil((args.budget * 4) / 400) + 4)),
    }
    const given = Object.entries(wanted).filter((one): one is [string, string] => one[1] !== undefined)
    const found = await client.get<readonly RecalledPassage[]>(`/recall?${new URLSearchParams(given)}`)
    if (found.length === 0) return 'The team has no matches that you may read.'
    const { open, close } = newDataMark()
    const answer = new AnswerText(args.budget, 'Best matches at the team.', FOOT_BYTES + open.length + close.length)
    const texts = await archive.redaction.redact(found.flatMap((one) => [textOf(one.message, one.words), placeOf(one)]))
    let written = 0
    for (const [at, { session, seq, at: time, words }] of found.entries()) {
      const [text = '', place = ''] = texts.slice(at * 2, at * 2 + 2)
      const head = `${cite(session, seq)} · ${citeTime(time)}\n> (${asDataLine(place)})`
      const room = Math.min(answer.rest - 1, ENTRY_BYTES)
      if (room < MIN_ENTRY_BYTES) break
      const { text: excerpt } = excerptAround(text, words, Math.max(60, room - Buffer.byteLength(head) - 20))
      if (!answer.add(cutToBytes(`${head}\n${asData(excerpt)}`, room))) break
      written++
    }
    const left = found.length - written
    return answer.finish(
      open,
      close,
      [
        left > 0 ? `Left out: ${left} more; ask with a larger budget or more words.` : 'Nothing was left out.',
        'team_read(session) shows the text around a hit. Only what colleagues share is searched.',
      ].join('\n'),
    )
  },
})

const readOf = (client: TeamClient): Tool => ({
  name: 'team_read',
  title: 'Read a conversation of the team',
  description:
    'Read a cited session of a colleague from a message on. Its owner can see who read it. Long messages are shortened to the budget.',
  properties: {
    session: { type: 'string', description: 'As cited: team/id or team/id#message' },
    from: { type: 'integer', minimum: 0, maximum: MAX_SEQ, description: 'First message' },
    budget: BUDGET,
  },
  required: ['session'],
  async run({ archive }, args) {
    const cited = args.required('session')
    const [, key, number] = CITATION.exec(cited) ?? []
    if (key === undefined)
      throw new ToolProblem(`"${cited.slice(0, 60)}" is no session of the team. Cite it as team_search does: team/id.`)
    const wanted = number === undefined ? undefined : Number(number)
    const from = args.number('from', 0, MAX_SEQ) ?? Math.max(0, (wanted ?? 0) - BEFORE)
    const { session, stored, messages } = await client.get<ReadReply>(`/sessions/${key}/messages?from=${from}`)
    const { open, close } = newDataMark()
    const head = `team/${key} · ${stored} messages`
    const answer = new AnswerText(args.budget, head, FOOT_BYTES + open.length + close.length)
    const texts = await archive.redaction.redact([placeOf(session), ...messages.map((one) => textOf(one.message, []))])
    answer.add(`> (${asDataLine(texts[0] ?? '')})`)
    let next: number | undefined
    for (const [at, { seq, message }] of messages.entries()) {
      const text = texts[at + 1] ?? ''
      if (text === '') continue
      const most = seq === wanted ? answer.rest / 2 : Math.max(200, answer.rest / 4)
      const part = `${cite(session.session, seq)} · ${citeTime(message.timestamp)}\n${cutToBytes(asData(text), Math.floor(most))}`
      if (answer.add(part)) continue
      next = seq
      break
    }
    next ??= (messages.at(-1)?.seq ?? stored) + 1
    const foot =
      next < stored ? `Left out: what follows; team_read(session: "team/${key}", from: ${next}) continues.` : 'End.'
    return answer.finish(open, close, foot)
  },
})

/** `team/0560c9e78372bb79#12`. */
const cite = (session: string, seq: number): string => `${session.replace(':', '/')}#${seq}`

const placeOf = ({ person, project, agent, title }: RecalledSession): string =>
  [person, project, agent, title].filter((one) => one !== null && one !== '').join(' · ')

function textOf(message: NormalizedMessage, words: readonly string[]): string {
  const passage = passageOf(message, words)
  return passage ? `${passage.label}: ${passage.text}` : ''
}
