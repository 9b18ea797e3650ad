/** `fumi export`: writes sessions as documents for people or as data for programs. */
import { randomUUID } from 'node:crypto'
import { extname, join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { agentName } from '../../agents/agent-roots.ts'
import type { App } from '../../app.ts'
import type { ExportInput, ExportOptions, ExportWriter } from '../../export/export-input.ts'
import {
  EXPORT_FORMAT_ENTRIES,
  EXPORT_FORMAT_NAMES,
  type ExportFormatEntry,
  type ExportFormatName,
} from '../../export/formats.ts'
import { OutlineCollector } from '../../export/outline.ts'
import type { Privacy } from '../../export/privacy.ts'
import { toSourceFailure } from '../../lib/failure.ts'
import { debug } from '../../lib/logger.ts'
import { toPrintable } from '../../lib/text.ts'
import { AppError, EXIT_BUG, exitCodes, isProgramUpdated } from '../../model/error.ts'
import type { Issue } from '../../model/issue.ts'
import { parseTurnRange, type TurnRange } from '../../model/turn.ts'
import { ALL_RECORDS_OPTION, defineCommand, SESSION_OPTION } from '../define-command.ts'
import {
  createImageSaver,
  ExportFileNames,
  isFolderTarget,
  printExport,
  refuseOverwriting,
  saveExport,
  sendToCollector,
} from '../export-files.ts'
import { type ChosenLog, noSessionError, noSuchTurnError, resolveLog, type SessionSelector } from '../find-session.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { localize, say } from '../language.ts'
import { writeErr, writeOut } from '../output.ts'
import { REDACT_OPTION, renderRedactionReport } from '../redaction.ts'
import { printIssues } from '../report-issues.ts'
import { readOverview, readSessionMessages, rootOf } from '../session-overview.ts'
import { plural } from '../view/table.ts'

interface Options extends SessionSelector {
  readonly redact?: boolean
  readonly anonymize?: boolean
  readonly format?: ExportFormatName
  readonly output?: string
  readonly turns?: TurnRange
  readonly all?: boolean
  readonly images?: 'files' | 'inline'
  readonly force?: boolean
}

export function exportCommand(program: Command): void {
  defineCommand(
    program,
    'export',
    'export conversations as Markdown, HTML, JSON and other formats',
    '会話を Markdown・HTML・JSON などにエクスポート',
  )
    .argument(
      '<session...>',
      'session ids from fumi list, or log files; all for every session of the archive; - reads standard input',
      'fumi list に表示される会話 ID、またはログファイル。all はすべての会話、- は標準入力',
    )
    .group('Output', '出力')
    .option(
      '-o, --output <path>',
      'output file, or a folder for one file per session; - writes to standard output; with otel also the address of a collector',
      '出力ファイル、または会話ごとに 1 ファイルを書くフォルダー。- は標準出力。otel ではコレクターのアドレスも可',
    )
    .option(
      '--format <format>',
      'output format (default: from the extension of --output, else md)',
      '出力形式（既定: --output の拡張子から。決まらなければ md）',
      { choices: EXPORT_FORMAT_NAMES },
    )
    .option(
      '--images <how>',
      'write images of md to separate files, or embed them',
      'md の画像を別のファイルに書くか、埋め込むか',
      { choices: ['files', 'inline'] },
    )
    .option('--force', 'overwrite existing files', '既存のファイルを上書き')
    .group('Content', '内容')
    .option('--turns <a..b>', 'export only these turns: 3, 2..5, 4.. or ..3', 'このターンだけ: 3、2..5、4..、..3', {
      parse: parseTurnsOption,
    })
    .option(...ALL_RECORDS_OPTION)
    .option(...REDACT_OPTION)
    .option('--no-redact', 'keep secrets, which are removed by default', '既定では取り除く秘密情報を残す')
    .option(
      '--anonymize',
      'replace every word but keep the structure, for bug reports',
      '構造を保ったまま、言葉をすべて置き換える（不具合の報告用）',
    )
    .group('Input', '入力')
    .option(
      '--in <path>',
      'search this database, file or folder instead of the index',
      '索引の代わりに、このデータベース・ファイル・フォルダーから会話を探す',
    )
    .option(...SESSION_OPTION)
    .examples(
      'fumi export codex:019c22d1 -o talk.html',
      'fumi export rollout.jsonl > talk.md',
      'fumi export codex:019c22d1 amazon-q:1b4e28ba --format html -o talks/',
      'fumi export codex:019c22d1 --turns 2..4 --format txt',
      'fumi export codex:019c22d1 kiro:22222222 --format sft -o train.jsonl',
      'fumi export codex:019c22d1 --format otel -o spans.jsonl',
      'fumi export all --format otel -o http://localhost:4318/v1/traces',
    )
    .runWithApp(exportSessions)
}

async function exportSessions(app: App, given: readonly string[], options: Options): Promise<void> {
  const name = options.format ?? (isAddress(options.output) ? 'otel' : formatFromPath(options.output))
  const names = given.includes('all') && options.in === undefined ? await everySession(app) : given
  const target = resolveTarget(names.length, name, EXPORT_FORMAT_ENTRIES[name], options)
  await writeExports(app, names, EXPORT_FORMAT_ENTRIES[name], target, options)
}

const EVERYTHING = 1_000_000

async function everySession(app: App): Promise<readonly string[]> {
  await refreshIndex(app, 'first', 'an index')
  return app.list({ kind: 'conversation', children: 'all', limit: EVERYTHING }).sessions.map(({ id }) => id)
}

const isAddress = (output: string | undefined): boolean => /^https?:\/\//.test(output ?? '')

/** Markdown for a path without an extension; throws for an extension that no format has. */
function formatFromPath(output: string | undefined): ExportFormatName {
  const extension = output === undefined || isFolderTarget(output) ? '' : extname(output).slice(1).toLowerCase()
  if (extension === '') return 'md'
  const name = OTHER_EXTENSIONS.get(extension) ?? EXPORT_FORMAT_NAMES.find((one) => extensionOf(one) === extension)
  if (name) return name
  const known = [...new Set(EXPORT_FORMAT_NAMES.map((one) => `.${extensionOf(one)}`))].join(', ')
  throw new AppError(
    'bad_usage',
    `No format writes .${extension} files. Use one of ${known}, or specify the format with --format.`,
    `.${extension} を書く形式はありません。${known.replaceAll(', ', '、')} のいずれかにするか、--format で形式を指定してください。`,
  )
}

const extensionOf = (name: ExportFormatName): string => EXPORT_FORMAT_ENTRIES[name].extension

const OTHER_EXTENSIONS: ReadonlyMap<string, ExportFormatName> = new Map([
  ['markdown', 'md'],
  ['htm', 'html'],
  ['text', 'txt'],
])

type ExportTarget =
  | { readonly kind: 'stream' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'collector'; readonly url: string }

function resolveTarget(
  sessions: number,
  name: ExportFormatName,
  format: ExportFormatEntry,
  { output, force }: Options,
): ExportTarget {
  const isDocument = format.between === undefined
  if (output !== undefined && isAddress(output)) {
    if (name === 'otel') return { kind: 'collector', url: output }
    throw new AppError('bad_usage', 'Only otel can be sent to an address.', 'アドレスに送れる形式は otel だけです。')
  }
  if (output === undefined || output === '-') {
    if (isDocument && sessions > 1)
      throw new AppError(
        'bad_usage',
        `${name} writes one file per session. Specify a folder with -o.`,
        `${name} は会話ごとに 1 ファイルになります。-o でフォルダーを指定してください。`,
      )
    return { kind: 'stream' }
  }
  if (isFolderTarget(output) || (isDocument && sessions > 1)) return { kind: 'folder', path: output }
  refuseOverwriting(output, force === true)
  return { kind: 'file', path: output }
}

async function writeExports(
  app: App,
  sessions: readonly string[],
  format: ExportFormatEntry,
  target: ExportTarget,
  options: Options,
): Promise<void> {
  const issues: Issue[] = []
  const attempts = new ExportAttempts(sessions.length)
  const privacy = await createPrivacy(app, options)
  const names = new ExportFileNames()
  const writer = await format.load()
  async function* inputs(): AsyncGenerator<Named> {
    for (const name of sessions) {
      const one = await attempts.at(name, () => resolveLog(app, name, options))
      if (!one) continue
      const ready = await attempts.at(name, () => prepareExport(app, one, options.turns, privacy))
      issues.push(...(ready?.issues ?? []))
      if (ready) yield { name, material: ready.material }
    }
  }
  const joinedTo = (path: string | undefined): AsyncIterable<string> =>
    joinExports(inputs(), attempts, writer, format.between, exportOptions(options, path))
  if (target.kind === 'collector') {
    let sent = 0
    for await (const { name, material: input } of inputs())
      await attempts.at(name, async () => {
        for await (const request of renderExport(input, writer, exportOptions(options, undefined)))
          await sendToCollector(target.url, request)
        sent++
      })
    await writeOut(
      say(`Sent ${plural(sent, 'session')} to ${target.url}.\n`, `会話 ${sent} 件を ${target.url} に送りました。\n`),
    )
  } else if (target.kind === 'stream') await printExport(joinedTo(undefined))
  else if (target.kind === 'file') {
    await saveExport(target.path, joinedTo(target.path))
    await writeOut(`${target.path}\n`)
  } else
    for await (const { name, material: input } of inputs())
      await attempts.at(name, async () => {
        const path = join(target.path, names.of(input.session.id, format.extension))
        refuseOverwriting(path, options.force === true)
        await saveExport(path, renderExport(input, writer, exportOptions(options, path)))
        await writeOut(`${path}\n`)
      })
  await printIssues(issues)
  const redacted = privacy?.redacted()
  // Without the option, what was not changed needs no report.
  if (redacted && (options.redact || redacted.redactions.length > 0)) await writeErr(renderRedactionReport(redacted))
}

/** A session as the user named it. */
interface Named {
  readonly name: string
  readonly material: ExportInput
}

async function createPrivacy({ environment }: App, { redact, anonymize }: Options): Promise<Privacy | undefined> {
  if (redact === true && anonymize)
    throw new AppError(
      'bad_usage',
      '--anonymize already replaces every word. Omit --redact.',
      '--anonymize は言葉をすべて置き換えるため、--redact は不要です。--redact を外してください。',
    )
  if (redact === false && !anonymize) return undefined
  const { createAnonymization, createRedaction } = await import('../../export/privacy.ts')
  if (anonymize) return createAnonymization(randomUUID())
  const { KEEP_PEOPLE, peopleOnMachine } = await import('../../redact/people.ts')
  return createRedaction(redact ? peopleOnMachine(environment) : KEEP_PEOPLE)
}

async function* joinExports(
  inputs: AsyncIterable<Named>,
  attempts: ExportAttempts,
  write: ExportWriter,
  between: string | undefined,
  options: ExportOptions,
): AsyncGenerator<string> {
  let isFirst = true
  for await (const { name, material: input } of inputs) {
    let isBegun = false
    try {
      for await (const text of renderExport(input, write, options)) {
        if (!isBegun && !isFirst) yield between ?? ''
        isBegun = true
        yield text
      }
    } catch (error) {
      await attempts.failed(name, error)
      if (isBegun) yield '\n'
    }
    if (isBegun) isFirst = false
  }
}

async function* renderExport(input: ExportInput, write: ExportWriter, options: ExportOptions): AsyncGenerator<string> {
  let isEmpty = true
  for await (const text of write(input, options)) {
    isEmpty = false
    yield text
  }
  if (isEmpty)
    await writeErr(
      say(
        `${input.session.id}: skipped, nothing to export in this format\n`,
        `${input.session.id}: この形式で書き出せる内容がないため、省きました\n`,
      ),
    )
}

function exportOptions({ all, turns, images }: Options, document: string | undefined): ExportOptions {
  const hasImageFolder = document !== undefined && images !== 'inline'
  if (images === 'files' && document === undefined)
    throw new AppError(
      'bad_usage',
      '--images files needs a place for the images. Specify a file or folder with -o.',
      '--images files には書き込み先が必要です。-o でファイルかフォルダーを指定してください。',
    )
  return {
    ...(all !== undefined && { all }),
    ...(turns && { turns }),
    ...(hasImageFolder && { placeImage: createImageSaver(document) }),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

function parseTurnsOption(text: string): TurnRange {
  const range = parseTurnRange(text)
  if (range) return range
  throw new InvalidArgumentError(
    say('Write turns as 3, 2..5, 4.. or ..3.', 'ターンは 3、2..5、4..、..3 のように指定してください。'),
  )
}

interface PreparedExport {
  readonly material: ExportInput
  readonly issues: readonly Issue[]
}

/** Reads the session for its outline and its secrets. Exporting reads the messages again. */
async function prepareExport(
  app: App,
  { log, id }: ChosenLog,
  turns: TurnRange | undefined,
  privacy?: Privacy,
): Promise<PreparedExport> {
  const collector = new OutlineCollector()
  const overview = await readOverview(log, id, (message) => {
    collector.add(message)
    return privacy?.learn(message)
  })
  if (!overview.session) throw noSessionError(log.source.path)
  const outline = collector.outline()
  if (turns && turns.from > outline.turns) throw noSuchTurnError(turns.from, outline.turns)
  const annotation = app.annotations.get(id)
  const input: ExportInput = {
    session: overview.session,
    root: rootOf(app, overview.session),
    agent: agentName(log.agent, overview.session.agent),
    ...(annotation && {
      mark: { name: annotation.name, starred: annotation.starred, tags: annotation.tags, note: annotation.note },
    }),
    outline,
    messages: readSessionMessages(log, overview),
  }
  const privateInput = privacy ? await privacy.apply(input, () => readSessionMessages(log, overview)) : input
  return { material: privateInput, issues: overview.issues }
}

/** An error that would occur for every other session too. */
const affectsAllSessions = (error: unknown): boolean =>
  isProgramUpdated(error) ||
  (error instanceof AppError && (error.code === 'cannot_write' || error.code === 'unusable_data'))

/** Exports several sessions: reports one that fails and continues with the rest. */
class ExportAttempts {
  readonly #isOnly: boolean

  /** @param sessions how many; if the only session fails, the command fails */
  constructor(sessions: number) {
    this.#isOnly = sessions === 1
  }

  /** Undefined if it failed. */
  async at<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      await this.failed(name, error)
      return undefined
    }
  }

  /** The first failure decides the exit code. */
  async failed(name: string, error: unknown): Promise<void> {
    if (this.#isOnly || affectsAllSessions(error)) throw error
    process.exitCode ??= error instanceof AppError ? exitCodes[error.code] : EXIT_BUG
    if (error instanceof AppError) return writeErr(`fumi: ${name}: ${toPrintable(localize(error.phrase))}\n`)
    const { reason, stack } = toSourceFailure(error)
    await writeErr(`fumi: ${name}: ${toPrintable(reason)}\n`)
    if (stack !== undefined) debug(stack)
  }
}
