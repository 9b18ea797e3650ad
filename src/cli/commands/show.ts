/** `fumi show`: one conversation, for a person. */
import type { Command } from 'commander'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { type Backlinks, backlinksOf, turnsOf } from '../../model/turn.ts'
import type { Log } from '../../normalize.ts'
import { tellIssues } from '../issues.ts'
import { logsFor } from '../logs.ts'
import { writeOut } from '../output.ts'

interface Options {
  readonly turns?: boolean
  readonly all?: boolean
  readonly session?: string
}

export function showCommand(program: Command): void {
  program
    .command('show')
    .summary('read a conversation in the terminal')
    .argument('<path>', 'a log file; - for standard input')
    .option('--turns', 'one line for each turn')
    .option('--all', 'every record, also context, events and copies')
    .option('--session <which>', 'one of several conversations in the file: its number, or its id')
    .option('--no-color', 'no colours (NO_COLOR does the same)')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi show rollout.jsonl\n  fumi show rollout.jsonl --turns\n  fumi show rollout.jsonl --all | less\n  fumi show conversations.json --session 3',
    )
    .action(run)
}

async function run(path: string, options: Options): Promise<void> {
  const { logs, release } = await logsFor([path])
  try {
    const log = onlyOne(path, logs)
    const { id, branches } = await choose(path, log, options.session)
    const { session, links, issues } = await survey(log, id)
    if (!session) throw nothing(path)
    const view = await import('../view/conversation.ts')
    await writeOut(view.headerOf(session, branches))
    const turns = turnsOf(messagesOf(log, id), links)
    if (options.turns) await writeOut(await (await import('../view/turn-table.ts')).renderTurns(turns, links))
    else for await (const turn of turns) await writeOut(view.renderTurn(turn, links, options.all === true))
    await tellIssues(issues)
  } finally {
    await release()
  }
}

function onlyOne(path: string, logs: readonly Log[]): Log {
  const [log, ...others] = logs
  if (!log || log.unknown)
    throw new AppError(
      'nothing_readable',
      `${path} is not a log of an agent that fumibako knows; fumi normalize tells what is in its lines.`,
    )
  if (others.length === 0) return log
  throw new AppError(
    'bad_usage',
    `${path} holds ${others.length + 1} logs; show takes one file, for example ${log.source.path}`,
  )
}

const nothing = (path: string): AppError =>
  new AppError('nothing_readable', `${path} holds no conversation. See fumi normalize for what is wrong with it.`)

interface Choice {
  readonly id: SessionId
  /** The numbers of its branches, which are sessions of their own. */
  readonly branches: readonly number[]
}

/** The session that was asked for by number or id, else the only one that is no branch of another. */
async function choose(path: string, log: Log, asked: string | undefined): Promise<Choice> {
  const chosen: { id: SessionId; branches: number[] }[] = []
  let last: SessionId | undefined
  let count = 0
  for await (const batch of log.agent.scan(log.source)) {
    for (const one of batch) {
      if (one.kind !== 'session' || one.session.id === last) continue
      const { id, native_id, parent } = one.session
      last = id
      count++
      const origin = chosen.find((other) => other.id === parent)
      origin?.branches.push(count)
      const isMeant = asked === undefined ? !origin : [String(count), id, native_id].includes(asked)
      if (isMeant && chosen.length < 2) chosen.push({ id, branches: [] })
    }
  }
  const [first, another] = chosen
  if (first && !another) return first
  if (count === 0) throw nothing(path)
  const none = asked === undefined ? '' : `, but not just one has the number or id ${asked}`
  const advice = 'choose one by its number or id, for example --session 1'
  throw new AppError('bad_usage', `${path} holds ${count} conversations${none}; ${advice}`)
}

interface Survey {
  readonly session: Session | undefined
  readonly links: Backlinks
  readonly issues: readonly Issue[]
}

/** A first reading: later records speak of earlier ones, which must be known before these are shown. */
async function survey(log: Log, id: SessionId): Promise<Survey> {
  let session: Session | undefined
  const issues: Issue[] = []
  async function* messages(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of log.agent.read(log.source)) {
      for (const one of batch) {
        if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
        if (one.kind === 'session' && one.session.id === id) session = one.session
        if (one.kind === 'issue') issues.push(one.issue)
      }
    }
  }
  const links = await backlinksOf(messages())
  return { session, links, issues }
}

async function* messagesOf(log: Log, id: SessionId): AsyncGenerator<NormalizedMessage> {
  for await (const batch of log.agent.read(log.source))
    for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
}
