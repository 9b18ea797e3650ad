/** `fumi show`: prints one session. */
import type { Command } from 'commander'
import type { App, IndexedMessage } from '../../app.ts'
import { classify, withoutInjectedText } from '../../model/classify.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime, TimeRange } from '../../model/recorded-time.ts'
import type { SessionFacts } from '../../model/session-facts.ts'
import { formatShortDuration, toSingleLine } from '../../model/tool-summary.ts'
import { groupIntoTurns, type Turn } from '../../model/turn.ts'
import type { Log } from '../../normalize.ts'
import {
  ALL_RECORDS_OPTION,
  defineCommand,
  IN_OPTION,
  JSON_OPTION,
  SESSION_OPTION,
  SESSION_OR_LOG,
} from '../define-command.ts'
import { noSessionError, resolveSession } from '../find-session.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { openPager } from '../pager.ts'
import { printIssues } from '../report-issues.ts'
import { readHistorySummary, readOverview, readSessionMessages, type SessionOverview } from '../session-overview.ts'
import { renderSessionHeader, renderTurn } from '../view/conversation.ts'
import { renderStateReport } from '../view/state-report.ts'
import { renderPatternReport } from '../view/stats-report.ts'
import { formatCount, renderTable, type TableColumn } from '../view/table.ts'
import { codeLabel, formatDateTime, toTerminalText } from '../view/text.ts'

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
  defineCommand(program, 'show', 'read a conversation in the terminal', '会話を端末で読む')
    .argument('<session>', ...SESSION_OR_LOG)
    .option(...IN_OPTION)
    .option('--turns', 'print one line per turn', '1 ターンを 1 行で表示')
    .option(
      '--state',
      'print the state: model, context, tools, tangent, checkpoints',
      '状態（モデル・文脈・ツール・脇道・チェックポイント）を表示',
    )
    .option(
      '--patterns',
      'classify turns: simple, one or several tool uses, complete or not',
      'ターンを分類: シンプル、単一ツール、複数ツール、完了と未完了',
    )
    .option(...ALL_RECORDS_OPTION)
    .option(...SESSION_OPTION)
    .option(...JSON_OPTION)
    .option('--no-color', 'disable colors (same as NO_COLOR)', '色を付けない（NO_COLOR でも同じ）')
    .examples(
      'fumi show rollout.jsonl',
      'fumi show amazon-q:1b4e28ba --turns',
      'fumi show kiro:22222222 --state',
      'fumi show 22222222 --in ~/backup/data.sqlite3',
      'fumi show rollout.jsonl --all | less',
      'fumi show conversations.json --session 3',
    )
    .runWithApp(showSession)
}

async function showSession(app: App, name: string, options: Options): Promise<void> {
  const { log, id, branches } = await resolveSession(app, name, options)
  if (!log) return showMissing(app, id, options)
  const overview = await readOverview(log, id)
  const { session } = overview
  if (!session) {
    await printIssues(overview.issues)
    throw noSessionError(name)
  }
  if (options.json) await writeOutJson(await toSessionJson(log, overview, options))
  else await printSession(log, { ...overview, session }, branches, options)
  await printIssues(overview.issues)
}

/** Prints what the index knows of a session without a log. */
async function showMissing(app: App, id: SessionId, options: Options): Promise<void> {
  const session = app.index.header(id)
  const indexedMessages = app.index.messages(id, { limit: -1 })
  if (!session) throw noSessionError(id)
  if (options.json) {
    const messages = indexedMessages.map(({ id, timestamp, role, source_type, tool = null }) => ({
      id,
      timestamp,
      role,
      source_type,
      tool,
    }))
    await writeOutJson({ session, gone: true, messages })
  } else {
    await writeOut(renderSessionHeader(session, []))
    await writeOut(renderMissingLogReport(indexedMessages))
  }
  await writeErr(
    say(
      `fumi: the log of this session no longer exists (${session.path}), and there is no backup. Run fumi config keep all to back up logs from now on.\n`,
      `fumi: この会話のログがなく（${session.path}）、バックアップもありません。今後ログをバックアップするには fumi config keep all を実行してください。\n`,
    ),
  )
}

async function printSession(
  log: Log,
  overview: SessionOverview & { session: NonNullable<SessionOverview['session']> },
  branches: readonly number[],
  options: Options,
) {
  await openPager()
  await writeOut(renderSessionHeader(overview.session, branches))
  const turns = groupIntoTurns(readSessionMessages(log, overview), overview.facts)
  if (options.state) await writeOut(renderState(overview))
  if (options.patterns) await writeOut(await renderPatterns(log))
  if (options.turns) await writeOut(await renderTurnTable(turns, overview.facts))
  if (options.state || options.patterns || options.turns) return
  for await (const turn of turns) await writeOut(renderTurn(turn, overview.facts, options.all === true))
}

function renderState({ session, state }: SessionOverview): string {
  if (!session || !state?.metadata)
    throw new AppError(
      'bad_usage',
      'this conversation has no recorded state. Amazon Q, Kiro and fumibako record one.',
      'この会話には状態の記録がありません。状態を記録するのは Amazon Q、Kiro、fumibako です。',
    )
  return renderStateReport(session, state.metadata)
}

async function renderPatterns(log: Log): Promise<string> {
  const summary = await readHistorySummary(log)
  if (!summary)
    throw new AppError(
      'bad_usage',
      '--patterns works for conversations of Amazon Q and Kiro.',
      '--patterns を使えるのは Amazon Q と Kiro の会話です。',
    )
  return renderPatternReport(summary)
}

async function toSessionJson(log: Log, overview: SessionOverview, options: Options): Promise<object> {
  const { session, state, facts } = overview
  const parts: Record<string, unknown> = { session }
  if (options.state) parts['state'] = state?.metadata ?? null
  if (options.patterns) parts['patterns'] = (await readHistorySummary(log)) ?? null
  if (options.turns) parts['turns'] = await listTurns(log, overview, facts)
  if (Object.keys(parts).length === 1) parts['messages'] = await toArray(readSessionMessages(log, overview))
  return parts
}

async function listTurns(log: Log, overview: SessionOverview, facts: SessionFacts): Promise<readonly object[]> {
  const list: object[] = []
  for await (const { number, messages, tools, errors, usage, rolledBack } of groupIntoTurns(
    readSessionMessages(log, overview),
    facts,
  )) {
    if (number === 0) continue
    const [first] = messages
    const prompt = first?.segments.map(({ text }) => text ?? '').join('\n') ?? ''
    const times = timesOfTurn(messages)
    list.push({ number, prompt, ...times, messages: messages.length, tools, errors, usage, rolled_back: rolledBack })
  }
  return list
}

async function toArray<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = []
  for await (const one of values) list.push(one)
  return list
}

const COLUMNS: readonly TableColumn[] = [
  { title: say('when', '日時') },
  { title: say('who', '誰') },
  { title: say('what', '内容'), grows: true },
]

function renderMissingLogReport(messages: readonly IndexedMessage[]): string {
  const visibleMessages = messages.filter((one) => !one.duplicate && !one.replayed && one.role !== 'meta')
  return `\n${renderTable(
    COLUMNS,
    visibleMessages.map(({ timestamp, role, source_type, tool, error }) => [
      formatDateTime(timestamp),
      codeLabel(role),
      `${codeLabel(source_type, source_type.replace('_', ' '))}${tool === undefined ? '' : ` ${toTerminalText(tool)}`}${error ? ' ✗' : ''}`,
    ]),
  )}`
}

const TURN_COLUMNS: readonly TableColumn[] = [
  { title: '#', right: true },
  { title: say('prompt', '依頼'), grows: true },
  { title: say('tools', 'ツール'), right: true },
  { title: say('errors', 'エラー'), right: true },
  { title: say('time', '時間'), right: true },
  { title: say('tokens', 'トークン'), right: true },
]

export async function renderTurnTable(turns: AsyncIterable<Turn>, facts: SessionFacts): Promise<string> {
  const rows: (readonly string[])[] = []
  for await (const turn of turns) if (turn.number > 0) rows.push(toRow(turn, facts))
  return `\n${renderTable(TURN_COLUMNS, rows)}`
}

/** The prompt's time, and the last one. Null where the log records none. */
function timesOfTurn(messages: readonly NormalizedMessage[]) {
  const range = new TimeRange()
  for (const message of messages) range.add(recordedTime(message))
  const [first] = messages
  return { started_at: first ? recordedTime(first) : null, ended_at: range.last }
}

function toRow(turn: Turn, facts: SessionFacts): readonly string[] {
  const { messages } = turn
  const prompt = messages.find((message) => classify(message, facts).isTyped)
  const words = prompt?.segments.map(withoutInjectedText).join(' ') ?? ''
  const { started_at, ended_at } = timesOfTurn(messages)
  const rolledBackNote = turn.rolledBack ? say('(rolled back) ', '（取り消し）') : ''
  return [
    String(turn.number),
    rolledBackNote + toSingleLine(toTerminalText(words)),
    formatCount(turn.tools),
    turn.errors > 0 ? formatCount(turn.errors) : '',
    started_at !== null && ended_at !== null ? formatShortDuration(Date.parse(ended_at) - Date.parse(started_at)) : '',
    turn.usage.total_tokens > 0 ? formatCount(turn.usage.total_tokens) : '',
  ]
}
