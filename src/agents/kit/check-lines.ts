/** Checks a file of JSON lines: what every program requires of a line, and what one program requires of its records. */
import { isUtf8 } from 'node:buffer'
import { type ByteLine, splitLines } from '../../lib/lines.ts'
import { type Fields, isObject, parseStructure } from '../../lib/unknown-values.ts'
import {
  type CheckFinding,
  type CheckRule,
  error,
  FindingCollector,
  type ReportFinding,
  warning,
} from '../../model/check-finding.ts'
import type { Agent, CheckOptions } from '../agent.ts'

const LINE_RULES = {
  byte_order_mark: error('The file begins with a byte order mark.', 'ファイルがバイト順マークで始まっています。'),
  utf8: error('It holds bytes that are not UTF-8.', 'UTF-8 ではないバイトがあります。'),
  blank_line: warning('The line is empty.', '空の行です。'),
  json: error('The line is not a JSON object; it is skipped.', 'JSON オブジェクトではない行です。読み飛ばされます。'),
  final_newline: warning(
    'The last line has no newline; the next one is appended to it.',
    '最後の行に改行がありません。次の行がつながってしまいます。',
  ),
  call_answered: warning(
    'A call has no result; some servers reject that.',
    '結果のない呼び出しです。受け付けないサーバーがあります。',
  ),
  result_call: warning(
    'A result has no call before it; some servers reject that.',
    '前に呼び出しのない結果です。受け付けないサーバーがあります。',
  ),
} as const

type LineRule = keyof typeof LINE_RULES

/** Checks the records of one file, in order. */
export interface RecordChecker {
  record(record: Fields, place: string, length: number): void
  /** @param path of the file, where its name is to be checked */
  end?(path: string | undefined): void
}

/** Which calls wait for their result. */
export interface CallChecker {
  call(id: string, place: string): void
  result(id: string, place: string): void
}

export function lineCheck<Rule extends string>(
  rules: { readonly [rule in Rule]: CheckRule },
  checkerFor: (report: ReportFinding<Rule>, calls: CallChecker) => RecordChecker,
): NonNullable<Agent['check']> {
  const all = { ...LINE_RULES, ...rules } as { readonly [rule in Rule | LineRule]: CheckRule }
  return async function* (open, { path }: CheckOptions = {}): AsyncGenerator<CheckFinding> {
    const findings = new FindingCollector<Rule | LineRule>(all)
    const { report } = findings
    const open_calls = new Map<string, string>()
    const answered = new Set<string>()
    const records = checkerFor(report, {
      call: (id, place) => open_calls.set(id, place),
      result(id, place) {
        if (!open_calls.delete(id) && !answered.has(id)) report('result_call', place)
        answered.add(id)
      },
    })
    let isEnded = true
    for await (const batch of splitLines(open())) {
      for (const line of batch) {
        isEnded = line.ended
        checkLine(line, report, records)
      }
      yield* findings.take()
    }
    if (!isEnded) report('final_newline', 'the last line')
    for (const place of open_calls.values()) report('call_answered', place)
    records.end?.(path)
    yield* findings.take()
  }
}

function checkLine({ number, bytes }: ByteLine, report: ReportFinding<LineRule>, records: RecordChecker): void {
  const place = `line ${number}`
  if (!bytes) return report('json', place)
  if (!isUtf8(bytes)) report('utf8', place)
  const text = bytes.toString('utf8')
  if (text.startsWith('\uFEFF')) report('byte_order_mark', place)
  const bare = text.replace(/^\uFEFF/, '')
  if (bare.trim() === '') return report('blank_line', place)
  const record = parseStructure(bare)
  if (isObject(record)) records.record(record, place, bytes.length)
  else report('json', place)
}
