/** Checks a file against the format of a program, for `fumi validate --target`. */
import { checkTarget, type Target } from '../../convert/check/check.ts'
import type { Finding } from '../../convert/check/finding.ts'
import { type OpenFile, openFile } from '../../lib/bytes.ts'
import { isSystemError, readError } from '../../lib/files/system-error.ts'
import { AppError } from '../../model/error.ts'
import { spooledAt } from '../input.ts'
import { inWords, say } from '../language.ts'
import { writeJson, writeOut } from '../output.ts'

/** @returns whether there are errors */
export async function validateTarget(path: string, target: Target, json: boolean): Promise<boolean> {
  const spool = await spooledAt(path)
  try {
    const findings = await findingsIn(spool?.path ?? path, path, target, spool !== undefined)
    if (json) await writeJson({ path, target, findings: findings.map(inEnglish) })
    else await writeOut(await reportOf(path, findings))
    return findings.some(({ severity }) => severity === 'error')
  } finally {
    spool?.remove()
  }
}

/** What programs read is the same in every language. */
const inEnglish = (finding: Finding): object => ({ ...finding, what: finding.what.en })

async function findingsIn(path: string, shown: string, target: Target, isStream: boolean): Promise<readonly Finding[]> {
  const file = openAt(path, shown)
  try {
    if (file.size === 0) throw new AppError('nothing_readable', `${shown} is empty.`, `${shown} は空です。`)
    const findings: Finding[] = []
    // What came through a pipe has no name to check.
    const options = isStream ? {} : { path: shown }
    for await (const finding of checkTarget(target, () => file.chunks(0), options)) findings.push(finding)
    return findings
  } finally {
    file.close()
  }
}

function openAt(path: string, shown: string): OpenFile {
  try {
    return openFile(path)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EISDIR')
      throw new AppError(
        'bad_usage',
        `${shown} is a folder.`,
        `${shown} はフォルダーです。ファイルを指定してください。`,
      )
    throw readError(shown, error)
  }
}

async function reportOf(path: string, findings: readonly Finding[]): Promise<string> {
  const { count, plural, table } = await import('../view/table.ts')
  if (findings.length === 0) return `${path}: ${say('no problem', '問題なし')}\n`
  const columns = [
    { title: '' },
    { title: say('where', '場所'), grows: true },
    { title: say('rule', '規則') },
    { title: say('what', '内容'), grows: true },
  ]
  const rows = findings.map(({ severity, place, rule, what }) => [
    severityWord(severity),
    say(place, placeJa(place)),
    rule,
    inWords(what),
  ])
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  const sum = say(
    `${plural(errors, 'error')}, ${plural(warnings, 'warning')}`,
    `エラー ${count(errors)} 件、警告 ${count(warnings)} 件`,
  )
  return `${table(columns, rows)}${sum}\n`
}

const severityWord = (severity: Finding['severity']): string => say(severity, severity === 'error' ? 'エラー' : '警告')

/** The rest of a place is a path, which is the same in every language. */
const placeJa = (place: string): string =>
  place
    .replace(/^line (\d+)/, '$1 行目')
    .replace(/^element (\d+)/, '$1 番目の要素')
    .replace(/^the end$/, '末尾')
    .replace(/^name$/, 'ファイル名')
