/** `fumi validate`: what a server would refuse in a file of messages, and the file without it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { AppError } from '../../model/error.ts'
import { checkFile, type FileCheck, PROFILES, type ProfileName } from '../../openai.ts'
import { writeErr, writeOut } from '../output.ts'

interface Options {
  readonly profile: ProfileName
  readonly fix?: boolean
  readonly output?: string
  readonly json?: boolean
}

export function validateCommand(program: Command): void {
  program
    .command('validate')
    .summary('check OpenAI messages against what a server takes, and mend them')
    .argument('<file>', 'a list of messages, a {messages} object, or such lines; - for standard input')
    .addOption(new Option('--profile <name>', 'whose rules').choices(Object.keys(PROFILES)).default('openai'))
    .option('--fix', 'write the file with its messages mended; needs -o')
    .option('-o, --output <file>', 'where to; - for standard output')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExits with 1 when there are problems that were not mended.\n\nExamples:\n  fumi validate messages.json\n  fumi validate train.jsonl --profile fine-tune\n  fumi validate chat.json --profile ollama --fix -o mended.json',
    )
    .action(run)
}

async function run(path: string, options: Options): Promise<void> {
  if (options.fix && options.output === undefined)
    throw new AppError('bad_usage', '--fix needs -o <file>; - for standard output.')
  if (!options.fix && options.output !== undefined) throw new AppError('bad_usage', '-o is for --fix.')
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

const jsonOf = (path: string, { problems, records }: FileCheck, { profile, fix }: Options): object => ({
  path,
  profile,
  conversations: records,
  mended: fix === true,
  problems,
})

async function reportOf(path: string, { problems, records }: FileCheck): Promise<string> {
  const { plural, table } = await import('../view/table.ts')
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
