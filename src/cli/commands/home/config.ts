/** `fumi config`: every setting, its value and where that comes from. */
import type { Command } from 'commander'
import type { House } from '../../../app.ts'
import { type ConfigProblem, describeConfigProblem, type Resolved } from '../../../config.ts'
import { AppError } from '../../../model/error.ts'
import { quietHouse } from '../../house.ts'
import { inWords, say } from '../../language.ts'
import { writeErr, writeJson, writeOut } from '../../output.ts'
import { examples } from '../../run/examples.ts'

interface Options {
  readonly unset?: boolean
  readonly json?: boolean
}

export function configCommand(program: Command): void {
  program
    .command('config')
    .summary(say('show or change the settings, and where each value comes from', '設定の表示と変更。値の由来も示す'))
    .argument(
      '[key]',
      say(
        'a setting, or the beginning of several: agents.codex',
        '設定の名前、または複数に共通する先頭部分（agents.codex）',
      ),
    )
    .argument('[value...]', say('what it shall be from now on; several for a list', '新しい値。リストには複数指定'))
    .option('--unset', say('take the setting out of the file', '設定をファイルから取り除く'))
    .option('--json', say('print JSON', 'JSON で出力'))
    .addHelpText(
      'after',
      examples(
        'fumi config',
        'fumi config keep all',
        'fumi config agents.codex.roots /backup/codex /mnt/old/.codex',
        'fumi config agents.kiro.enabled off',
        'fumi config --unset keep',
        'fumi --set keep=none config keep',
      ),
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
    throw new AppError(
      'bad_usage',
      'say which setting: fumi config --unset <key>, or fumi config <key> <value>.',
      '設定を指定してください: fumi config --unset <key>、または fumi config <key> <value>',
    )
  await house.configure(key, options.unset ? undefined : words)
  const { settings, file, problems } = await house.config()
  const now = settings.find((one) => one.key === key)
  if (!now) return
  if (options.json) await writeJson(jsonOf(now))
  else
    await writeOut(
      say(
        `${key} is ${shown(now)} (${now.from}), in ${file}\n`,
        `${key} は ${shown(now)} です（${ORIGINS[now.from]}）。ファイル: ${file}\n`,
      ),
    )
  if (!options.unset && now.from !== 'file') await writeErr(`fumi: ${stronger(now)}\n`)
  await tell(problems)
}

async function show(house: House, key: string | undefined, options: Options): Promise<void> {
  const { settings, file, problems } = await house.config()
  const exact = settings.find((one) => one.key === key)
  const wanted = exact ? [exact] : settings.filter((one) => key === undefined || one.key.startsWith(`${key}.`))
  if (wanted.length === 0)
    throw new AppError(
      'not_found',
      `there is no setting "${key}". fumi config lists those that there are.`,
      `「${key}」という設定はありません。fumi config で一覧を見られます。`,
    )
  if (options.json)
    await writeJson(exact ? jsonOf(exact) : { file, settings: wanted.map(jsonOf), problems: problems.map(problemJson) })
  else if (exact) await writeOut(`${[exact.value].flat().join('\n')}\n`)
  else await writeOut((await import('../../view/home/config-report.ts')).configReport(wanted, file))
  await tell(problems)
}

async function tell(problems: readonly ConfigProblem[]): Promise<void> {
  for (const problem of problems) await writeErr(`fumi: ${inWords(describeConfigProblem(problem))}\n`)
}

const ORIGINS = { default: '既定', file: 'ファイル', environment: '環境変数', flag: '--set' } as const

function stronger({ from, variable }: Resolved): string {
  const what = from === 'flag' ? '--set' : variable
  return say(`${what} goes before the file.`, `ファイルより ${what} が優先されます。`)
}

const shown = ({ value }: Resolved): string => JSON.stringify(value)

const jsonOf = ({ key, value, from, standard, variable, what }: Resolved): object => ({
  key,
  value,
  from,
  default: standard,
  variable,
  description: what.en,
})

const problemJson = (problem: ConfigProblem): object => ({ ...problem, reason: problem.reason.en })
