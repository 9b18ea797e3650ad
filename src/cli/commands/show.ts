/** `fumi show`: one conversation, for a person. */
import type { Command } from 'commander'
import type { House } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { type Backlinks, turnsOf } from '../../model/turn.ts'
import type { Log } from '../../normalize.ts'
import { nothingIn, sessionNamed } from '../choose.ts'
import { openHouse } from '../house.ts'
import { tellIssues } from '../issues.ts'
import { say } from '../language.ts'
import { historyOf, messagesOf, type Survey, survey } from '../logs/survey.ts'
import { writeErr, writeJson, writeOut } from '../output.ts'
import { openPager } from '../pager.ts'
import { examples } from '../run/examples.ts'

interface Options {
  readonly turns?: boolean
  readonly state?: boolean
  readonly patterns?: boolean
  readonly all?: boolean
  readonly in?: string
  readonly session?: string
  readonly json?: boolean
}

export function showCommand(program: Command): void {
  program
    .command('show')
    .summary(say('read a conversation in the terminal', '会話を端末で読む'))
    .argument(
      '<session>',
      say(
        'a session as fumi list names it, or a log file; - for standard input',
        'fumi list が示す会話、またはログファイル。- は標準入力',
      ),
    )
    .option(
      '--in <path>',
      say('look for the session in this database, file or folder', '会話を探すデータベース、ファイル、フォルダー'),
    )
    .option('--turns', say('one line for each turn', '1 ターンを 1 行で表示'))
    .option(
      '--state',
      say(
        'what the conversation knows beside its words: model, context, tools, tangent, checkpoints',
        '発言以外の状態: モデル、文脈、ツール、脇道、チェックポイント',
      ),
    )
    .option(
      '--patterns',
      say(
        'how its turns went: simple, one tool use, several; complete or not',
        'ターンのパターン: シンプル、単一ツール、複数ツール、完了と未完了',
      ),
    )
    .option('--all', say('every record, also context, events and copies', '文脈・イベント・重複も含むすべての記録'))
    .option(
      '--session <which>',
      say(
        'one of several conversations in a file: its number, or its id',
        '1 つのファイルに複数ある会話のどれか（番号または ID）',
      ),
    )
    .option('--json', say('print JSON', 'JSON で出力'))
    .option('--no-color', say('no colours (NO_COLOR does the same)', '色を付けない（NO_COLOR でも同じ）'))
    .addHelpText(
      'after',
      examples(
        'fumi show rollout.jsonl',
        'fumi show amazon-q:1b4e28ba --turns',
        'fumi show kiro:22222222 --state',
        'fumi show 22222222 --in ~/backup/data.sqlite3',
        'fumi show rollout.jsonl --all | less',
        'fumi show conversations.json --session 3',
      ),
    )
    .action(run)
}

async function run(name: string, options: Options): Promise<void> {
  const house = await openHouse()
  try {
    await showOne(house, name, options)
  } finally {
    house.close()
  }
}

async function showOne(house: House, name: string, options: Options): Promise<void> {
  const { log, id, branches, release } = await sessionNamed(house, name, options)
  try {
    if (!log) return await showGone(house, id, options)
    const seen = await survey(log, id)
    const { session } = seen
    if (!session) {
      await tellIssues(seen.issues)
      throw nothingIn(name)
    }
    if (options.json) await writeJson(await jsonOf(log, seen, options))
    else await print(log, { ...seen, session }, branches, options)
    await tellIssues(seen.issues)
  } finally {
    await release()
  }
}

/** All that the index still knows. */
async function showGone(house: House, id: SessionId, options: Options): Promise<void> {
  const session = house.index.header(id)
  const known = house.index.messages(id, { limit: -1 })
  if (!session) throw nothingIn(id)
  if (options.json) {
    const messages = known.map(({ id, timestamp, role, source_type, tool = null }) => ({
      id,
      timestamp,
      role,
      source_type,
      tool,
    }))
    await writeJson({ session, gone: true, messages })
  } else {
    await writeOut((await import('../view/conversation.ts')).headerOf(session, []))
    await writeOut((await import('../view/gone-report.ts')).goneReport(known))
  }
  await writeErr(
    say(
      `fumi: the log of this session is gone: ${session.path}. Its words are not kept; fumi config keep all keeps them from now on.\n`,
      `fumi: この会話のログがありません: ${session.path}。本文は保管されていません。今後は fumi config keep all で保管できます。\n`,
    ),
  )
}

async function print(
  log: Log,
  seen: Survey & { session: NonNullable<Survey['session']> },
  branches: readonly number[],
  options: Options,
) {
  await openPager()
  const view = await import('../view/conversation.ts')
  await writeOut(view.headerOf(seen.session, branches))
  const turns = turnsOf(messagesOf(log, seen), seen.links)
  if (options.state) await writeOut(await stateText(seen))
  if (options.patterns) await writeOut(await patternText(log))
  if (options.turns) await writeOut(await (await import('../view/turn-table.ts')).renderTurns(turns, seen.links))
  if (options.state || options.patterns || options.turns) return
  for await (const turn of turns) await writeOut(view.renderTurn(turn, seen.links, options.all === true))
}

async function stateText({ session, state }: Survey): Promise<string> {
  if (!session || !state?.metadata)
    throw new AppError(
      'bad_usage',
      'this conversation has no state beside its messages.',
      'この会話には、メッセージ以外の状態がありません。',
    )
  return (await import('../view/state-report.ts')).stateReport(session, state.metadata)
}

async function patternText(log: Log): Promise<string> {
  const summary = await historyOf(log)
  if (!summary)
    throw new AppError(
      'bad_usage',
      'patterns are known of conversations that are told in entries: Amazon Q, Kiro.',
      'パターンが分かるのは、エントリーで記録される会話（Amazon Q、Kiro）だけです。',
    )
  return (await import('../view/stats/pattern-report.ts')).patternReport(summary)
}

async function jsonOf(log: Log, seen: Survey, options: Options): Promise<object> {
  const { session, state, links } = seen
  const parts: Record<string, unknown> = { session }
  if (options.state) parts['state'] = state?.metadata ?? null
  if (options.patterns) parts['patterns'] = (await historyOf(log)) ?? null
  if (options.turns) parts['turns'] = await turnList(log, seen, links)
  if (Object.keys(parts).length === 1) parts['messages'] = await listed(messagesOf(log, seen))
  return parts
}

async function turnList(log: Log, seen: Survey, links: Backlinks): Promise<readonly object[]> {
  const list: object[] = []
  for await (const { number, messages, tools, errors, usage, rolledBack } of turnsOf(messagesOf(log, seen), links)) {
    if (number === 0) continue
    const [first] = messages
    const prompt = first?.segments.map(({ text }) => text ?? '').join('\n') ?? ''
    const times = { started_at: first?.timestamp, ended_at: messages.at(-1)?.timestamp }
    list.push({ number, prompt, ...times, messages: messages.length, tools, errors, usage, rolled_back: rolledBack })
  }
  return list
}

async function listed<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = []
  for await (const one of values) list.push(one)
  return list
}
