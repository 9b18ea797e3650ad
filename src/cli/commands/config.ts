/** `fumi config`: shows every setting with its value and origin, or changes one. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { type ConfigProblem, describeConfigProblem, type ResolvedSetting } from '../../config/config.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { localize, say } from '../language.ts'
import { createApp } from '../open-app.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { isPiped, renderTable, type TableColumn } from '../view/table.ts'
import { codeLabel, toTerminalText } from '../view/text.ts'
import { renderNote } from '../view/wrap-text.ts'

interface Options {
  readonly unset?: boolean
  readonly json?: boolean
}

export function configCommand(program: Command): void {
  defineCommand(program, 'config', 'show or change settings', '設定を表示・変更')
    .argument(
      '[key]',
      'a setting, or a common prefix of several: agents.codex',
      '設定の名前、または複数に共通する先頭部分（agents.codex）',
    )
    .argument('[value...]', 'new value; several values for a list', '新しい値。リストには複数指定')
    .option('--unset', 'remove the setting from the file', '設定をファイルから取り除く')
    .option(...JSON_OPTION)
    .examples(
      'fumi config',
      'fumi config keep all',
      'fumi config agents.codex.roots /backup/codex /mnt/old/.codex',
      'fumi config agents.kiro.enabled off',
      'fumi config --unset keep',
      'fumi --set keep=none config keep',
    )
    .run(run)
}

async function run(key: string | undefined, values: readonly string[], options: Options): Promise<void> {
  // Not openApp: this command reports wrong settings itself.
  const app = createApp()
  try {
    await (options.unset || values.length > 0
      ? changeSetting(app, key, values, options)
      : showSettings(app, key, options))
  } finally {
    app.close()
  }
}

async function changeSetting(app: App, key: string | undefined, values: readonly string[], options: Options) {
  if (key === undefined || (options.unset && values.length > 0))
    throw new AppError(
      'bad_usage',
      'Specify a setting: fumi config --unset <key>, or fumi config <key> <value>.',
      '設定を指定してください: fumi config --unset <key>、または fumi config <key> <value>',
    )
  await app.configure(key, options.unset ? undefined : values)
  const { settings, file, problems } = await app.config()
  const current = settings.find((one) => one.key === key)
  if (!current) return
  if (options.json) await writeOutJson(toSettingJson(current))
  else
    await writeOut(
      say(
        `${key} is ${formatValue(current)} (${current.from}), in ${file}\n`,
        `${key} は ${formatValue(current)} です（${ORIGIN_LABELS_JA[current.from]}）。ファイル: ${file}\n`,
      ),
    )
  if (!options.unset && current.from !== 'file') await writeErr(`fumi: ${overrideNote(current)}\n`)
  await printProblems(problems)
}

async function showSettings(app: App, key: string | undefined, options: Options): Promise<void> {
  const { settings, file, problems } = await app.config()
  const exact = settings.find((one) => one.key === key)
  const wanted = exact ? [exact] : settings.filter((one) => key === undefined || one.key.startsWith(`${key}.`))
  if (wanted.length === 0)
    throw new AppError(
      'not_found',
      `Unknown setting "${key}". Run fumi config for a list.`,
      `「${key}」という設定はありません。一覧は fumi config で見られます。`,
    )
  if (options.json)
    await writeOutJson(
      exact
        ? toSettingJson(exact)
        : { file, settings: wanted.map(toSettingJson), problems: problems.map(toProblemJson) },
    )
  else if (exact) await writeOut(`${[exact.value].flat().join('\n')}\n`)
  else await writeOut(renderConfigReport(wanted, file))
  await printProblems(problems)
}

async function printProblems(problems: readonly ConfigProblem[]): Promise<void> {
  for (const problem of problems) await writeErr(`fumi: ${localize(describeConfigProblem(problem))}\n`)
}

const ORIGIN_LABELS_JA = { default: '既定', file: 'ファイル', environment: '環境変数', flag: '--set' } as const

function overrideNote({ from, variable }: ResolvedSetting): string {
  const what = from === 'flag' ? '--set' : variable
  return say(`${what} overrides the file.`, `ファイルより ${what} が優先されます。`)
}

const formatValue = ({ value }: ResolvedSetting): string => JSON.stringify(value)

const toSettingJson = ({ key, value, from, standard, variable, what }: ResolvedSetting): object => ({
  key,
  value,
  from,
  default: standard,
  variable,
  description: what.en,
})

const toProblemJson = (problem: ConfigProblem): object => ({ ...problem, reason: problem.reason.en })

const COLUMNS: readonly TableColumn[] = [
  { title: say('setting', '設定') },
  { title: say('value', '値'), grows: true },
  { title: say('source', '由来') },
  { title: say('description', '説明'), grows: true },
]

function renderConfigReport(settings: readonly ResolvedSetting[], file: string): string {
  const rows = settings.map(({ key, value, from, what }) => [
    key,
    toTerminalText(formatCell(value)),
    codeLabel(from),
    localize(what),
  ])
  const hint = say(
    `To change a setting in ${toTerminalText(file)}: fumi config <setting> <value>`,
    `設定を変えるには: fumi config <設定> <値>（${toTerminalText(file)} に書き込みます）`,
  )
  return isPiped() ? renderTable(COLUMNS, rows) : `${renderTable(COLUMNS, rows)}${renderNote(hint)}`
}

function formatCell(value: ResolvedSetting['value']): string {
  if (value === null || value === '') return '–'
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return String(value)
  return value.length === 0 ? '–' : value.join(', ')
}
