/** `fumi validate`: checks a file against the rules of a program or server, and repairs messages. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Agent } from '../../agents/agent.ts'
import { allAgents } from '../../agents/load-agents.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { type OpenFile, openFile } from '../../lib/files/file-bytes.ts'
import { readUserFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { isSystemError, toReadError } from '../../lib/files/system-error.ts'
import type { CheckFinding } from '../../model/check-finding.ts'
import { AppError } from '../../model/error.ts'
import type { AgentId } from '../../model/ids.ts'
import { headOf } from '../../normalize.ts'
import { checkFile, type FileCheck, PROFILES, type ProfileName } from '../../openai.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { spoolInput } from '../find-logs.ts'
import { localize, runLanguage, say } from '../language.ts'
import { writeData, writeErr, writeErrJson, writeOut, writeOutJson } from '../output.ts'
import { formatCount, plural, renderTable } from '../view/table.ts'

interface Options {
  readonly target?: AgentId
  readonly profile?: ProfileName
  readonly fix?: boolean
  readonly output?: string
  readonly json?: boolean
}

export function validateCommand(program: Command): void {
  defineCommand(
    program,
    'validate',
    'check a file against the rules of a program or server',
    'プログラムやサーバーが受け付けるファイルかを検査',
  )
    .argument(
      '<file>',
      'OpenAI messages, a Codex log, or a saved conversation; - reads standard input',
      'OpenAI のメッセージ、Codex のログ、保存した会話のファイル。- は標準入力',
    )
    .option(
      '--target <name>',
      'format to check against: codex, amazon-q, openai … (default: detected); an unknown name lists all',
      '検査する形式: codex、amazon-q、openai など（既定: 自動で判別）。不明な名前なら一覧を表示',
    )
    .option(
      '--profile <name>',
      'server whose rules apply to OpenAI messages (default: openai)',
      'OpenAI のメッセージにこのサーバーの規則を適用（既定: openai）',
      { choices: Object.keys(PROFILES) },
    )
    .option('--fix', 'write a repaired copy of the file; requires -o', '修正したファイルを書き込む。-o が必要')
    .option(
      '-o, --output <file>',
      'output file for --fix; - writes to standard output',
      '--fix の出力ファイル。- は標準出力',
    )
    .option(...JSON_OPTION)
    .note(
      'Exits with 1 if errors remain; warnings do not count.',
      'エラーが残っていると、終了コード 1 で終了します。警告は数えません。',
    )
    .examples(
      'fumi validate messages.json',
      'fumi validate train.jsonl --profile fine-tune',
      'fumi validate chat.json --profile ollama --fix -o repaired.json',
      'fumi validate rollout-2026-01-02T03-04-05-….jsonl',
      'fumi validate saved.json --target amazon-q',
    )
    .run(run)
}

async function run(path: string, options: Options): Promise<void> {
  if (options.fix && options.output === undefined)
    throw new AppError(
      'bad_usage',
      '--fix requires -o <file>. Pass -o - for standard output.',
      '--fix には -o <ファイル> が必要です。標準出力に書くには -o - を指定してください。',
    )
  if (!options.fix && options.output !== undefined)
    throw new AppError('bad_usage', '-o requires --fix.', '-o は --fix とともに使います。')
  const target = await chooseTarget(path, options)
  if (target.id !== MESSAGES) {
    if (options.fix || options.profile !== undefined)
      throw new AppError(
        'bad_usage',
        '--fix and --profile require --target openai.',
        '--fix と --profile は --target openai でだけ使えます。',
      )
    if (await validateTarget(path, target, options.json === true)) process.exitCode = EXIT_PROBLEMS
    return
  }
  const checked = checkFile(readInputText(path), options.profile)
  if (checked.records === 0)
    throw new AppError(
      'nothing_readable',
      `${path} contains no messages: ${checked.foreign?.en ?? 'it is empty'}. Run fumi detect to identify it.`,
      `${path} にメッセージがありません（${checked.foreign?.ja ?? '中身がありません'}）。何のファイルかは fumi detect で分かります。`,
    )
  if (options.fix) await saveRepaired(path, checked, options.output ?? '-')
  else if (checked.problems.length > 0) process.exitCode = EXIT_PROBLEMS
  const isToErr = options.output === '-'
  if (options.json) await (isToErr ? writeErrJson : writeOutJson)(toCheckJson(path, checked, options))
  else await (isToErr ? writeErr : writeOut)(renderProblems(path, checked))
}

/** The only format whose problems can be repaired. */
const MESSAGES = 'openai'

type Checker = Agent & Required<Pick<Agent, 'check'>>

async function chooseTarget(path: string, { target, fix, profile }: Options): Promise<Checker> {
  const agents = await allAgents()
  const checkers = agents.filter((agent): agent is Checker => agent.check !== undefined)
  const named = (id: AgentId | undefined): Checker | undefined => checkers.find((one) => one.id === id)
  if (target !== undefined) return named(target) ?? throwUnknownTarget(target, checkers)
  // Options for messages imply messages. So does standard input, which can be read only once.
  const isForMessages = fix || profile !== undefined || path === '-' || !isFile(path)
  const head = isForMessages ? undefined : await headOf(path)
  const detected = head && agents.find((one) => one.recognize(head, path))
  return named(detected?.id) ?? named(MESSAGES) ?? throwUnknownTarget(MESSAGES, checkers)
}

function throwUnknownTarget(target: AgentId, checkers: readonly Checker[]): never {
  const known = checkers.map(({ id }) => id)
  throw new AppError(
    'bad_usage',
    `Unknown target "${target}". Available: ${known.join(', ')}.`,
    `「${target}」という検査対象はありません。使えるのは ${known.join('、')} です。`,
  )
}

/** Problems are a result, not an error of the command. */
const EXIT_PROBLEMS = 1

function readInputText(path: string): string {
  try {
    return (path === '-' ? readFileSync(0) : readUserFile(path)).toString()
  } catch (error) {
    throw toReadError(path, error)
  }
}

async function saveRepaired(
  path: string,
  { mended: repaired, unmendable: unrepairable }: FileCheck,
  to: string,
): Promise<void> {
  if (unrepairable > 0)
    throw new AppError(
      'bad_usage',
      `Cannot repair ${plural(unrepairable, 'conversation')} in ${path}. --fix repairs only lists of chat messages.`,
      `${path} には、修正できない形の会話が ${unrepairable} 件あります。--fix で修正できるのはチャットメッセージの配列だけです。`,
    )
  if (to === '-') await writeData(repaired)
  else writeFileAtomically(to, [repaired])
}

const toCheckJson = (path: string, { problems, records }: FileCheck, { profile = 'openai', fix }: Options): object => ({
  path,
  target: MESSAGES,
  profile,
  conversations: records,
  mended: fix === true,
  problems: problems.map(({ ja: _, ...problem }) => problem),
})

function renderProblems(path: string, { problems, records }: FileCheck): string {
  if (problems.length === 0)
    return say(
      `${path}: ${plural(records, 'conversation')}, no problems\n`,
      `${path}: 会話 ${formatCount(records)} 件、問題なし\n`,
    )
  const columns = [
    { title: say('line', '行'), right: true },
    { title: say('where', '場所') },
    { title: say('what', '内容'), grows: true },
    { title: say('repair', '修正'), grows: true },
  ]
  const rows = problems.map(({ line, path: where, ja, ...en }) => {
    const { what, repair } = runLanguage === 'ja' && ja ? ja : en
    return [String(line), where, what, repair]
  })
  const sum = say(
    `${plural(problems.length, 'problem')} in ${plural(records, 'conversation')}`,
    `会話 ${formatCount(records)} 件に問題 ${formatCount(problems.length)} 件`,
  )
  return `${renderTable(columns, rows)}${sum}\n`
}

/** @returns whether there are errors */
async function validateTarget(path: string, target: Checker, json: boolean): Promise<boolean> {
  const spooled = await spoolInput(path)
  const findings = await readFindings(spooled ?? path, path, target, spooled !== undefined)
  if (json) await writeOutJson({ path, target: target.id, findings: findings.map(toEnglishFinding) })
  else await writeOut(renderFindings(path, findings))
  return findings.some(({ severity }) => severity === 'error')
}

/** JSON output is always English. */
const toEnglishFinding = (finding: CheckFinding): object => ({ ...finding, what: finding.what.en })

async function readFindings(
  path: string,
  shownPath: string,
  target: Checker,
  isStream: boolean,
): Promise<readonly CheckFinding[]> {
  const file = openForCheck(path, shownPath)
  try {
    if (file.size === 0) throw new AppError('nothing_readable', `${shownPath} is empty.`, `${shownPath} は空です。`)
    const findings: CheckFinding[] = []
    // Piped input has no file name to check.
    const options = isStream ? {} : { path: shownPath }
    for await (const finding of target.check(() => file.chunks(0), options)) findings.push(finding)
    return findings
  } finally {
    file.close()
  }
}

function openForCheck(path: string, shownPath: string): OpenFile {
  try {
    return openFile(path)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EISDIR')
      throw new AppError(
        'bad_usage',
        `${shownPath} is a folder. Specify a file.`,
        `${shownPath} はフォルダーです。ファイルを指定してください。`,
      )
    throw toReadError(shownPath, error)
  }
}

function renderFindings(path: string, findings: readonly CheckFinding[]): string {
  if (findings.length === 0) return `${path}: ${say('no problems', '問題なし')}\n`
  const columns = [
    { title: '' },
    { title: say('where', '場所'), grows: true },
    { title: say('rule', '規則') },
    { title: say('what', '内容'), grows: true },
  ]
  const rows = findings.map(({ severity, place, rule, what }) => [
    severityLabel(severity),
    say(place, toJapanesePlace(place)),
    rule,
    localize(what),
  ])
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  const sum = say(
    `${plural(errors, 'error')}, ${plural(warnings, 'warning')}`,
    `エラー ${formatCount(errors)} 件、警告 ${formatCount(warnings)} 件`,
  )
  return `${renderTable(columns, rows)}${sum}\n`
}

const severityLabel = (severity: CheckFinding['severity']): string =>
  say(severity, severity === 'error' ? 'エラー' : '警告')

/** Only the start of a location is text; the rest is a path. */
const toJapanesePlace = (place: string): string =>
  place
    .replace(/^line (\d+)/, '$1 行目')
    .replace(/^element (\d+)/, '$1 番目の要素')
    .replace(/^the end$/, '末尾')
    .replace(/^name$/, 'ファイル名')
