/** `fumi validate`: what a server or a program would refuse in a file, and messages without it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { TARGETS, type Target } from '../../../convert/check/check.ts'
import { AppError } from '../../../model/error.ts'
import { checkFile, type FileCheck, PROFILES, type ProfileName } from '../../../openai.ts'
import { writeErr, writeOut } from '../../output.ts'
import { validateTarget } from '../../validate/target.ts'

interface Options {
  readonly target: Target
  readonly profile?: ProfileName
  readonly fix?: boolean
  readonly output?: string
  readonly json?: boolean
}

export function validateCommand(program: Command): void {
  program
    .command('validate')
    .summary('check a file against what a program or a server takes, and mend OpenAI messages')
    .argument('<file>', 'messages, a rollout, or a saved conversation; - for standard input')
    .addOption(new Option('--target <name>', 'whose format').choices(TARGETS).default('openai'))
    .addOption(
      new Option('--profile <name>', 'whose rules, for OpenAI messages (default: openai)').choices(
        Object.keys(PROFILES),
      ),
    )
    .option('--fix', 'write the file with its messages mended; needs -o')
    .option('-o, --output <file>', 'where to; - for standard output')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExits with 1 when there are problems that were not mended; warnings are none.\n\nExamples:\n  fumi validate messages.json\n  fumi validate train.jsonl --profile fine-tune\n  fumi validate chat.json --profile ollama --fix -o mended.json\n  fumi validate --target codex rollout-2026-01-02T03-04-05-….jsonl',
    )
    .action(run)
}

async function run(path: string, options: Options): Promise<void> {
  if (options.fix && options.output === undefined)
    throw new AppError('bad_usage', '--fix needs -o <file>; - for standard output.')
  if (!options.fix && options.output !== undefined) throw new AppError('bad_usage', '-o is for --fix.')
  if (options.target !== 'openai') {
    if (options.fix || options.profile !== undefined)
      throw new AppError('bad_usage', '--fix and --profile are for --target openai.')
    if (await validateTarget(path, options.target, options.json === true)) process.exitCode = EXIT_PROBLEMS
    return
  }
  const checked = checkFile(textAt(path), options.profile)
  if (checked.records === 0)
    throw new AppError(
      'nothing_readable',
      `${path} holds no messages: ${checked.foreign ?? 'nothing is in it'}. fumi detect says what it is.`,
    )
  if (options.fix) await save(path, checked, options.output ?? '-')
  else if (checked.problems.length > 0) process.exitCode = EXIT_PROBLEMS
  const report = options.json ? `${JSON.stringify(jsonOf(path, checked, options))}\n` : await reportOf(path, checked)
  await (options.output === '-' ? writeErr(report) : writeOut(report))
}

/** Not an error of the command: it did what it was asked for. */
const EXIT_PROBLEMS = 1

function textAt(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new AppError(code === 'EACCES' ? 'no_permission' : 'not_found', `${path} cannot be read (${code}).`)
  }
}

async function save(path: string, { mended, unmendable }: FileCheck, to: string): Promise<void> {
  if (unmendable > 0)
    throw new AppError(
      'bad_usage',
      `${path} holds ${unmendable} conversations in a form that cannot be mended in place; only lists of chat messages can.`,
    )
  if (to === '-') {
    await writeOut(mended)
    return
  }
  try {
    writeFileSync(to, mended, { mode: 0o600 })
  } catch (error) {
    throw new AppError('cannot_write', `${to} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

const jsonOf = (path: string, { problems, records }: FileCheck, { profile = 'openai', fix }: Options): object => ({
  path,
  target: 'openai',
  profile,
  conversations: records,
  mended: fix === true,
  problems,
})

async function reportOf(path: string, { problems, records }: FileCheck): Promise<string> {
  const { plural, table } = await import('../../view/table.ts')
  if (problems.length === 0) return `${path}: ${plural(records, 'conversation')}, no problem\n`
  const columns = [
    { title: 'line', right: true },
    { title: 'where' },
    { title: 'what', grows: true },
    { title: 'repair', grows: true },
  ]
  const rows = problems.map(({ line, path: where, what, repair }) => [String(line), where, what, repair])
  return `${table(columns, rows)}${plural(problems.length, 'problem')} in ${plural(records, 'conversation')}\n`
}
