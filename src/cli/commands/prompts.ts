/** `fumi prompts`: lists every prompt, newest first. */
import type { Command } from 'commander'
import { catchReaderErrors } from '../../agents/catch-reader-errors.ts'
import type { App } from '../../app.ts'
import { toSourceFailure } from '../../lib/failure.ts'
import { debug } from '../../lib/logger.ts'
import { foldText } from '../../lib/text.ts'
import { classify, withoutInjectedText } from '../../model/classify.ts'
import { EXIT_BUG } from '../../model/error.ts'
import type { Issue } from '../../model/issue.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import type { Session } from '../../model/session.ts'
import { SessionFactsCollector, UNREPEATED_EVENT } from '../../model/session-facts.ts'
import { toSingleLine } from '../../model/tool-summary.ts'
import type { Log } from '../../normalize.ts'
import { defineCommand } from '../define-command.ts'
import { parseLimit } from '../index-queries/filters.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { type LinkedPrompt, type LoggedPrompt, linkPrompts, type TypedList } from '../link-prompts.ts'
import { printReport } from '../pager.ts'
import { createLogProgress } from '../progress.ts'
import { printIssues, reportIncomplete } from '../report-issues.ts'
import { paint } from '../view/paint.ts'
import { formatCount, isPiped, plural, renderTable, type TableColumn } from '../view/table.ts'
import { formatDateTime, shortId, toTerminalText } from '../view/text.ts'

interface Options {
  readonly limit?: string
  readonly json?: boolean
}

export function promptsCommand(program: Command): void {
  defineCommand(
    program,
    'prompts',
    'list the prompts that you typed, newest first',
    'これまでの依頼を新しい順に一覧表示',
  )
    .argument('[query...]', 'list prompts that contain this exact text', 'この語句をこのまま含む依頼だけを表示')
    .option('-n, --limit <n>', 'maximum number of prompts; 0 for all', '表示件数の上限。0 で全件')
    .option('--json', 'print JSON with the full text of each prompt', '依頼の全文を JSON で出力')
    .examples('fumi prompts', 'fumi prompts double ring', 'fumi prompts --limit 0 --json')
    .runWithApp(listPrompts)
}

async function listPrompts(app: App, words: readonly string[], options: Options): Promise<void> {
  const limit = parseLimit(options.limit, isPiped() ? 0 : 40)
  const { prompts, lists, issues, isIncomplete } = await collectPrompts(app)
  const query = foldText(words.join(' '))
  const wanted = linkPrompts(prompts, lists).filter(({ text }) => foldText(text).includes(query))
  const shown = limit === 0 ? wanted : wanted.slice(0, limit)
  await printReport(
    options.json,
    () => ({ total: wanted.length, prompts: shown }),
    () => renderPromptTable(shown, wanted.length),
  )
  await printIssues(issues)
  await reportIncomplete(issues)
  if (isIncomplete) process.exitCode ??= EXIT_BUG
}

const COLUMNS: readonly TableColumn[] = [
  { title: say('when', '日時') },
  { title: say('session', '会話 ID') },
  { title: say('prompt', '依頼'), grows: true },
]

/** @param all number of prompts before `--limit` */
function renderPromptTable(prompts: readonly LinkedPrompt[], all: number): string {
  if (prompts.length === 0) return say('No matching prompts.\n', '該当する依頼はありません。\n')
  const rows = prompts.map(({ at, agent, session, text }) => [
    formatDateTime(at),
    session === null ? agent : shortId(session),
    toSingleLine(toTerminalText(text)),
  ])
  const remaining = all - prompts.length
  const more = say(
    `${plural(remaining, 'older prompt')} not shown; pass --limit 0 to show all.\n`,
    `古い依頼 ${formatCount(remaining)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  return `${renderTable(COLUMNS, rows)}${remaining > 0 ? paint.dim(more) : ''}`
}

export async function collectPrompts(app: App): Promise<PromptCollector> {
  return (await refreshIndex(app, 'both')) ? collectFromIndex(app) : collectFromLogs(app)
}

async function collectFromIndex(app: App): Promise<PromptCollector> {
  const collector = new PromptCollector()
  let candidates: NormalizedMessage[] = []
  let session: Session | undefined
  const end = (): void => {
    if (session) collector.add(session, candidates)
    candidates = []
  }
  for await (const body of app.messageStore.readPrompts()) {
    if (body.known.session !== session?.id) {
      end()
      session = app.index.header(body.known.session)
    }
    if (body.kind === 'body' && mayBePrompt(body.message)) candidates.push(body.message)
  }
  end()
  collector.issues.push(...app.index.unreadable())
  return collector
}

async function collectFromLogs(app: App): Promise<PromptCollector> {
  const logs: Log[] = []
  for await (const log of app.findLogs([])) if (!log.unknown) logs.push(log)
  const progress = await createLogProgress(logs.map(({ source }) => source))
  const collector = new PromptCollector()
  try {
    for (const log of logs) {
      await readLogPrompts(log, collector, progress.at)
      progress.done(log.source)
    }
    for await (const log of app.backupService.onlyInBackup(collector.sessions, []))
      await readLogPrompts(log, collector, () => {})
  } finally {
    progress.stop()
  }
  return collector
}

async function readLogPrompts(log: Log, collector: PromptCollector, onOffset: (offset: number) => void): Promise<void> {
  let session: Session | undefined
  const candidates: NormalizedMessage[] = []
  const facts = new SessionFactsCollector()
  for await (const batch of catchReaderErrors(log.source, log.agent.read(log.source)))
    for (const one of batch) {
      if (one.kind === 'session') session = one.session
      if (one.kind === 'cursor') onOffset(one.cursor.offset ?? 0)
      if (one.kind === 'issue' && one.issue.code === 'unreadable') collector.issues.push(one.issue)
      if (one.kind !== 'message') continue
      if (mayBePrompt(one.message)) candidates.push(one.message)
      facts.add(one.message)
    }
  if (!session) return
  const known = facts.facts()
  const isList = session.kind === 'prompts'
  collector.add(session, isList ? candidates : candidates.filter((message) => classify(message, known).isTyped))
}

class PromptCollector {
  readonly sessions = new Set<string>()
  readonly prompts: LoggedPrompt[] = []
  readonly lists: TypedList[] = []
  readonly issues: Issue[] = []
  /** A bug prevented reading some session's prompts. */
  isIncomplete = false
  /** Copies of a log contain the same messages. */
  readonly #seen = new Set<string>()

  /** A failure loses the prompts of this session only. */
  add(session: Session, candidates: readonly NormalizedMessage[]): void {
    this.sessions.add(session.id)
    try {
      this.#add(session, candidates)
    } catch (error) {
      const { code, reason, stack } = toSourceFailure(error)
      this.issues.push({ code, reason, path: session.path })
      this.isIncomplete = true
      if (stack !== undefined) debug(stack)
    }
  }

  #add(session: Session, candidates: readonly NormalizedMessage[]): void {
    if (session.kind === 'prompts') this.lists.push(toTypedList(session, candidates))
    // The parent wrote the prompts of a sub-agent, not the user.
    else if (session.relation !== 'subagent') this.#conversation(session, candidates)
  }

  #conversation(session: Session, prompts: readonly NormalizedMessage[]): void {
    for (const message of prompts) {
      const key = `${session.id}\n${message.id}`
      const text = typedTextOf(message)
      if (text === '' || this.#seen.has(key)) continue
      this.#seen.add(key)
      this.prompts.push({
        agent: session.agent,
        session: session.id,
        message_id: message.id,
        cwd: session.cwd ?? null,
        text,
        at: recordedTime(message),
      })
    }
  }
}

/** Whether an event is a prompt depends on the rest of its session. */
const mayBePrompt = (message: NormalizedMessage): boolean =>
  message.role === 'user' || classify(message, UNREPEATED_EVENT).kind === 'prompt'

function toTypedList({ agent }: Session, messages: readonly NormalizedMessage[]): TypedList {
  const prompts = messages.map((message) => ({
    text: typedTextOf(message),
    at: recordedTime(message),
    of: message.metadata?.prompt_of ?? undefined,
  }))
  return { agent, prompts }
}

const typedTextOf = ({ segments }: NormalizedMessage): string =>
  segments
    .map(withoutInjectedText)
    .filter((part) => part.trim() !== '')
    .join('\n')
    .trim()
