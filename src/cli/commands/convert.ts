/** `fumi convert`: writes a session in another agent's format. */

import type { Command } from 'commander'
import type { App } from '../../app.ts'
import {
  type Conversion,
  convertLog,
  type LogOptions,
  type MessageFilter,
  type Report,
  SIDECAR_END,
  SIDECAR_START,
  sidecarLine,
  sidecarOf,
} from '../../convert.ts'
import { AtomicFile } from '../../lib/files/atomic-file.ts'
import { specialKindAt } from '../../lib/files/regular-file.ts'
import { AppError } from '../../model/error.ts'
import { formatCut, MAX_TOKENS_OPTION, REPORT_OPTION, renderLosses, saveLosses } from '../conversion-report.ts'
import { defineCommand, FORCE_OPTION, IN_OPTION, SESSION_OPTION, SESSION_OR_LOG } from '../define-command.ts'
import { refuseOverwriting } from '../export-files.ts'
import { type ChosenLog, resolveLog } from '../find-session.ts'
import { writeData, writeErr } from '../output.ts'
import {
  createRedactor,
  createSecretCounter,
  REDACT_OPTION,
  renderRedactionReport,
  renderSecretWarning,
} from '../redaction.ts'

interface Options {
  readonly to: string
  readonly output?: string
  readonly report?: string
  readonly strict?: boolean
  readonly profile?: string
  readonly history?: string
  readonly extensions: boolean
  readonly cwd?: string
  readonly maxTokens?: number
  readonly in?: string
  readonly session?: string
  readonly force?: boolean
  readonly redact?: boolean
}

export function convertCommand(program: Command): void {
  defineCommand(
    program,
    'convert',
    "convert a conversation to another agent's format",
    '会話を別のエージェントの形式に変換',
  )
    .argument('<session>', ...SESSION_OR_LOG)
    .group('Target', '変換先')
    .option(
      '--to <format>',
      'target format: codex, openai, sft, normalized …; an unknown name lists all',
      '変換先: codex、openai、sft、normalized など。不明な名前なら一覧を表示',
      { isRequired: true },
    )
    .option('-o, --output <file>', 'output file (default: standard output)', '出力ファイル（既定: 標準出力）')
    .option(...FORCE_OPTION)
    .option(
      '--profile <server>',
      'write messages that this server accepts: openai, openai-strict, ollama, vllm, llamacpp, lmstudio',
      'このサーバーが受け付けるメッセージを書く: openai、openai-strict、ollama、vllm、llamacpp、lmstudio',
    )
    .option('--cwd <directory>', 'directory in which the conversation continues', '会話の続きを始めるディレクトリー')
    .option('--no-extensions', 'omit x_conv, which only a conversion back needs', '逆変換だけに必要な x_conv を省く')
    .group('Content', '内容')
    .option(
      '--history <which>',
      'live: only what the model still sees; all: include rolled-back and compacted messages',
      'live: モデルに今も見える分だけ。all: 取り消しや圧縮で外れた分も含める',
      { default: 'live' },
    )
    .option(...MAX_TOKENS_OPTION)
    .option(...REDACT_OPTION)
    .group('Losses', '失われる内容')
    .option(
      '--strict',
      'write nothing and exit with 1 if anything would be lost',
      '失われる内容があれば、何も書かず終了コード 1 で終了',
    )
    .option(...REPORT_OPTION)
    .group('Input', '入力')
    .option(...IN_OPTION)
    .option(...SESSION_OPTION)
    .examples(
      'fumi convert rollout.jsonl --to openai -o talk.json',
      'fumi convert talk.json --to codex -o rollout.jsonl --report losses.json',
      'fumi convert codex:019c22d1 --to sft --no-extensions >> examples.jsonl',
    )
    .runWithApp(convertSession)
}

async function convertSession(app: App, name: string, options: Options): Promise<void> {
  if (options.history !== 'live' && options.history !== 'all')
    throw new AppError(
      'bad_usage',
      `Unknown --history "${options.history}". Use live or all.`,
      `--history は live か all です。「${options.history}」は使えません。`,
    )
  const redactor = options.redact ? await createRedactor(app.environment) : undefined
  const counter = redactor ? undefined : await createSecretCounter()
  const report = await runConversion(await resolveLog(app, name, options), app.directory, options, redactor ?? counter)
  if (redactor) await writeErr(renderRedactionReport(redactor.redacted()))
  if (counter) await writeErr(renderSecretWarning(counter))
  if (options.report !== undefined) await saveLosses(options.report, report)
  await writeErr(renderLosses(report))
  if (options.strict && isLossy(report)) process.exitCode = EXIT_LOSSY
}

/** Losses are a result, not an error of the command. */
const EXIT_LOSSY = 1

const isLossy = ({ losses }: Report): boolean => losses.some(({ kept_in }) => kept_in === null)

async function runConversion(
  { log, id }: ChosenLog,
  directory: string,
  options: Options,
  filter: MessageFilter | undefined,
): Promise<Report> {
  const settings: LogOptions = {
    directory,
    isWhole: options.history === 'all',
    withoutExtensions: !options.extensions,
    // Devices and pipes have no folder for a sidecar.
    hasSidecar: options.output !== undefined && options.extensions && specialKindAt(options.output) === undefined,
    ...(options.profile !== undefined && { profile: options.profile }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
    onCut: (cut) => void writeErr(formatCut(cut)),
  }
  const from = { agent: log.agent, source: log.source, session: id, ...(filter && { filter }) }
  const start = (): Promise<Conversion> => convertLog(from, options.to, settings)
  if (options.output === undefined) return writeToStandardOutput(start, options.strict === true)
  const saving: SaveTarget = { path: options.output, force: options.force === true }
  return saveConversion(await start(), saving, (report) => !(options.strict && isLossy(report)))
}

/** Printed bytes cannot be taken back, so a strict conversion runs once without printing. */
async function writeToStandardOutput(start: () => Promise<Conversion>, isStrict: boolean): Promise<Report> {
  if (isStrict) {
    const trial = await start()
    for await (const _ of trial.pieces);
    if (isLossy(trial.report())) return trial.report()
  }
  const conversion = await start()
  for await (const piece of conversion.pieces) if (piece.kind === 'bytes') await writeData(piece.bytes)
  return conversion.report()
}

interface SaveTarget {
  readonly path: string
  readonly force: boolean
}

/**
 * Writes the file and its sidecar, both or neither.
 * @param isWanted decides when both are complete but not yet in place
 */
async function saveConversion(
  { pieces, report }: Conversion,
  { path, force }: SaveTarget,
  isWanted: (report: Report) => boolean,
): Promise<Report> {
  const isSpecial = specialKindAt(path) !== undefined
  refuseOverwriting(path, force)
  const output = new AtomicFile(path)
  const sidecar = new AtomicFile(sidecarOf(path))
  try {
    let parts = 0
    for await (const piece of pieces) {
      if (piece.kind === 'bytes') output.write(piece.bytes)
      else sidecar.write(`${parts === 0 ? SIDECAR_START : ''}${sidecarLine(piece, parts++ === 0)}`)
    }
    if (parts > 0) sidecar.write(SIDECAR_END)
    const finalReport = report()
    if (!isWanted(finalReport)) return finalReport
    AtomicFile.commitAll(isSpecial ? [output] : [output, sidecar])
    return finalReport
  } finally {
    output.discard()
    sidecar.discard()
  }
}
