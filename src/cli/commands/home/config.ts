/** `fumi config`: every setting, its value and where that comes from. */
import type { Command } from 'commander'
import type { House } from '../../../app.ts'
import { type ConfigProblem, describeConfigProblem, type Resolved } from '../../../config.ts'
import { AppError } from '../../../model/error.ts'
import { quietHouse } from '../../house.ts'
import { writeErr, writeOut } from '../../output.ts'

interface Options {
  readonly unset?: boolean
  readonly json?: boolean
}

export function configCommand(program: Command): void {
  program
    .command('config')
    .summary('show or change the settings, and where each value comes from')
    .argument('[key]', 'a setting, or the beginning of several: agents.codex')
    .argument('[value...]', 'what it shall be from now on; several for a list')
    .option('--unset', 'take the setting out of the file')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi config\n  fumi config keep all\n  fumi config agents.codex.roots /backup/codex /mnt/old/.codex\n  fumi config agents.kiro.enabled off\n  fumi config --unset keep\n  fumi --set keep=none config keep',
    )
    .action(run)
}

async function run(key: string | undefined, words: readonly string[], options: Options): Promise<void> {
  const house = quietHouse()
  try {
    if (options.unset || words.length > 0) await change(house, key, words, options)
    else await show(house, key, options)
  } finally {
    house.close()
  }
}

async function change(house: House, key: string | undefined, words: readonly string[], options: Options) {
  if (key === undefined || (options.unset && words.length > 0))
    throw new AppError('bad_usage', 'say which setting: fumi config --unset <key>, or fumi config <key> <value>.')
  await house.configure(key, options.unset ? undefined : words)
  const { settings, file, problems } = await house.config()
  const now = settings.find((one) => one.key === key)
  if (!now) return
  if (options.json) await writeOut(`${JSON.stringify(jsonOf(now))}\n`)
  else await writeOut(`${key} is ${shown(now)} (${now.from}), in ${file}\n`)
  if (!options.unset && now.from !== 'file')
    await writeErr(`fumi: ${now.from === 'flag' ? '--set' : now.variable} goes before the file.\n`)
  await tell(problems)
}

async function show(house: House, key: string | undefined, options: Options): Promise<void> {
  const { settings, file, problems } = await house.config()
  const exact = settings.find((one) => one.key === key)
  const wanted = exact ? [exact] : settings.filter((one) => key === undefined || one.key.startsWith(`${key}.`))
  if (wanted.length === 0)
    throw new AppError('not_found', `there is no setting "${key}". fumi config lists those that there are.`)
  if (options.json)
    await writeOut(`${JSON.stringify(exact ? jsonOf(exact) : { file, settings: wanted.map(jsonOf), problems })}\n`)
  else if (exact) await writeOut(`${[exact.value].flat().join('\n')}\n`)
  else await writeOut((await import('../../view/home/config-report.ts')).configReport(wanted, file))
  await tell(problems)
}

async function tell(problems: readonly ConfigProblem[]): Promise<void> {
  for (const problem of problems) await writeErr(`fumi: ${describeConfigProblem(problem)}\n`)
}

const shown = ({ value }: Resolved): string => JSON.stringify(value)

const jsonOf = ({ key, value, from, standard, variable, what }: Resolved): object => ({
  key,
  value,
  from,
  default: standard,
  variable,
  description: what,
})
