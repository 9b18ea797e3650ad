/** `fumi show`: prints one session. */
import { type Command, InvalidArgumentError } from 'commander'
import { readRecordedState } from '../../agents/recorded-state.ts'
import type { HistorySummary } from '../../amazon-q.ts'
import type { App } from '../../app.ts'
import { classify } from '../../model/classify.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import type { SessionFacts } from '../../model/session-facts.ts'
import { groupIntoTurns, parseTurnRange, type TurnRange } from '../../model/turn.ts'
import type { Log } from '../../normalize.ts'
import { ALL_RECORDS_OPTION, defineCommand, IN_OPTION, SESSION_OPTION, SESSION_OR_LOG } from '../define-command.ts'
import { noSessionError, noSuchTurnError, resolveSession } from '../find-session.ts'
import { followSession } from '../follow-session.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { openPager } from '../pager.ts'
import { printIssues } from '../report-issues.ts'
import { isReferenceTo, type NumberedMessage, numberTurns, selectAround } from '../select-messages.ts'
import { type OpenConversation, openConversation, readHistorySummary, readOverview } from '../session-overview.ts'
import { ConversationRenderer } from '../view/conversation.ts'
import { renderSessionHeader } from '../view/session-header.ts'
import { renderStateReport } from '../view/state-report.ts'
import { renderPatternReport } from '../view/stats-report.ts'
import { readingWidth } from '../view/text-width.ts'
import { renderMissingLogReport, renderTurnTable, timesOfTurn } from '../view/turn-table.ts'

interface Options {
  readonly turns?: boolean
  readonly turn?: TurnRange
  readonly at?: string
  readonly dropped?: boolean
  readonly follow?: boolean
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
    .option('--turn <n>', 'show only this turn, or turns: 3, 2..5, 4.. or ..3', 'このターンだけ: 3、2..5、4..、..3', {
      parse: parseTurnOption,
    })
    .option(
      '--at <message>',
      'show the messages around this one, and all of it; fumi search prints its number',
      'このメッセージの全文と前後を表示。番号は fumi search に表示される',
    )
    .option(
      '--dropped',
      'show only what the last compaction dropped, to give it to a model again',
      '最後の圧縮で文脈から落ちた部分だけを表示。モデルに渡し直せる',
    )
    .option(
      '-f, --follow',
      'show the last turn, then new messages as they are written',
      '最後のターンを表示し、続けて新しいメッセージを書かれるたびに表示',
    )
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
    .option('--json', 'print JSON; with --follow, one message per line', 'JSON で出力。--follow では 1 行に 1 件')
    .option('--no-color', 'disable colors (same as NO_COLOR)', '色を付けない（NO_COLOR でも同じ）')
    .examples(
      'fumi show rollout.jsonl',
      'fumi show amazon-q:1b4e28ba --turns',
      'fumi show amazon-q:1b4e28ba --turn 3',
      'fumi show codex:019c22d1 --at 42',
      'fumi show codex:019c22d1 --follow',
      'fumi show claude-code:5d1f63c0 --dropped | fumi chat -p "What did we decide?"',
      'fumi show kiro:22222222 --state',
      'fumi show 22222222 --in ~/backup/data.sqlite3',
      'fumi show rollout.jsonl --all | less',
      'fumi show conversations.json --session 3',
    )
    .runWithApp(showSession)
}

async function showSession(app: App, name: string, options: Options): Promise<void> {
  refuseCombinations(name, options)
  const { log, id, branches } = await resolveSession(app, name, options)
  if (!log) return showMissing(app, id, options)
  const ownName = app.annotations.get(id)?.name ?? undefined
  if (options.follow) return follow(log, id, { branches, ownName }, options)
  const isComplete = options.json === true || options.state === true || options.all === true || options.dropped === true
  const conversation = await openConversation(log, id, { known: app.index.header(id), isComplete })
  const { session } = conversation
  if (!session) {
    await printIssues(conversation.issues)
    throw noSessionError(name)
  }
  if (options.json) await writeOutJson(await toSessionJson(log, { ...conversation, session }, options))
  else await printSession(log, { ...conversation, session }, { branches, ownName }, options)
  await printIssues(conversation.issues)
}

/** Throws `bad_usage` for options that exclude each other. */
function refuseCombinations(name: string, options: Options): void {
  const parts = (['turn', 'at', 'dropped', 'follow', 'turns', 'state', 'patterns'] as const).filter(
    (one) => options[one],
  )
  const views = parts.filter((one) => one !== 'state' && one !== 'patterns' && one !== 'turns')
  if (views.length > 0 && parts.length > 1)
    throw new AppError(
      'bad_usage',
      `--${parts[0]} and --${parts[1]} cannot be combined. Choose one.`,
      `--${parts[0]} と --${parts[1]} は同時に使えません。どちらか一方にしてください。`,
    )
  if (options.follow && name === '-')
    throw new AppError('bad_usage', '--follow needs a session or a file.', '--follow には会話かファイルが必要です。')
}

/** What the header of a session shows besides the session itself. */
interface HeaderFacts {
  /** Numbers of the sessions that branch off it. */
  readonly branches: readonly number[]
  /** The name that the user gave it. */
  readonly ownName: string | undefined
}

/** Prints what the index knows of a session without a log. */
async function showMissing(app: App, id: SessionId, options: Options): Promise<void> {
  const session = app.index.header(id)
  const indexedMessages = app.index.messages(id, { limit: -1 })
  if (!session) throw noSessionError(id)
  if (options.turn || options.at || options.dropped || options.follow)
    throw new AppError(
      'not_found',
      `The log of ${id} no longer exists, and there is no backup. Omit the options to see what the index still has.`,
      `${id} のログがなく、バックアップもありません。オプションを外すと、索引に残る情報を表示します。`,
    )
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
    await writeOut(renderSessionHeader(session))
    await writeOut(renderMissingLogReport(indexedMessages))
  }
  await writeErr(
    say(
      `fumi: The log of this session no longer exists (${session.path}), and there is no backup. Run fumi config keep all to back up logs from now on.\n`,
      `fumi: この会話のログがなく（${session.path}）、バックアップもありません。今後ログをバックアップするには fumi config keep all を実行してください。\n`,
    ),
  )
}

type Conversation = OpenConversation & { readonly session: Session }

async function printSession(
  log: Log,
  conversation: Conversation,
  { branches, ownName }: HeaderFacts,
  options: Options,
): Promise<void> {
  await openPager()
  await writeOut(renderSessionHeader(conversation.session, branches, ownName))
  if (options.state) await writeOut(renderState(conversation))
  if (options.patterns) await writeOut(await renderPatterns(log))
  const { facts, messages } = conversation
  if (options.turns) await writeOut(await renderTurnTable(groupIntoTurns(messages, facts), facts))
  if (options.state || options.patterns || options.turns) return
  await printMessages(selectMessages(conversation, options), facts, options)
}

/** The messages that the options ask for. Throws if there are none. */
async function* selectMessages(
  { messages, facts }: Conversation,
  { turn, at, dropped }: Options,
): AsyncGenerator<NumberedMessage> {
  const numbered = numberTurns(messages, facts)
  let isFound = false
  let last = 0
  const selected = at !== undefined ? selectAround(numbered, facts, at, MESSAGES_AROUND) : numbered
  for await (const one of selected) {
    last = one.turn
    if (turn && one.turn > turn.to) break
    if (turn && one.turn < turn.from) continue
    if (dropped && !isDroppedContext(one.message, facts)) continue
    isFound = true
    yield one
  }
  if (isFound) return
  if (dropped)
    throw new AppError(
      'not_found',
      'No compaction dropped anything from this session: the model still has all of it.',
      'この会話には、圧縮で文脈から落ちた部分がありません。モデルはすべてを受け取っています。',
    )
  if (turn) throw noSuchTurnError(turn.from, last)
  if (at !== undefined)
    throw new AppError(
      'not_found',
      `No message ${at} in this session. fumi search prints the numbers of messages.`,
      `この会話にメッセージ ${at} はありません。番号は fumi search に表示されます。`,
    )
}

/** The model had it, and has only the summary now. Turns that were rolled back had left the context before. */
const isDroppedContext = (message: NormalizedMessage, facts: SessionFacts): boolean =>
  facts.isDropped(message) && !facts.isRolledBack(message) && message.raw.line_index > 0

/** Shown before and after the message of `--at`. */
const MESSAGES_AROUND = 10
/** Larger pieces only delay the first screen. */
const MIN_WRITE_LENGTH = 1 << 14

async function printMessages(
  messages: AsyncIterable<NumberedMessage>,
  facts: SessionFacts,
  { all = false, at }: Options,
): Promise<void> {
  const renderer = new ConversationRenderer({
    facts,
    all,
    width: readingWidth(),
    ...(at !== undefined && { isTarget: (id) => isReferenceTo(at, id) }),
  })
  let text = ''
  for await (const one of messages) {
    text += renderer.add(one)
    if (text.length < MIN_WRITE_LENGTH) continue
    await writeOut(text)
    text = ''
  }
  await writeOut(text + renderer.end())
}

/** Messages of the last turn that are shown before new ones. */
const MAX_RECENT_MESSAGES = 200

async function follow(log: Log, id: SessionId, { branches, ownName }: HeaderFacts, options: Options): Promise<void> {
  const { session, facts } = await readOverview(log, id)
  if (!session) throw noSessionError(log.source.path)
  const renderer = new ConversationRenderer({ facts, all: options.all === true, width: readingWidth() })
  if (!options.json) await writeOut(renderSessionHeader(session, branches, ownName))
  let turn = 0
  let recent: NumberedMessage[] | undefined = []
  for await (const event of followSession(log, id)) {
    if (event.kind === 'issue') await printIssues([event.issue])
    else if (event.kind === 'message') {
      const { message } = event
      // Some logs store messages about the session itself last; they are not part of the last turn.
      if (recent && message.raw.line_index === 0) continue
      const isTyped = classify(message, facts).isTyped
      if (isTyped) turn++
      if (recent) recent = [...(isTyped ? [] : recent.slice(1 - MAX_RECENT_MESSAGES)), { message, turn }]
      else if (options.json) await writeOutJson(message)
      else await writeOut(renderer.add({ message, turn }))
    } else {
      for (const one of recent ?? [])
        if (options.json) await writeOutJson(one.message)
        else await writeOut(renderer.add(one))
      recent = undefined
      if (!options.json) await writeOut(renderer.flush())
    }
  }
}

function renderState({ session, state }: Conversation): string {
  const recorded = state && readRecordedState(state)
  if (!recorded)
    throw new AppError(
      'bad_usage',
      'This conversation has no recorded state. Amazon Q, Kiro and fumibako record one.',
      'この会話には状態の記録がありません。状態を記録するのは Amazon Q、Kiro、fumibako です。',
    )
  return renderStateReport(session, recorded)
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

async function toSessionJson(log: Log, conversation: Conversation, options: Options): Promise<object> {
  const { session, state, facts, messages } = conversation
  const parts: Record<string, unknown> = { session }
  if (options.state) parts['state'] = state?.metadata ?? null
  if (options.patterns) {
    const summary = await readHistorySummary(log)
    parts['patterns'] = summary ? toPatternsJson(summary) : null
  }
  if (options.turns) parts['turns'] = await listTurns(messages, facts)
  if (Object.keys(parts).length > 1) return parts
  const isSelected = options.turn !== undefined || options.at !== undefined || options.dropped === true
  const list: NormalizedMessage[] = []
  if (isSelected) for await (const { message } of selectMessages(conversation, options)) list.push(message)
  else for await (const message of messages) list.push(message)
  return { session, messages: list }
}

function toPatternsJson({ isHistory, unreadableEntries, toolUses, ...counts }: HistorySummary): object {
  return { is_history: isHistory, ...counts, unreadable_entries: unreadableEntries, tool_uses: toolUses }
}

async function listTurns(messages: AsyncIterable<NormalizedMessage>, facts: SessionFacts): Promise<readonly object[]> {
  const list: object[] = []
  for await (const { number, messages: all, tools, errors, usage, rolledBack } of groupIntoTurns(messages, facts)) {
    if (number === 0) continue
    const [first] = all
    const prompt = first?.segments.map(({ text }) => text ?? '').join('\n') ?? ''
    list.push({
      number,
      prompt,
      ...timesOfTurn(all),
      messages: all.length,
      tools,
      errors,
      usage,
      rolled_back: rolledBack,
    })
  }
  return list
}

function parseTurnOption(text: string): TurnRange {
  const range = parseTurnRange(text)
  if (range) return range
  throw new InvalidArgumentError(
    say('Write turns as 3, 2..5, 4.. or ..3.', 'ターンは 3、2..5、4..、..3 のように指定してください。'),
  )
}
