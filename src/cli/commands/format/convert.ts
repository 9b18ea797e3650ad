/** `fumi convert`: a conversation of one agent as another's. */
import type { Command } from 'commander'
import { type Conversion, convertLog, type LogOptions, type Report } from '../../../convert.ts'
import { AppError } from '../../../model/error.ts'
import { type Found, logNamed } from '../../choose.ts'
import { cutLine, tokensOf } from '../../convert/cut.ts'
import { type Saving, saveConversion } from '../../convert/save.ts'
import { saveReport } from '../../convert/save-report.ts'
import { openHouse } from '../../house.ts'
import { writeErr, writeOut } from '../../output.ts'

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
}

export function convertCommand(program: Command): void {
  program
    .command('convert')
    .summary("write a conversation as another agent's, and say what is lost")
    .argument('<session>', 'a session as fumi list names it, or a log file; - for standard input')
    .requiredOption('--to <format>', 'codex, openai, sft, normalized …; an unknown one lists all')
    .option('-o, --output <file>', 'write to this file; otherwise to standard output')
    .option('--report <file>', 'what was lost, where it is kept, and what was mended, as JSON')
    .option('--strict', 'exit with 1, and write nothing, when something would be kept nowhere')
    .option(
      '--profile <server>',
      'messages that this server takes: openai, openai-strict, ollama, vllm, llamacpp, lmstudio',
    )
    .option('--history <which>', 'live: what the model still knows; all: also what was taken back or compacted', 'live')
    .option('--no-extensions', 'leave out x_conv, which only the way back needs')
    .option('--max-tokens <n>', 'for a smaller window: the last turns, and a summary of facts for the others', tokensOf)
    .option('--cwd <directory>', 'the directory in which the conversation goes on')
    .option('--in <path>', 'look for the session in this database, file or folder')
    .option('--session <which>', 'one of several conversations in a file: its number, or its id')
    .option('--force', 'overwrite an existing file')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi convert rollout.jsonl --to openai -o talk.json\n  fumi convert talk.json --to codex -o rollout.jsonl --report losses.json\n  fumi convert codex:019c22d1 --to sft --no-extensions >> examples.jsonl',
    )
    .action(run)
}

async function run(name: string, options: Options): Promise<void> {
  if (options.history !== 'live' && options.history !== 'all')
    throw new AppError('bad_usage', `--history is live or all, not ${options.history}.`)
  const house = await openHouse()
  const found = await logNamed(house, name, options)
  try {
    const report = await converted(found, house.directory, options)
    if (options.report !== undefined) await saveReport(options.report, report)
    const { renderReport } = await import('../../convert/report.ts')
    await writeErr(renderReport(report))
    if (options.strict && isLossy(report)) process.exitCode = EXIT_LOSSY
  } finally {
    await found.release()
    house.close()
  }
}

/** Not an error of the command: it did what it was asked for. */
const EXIT_LOSSY = 1

const isLossy = ({ losses }: Report): boolean => losses.some(({ kept_in }) => kept_in === null)

async function converted({ log, id }: Found, directory: string, options: Options): Promise<Report> {
  const settings: LogOptions = {
    directory,
    isWhole: options.history === 'all',
    withoutExtensions: !options.extensions,
    hasSidecar: options.output !== undefined && options.extensions,
    ...(options.profile !== undefined && { profile: options.profile }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
    onCut: (cut) => void writeErr(cutLine(cut)),
  }
  const from = { agent: log.agent, source: log.source, session: id }
  const start = (): Promise<Conversion> => convertLog(from, options.to, settings)
  if (options.output === undefined) return toStandardOutput(start, options.strict === true)
  const saving: Saving = { path: options.output, force: options.force === true }
  return saveConversion(await start(), saving, (report) => !(options.strict && isLossy(report)))
}

/** What has been printed cannot be taken back: a strict conversion is tried first. */
async function toStandardOutput(start: () => Promise<Conversion>, isStrict: boolean): Promise<Report> {
  if (isStrict) {
    const trial = await start()
    for await (const _ of trial.pieces);
    if (isLossy(trial.report())) return trial.report()
  }
  const conversion = await start()
  for await (const piece of conversion.pieces) if (piece.kind === 'bytes') await writeOut(piece.bytes)
  return conversion.report()
}
