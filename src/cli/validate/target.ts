/** Checks a file against the format of a program, for `fumi validate --target`. */
import { type CheckTarget, checkTargetFile } from '../../convert/check/check.ts'
import type { CheckFinding } from '../../convert/check/finding.ts'
import { type OpenFile, openFile } from '../../lib/bytes.ts'
import { isSystemError, toReadError } from '../../lib/files/system-error.ts'
import { AppError } from '../../model/error.ts'
import { spoolInput } from '../input.ts'
import { localize, say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'

/** @returns whether there are errors */
export async function validateTarget(path: string, target: CheckTarget, json: boolean): Promise<boolean> {
  const spool = await spoolInput(path)
  try {
    const findings = await readFindings(spool?.path ?? path, path, target, spool !== undefined)
    if (json) await writeOutJson({ path, target, findings: findings.map(toEnglishFinding) })
    else await writeOut(await renderFindings(path, findings))
    return findings.some(({ severity }) => severity === 'error')
  } finally {
    spool?.remove()
  }
}

/** What programs read is the same in every language. */
const toEnglishFinding = (finding: CheckFinding): object => ({ ...finding, what: finding.what.en })

async function readFindings(
  path: string,
  shownPath: string,
  target: CheckTarget,
  isStream: boolean,
): Promise<readonly CheckFinding[]> {
  const file = openForCheck(path, shownPath)
  try {
    if (file.size === 0) throw new AppError('nothing_readable', `${shownPath} is empty.`, `${shownPath} は空です。`)
    const findings: CheckFinding[] = []
    // What came through a pipe has no name to check.
    const options = isStream ? {} : { path: shownPath }
    for await (const finding of checkTargetFile(target, () => file.chunks(0), options)) findings.push(finding)
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
        `${shownPath} is a folder.`,
        `${shownPath} はフォルダーです。ファイルを指定してください。`,
      )
    throw toReadError(shownPath, error)
  }
}

async function renderFindings(path: string, findings: readonly CheckFinding[]): Promise<string> {
  const { formatCount, plural, renderTable } = await import('../view/table.ts')
  if (findings.length === 0) return `${path}: ${say('no problem', '問題なし')}\n`
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

/** The rest of a place is a path, which is the same in every language. */
const toJapanesePlace = (place: string): string =>
  place
    .replace(/^line (\d+)/, '$1 行目')
    .replace(/^element (\d+)/, '$1 番目の要素')
    .replace(/^the end$/, '末尾')
    .replace(/^name$/, 'ファイル名')
