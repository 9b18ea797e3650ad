/** `fumi show`: one conversation, for a person. */
import type { Command } from 'commander'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { type Backlinks, backlinksOf, turnsOf } from '../../model/turn.ts'
import type { Log } from '../../normalize.ts'
import { chooseSession, nothingIn } from '../choose.ts'
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
    const { id, branches } = await chooseSession(path, log, options.session)
    const { session, links, issues } = await survey(log, id)
    if (!session) throw nothingIn(path)
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
