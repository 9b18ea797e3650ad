/** `fumi normalize`: prints one NormalizedMessage per line. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Command } from 'commander'
import { thisMachine } from '../../lib/files/data-directory.ts'
import { toPrintableField } from '../../lib/text.ts'
import { describeIssue, incompleteReasonOf } from '../../model/code-texts.ts'
import { AppError } from '../../model/error.ts'
import type { Issue } from '../../model/issue.ts'
import { type NormalizedMessage, serializeMessage } from '../../model/normalized.ts'
import { type Log, type ReadItem, readLog } from '../../normalize.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { defineCommand } from '../define-command.ts'
import { findLogsAt } from '../find-logs.ts'
import { localize } from '../language.ts'
import { LineWriter, writeErr, writeErrJson } from '../output.ts'
import { createLogProgress, type LogProgress } from '../progress.ts'
import { createRedactor, REDACT_OPTION, renderRedactionReport } from '../redaction.ts'
import { reportIncomplete } from '../report-issues.ts'

interface Options {
  readonly sanitized?: boolean
  readonly includePrivate?: boolean
  readonly jsonIssues?: boolean
  readonly redact?: boolean
}

export function normalizeCommand(program: Command): void {
  defineCommand(
    program,
    'normalize',
    'print logs as NormalizedMessages, one JSON object per line',
    'ログを NormalizedMessage として出力（1 行に JSON 1 件）',
  )
    .argument('<path...>', 'log files or folders; - reads standard input', 'ログファイルまたはフォルダー。- は標準入力')
    .option(
      '--sanitized',
      'print text as sanitized HTML (NormalizedMessage specification)',
      '本文を無害化した HTML で出力（NormalizedMessage の仕様どおり）',
    )
    .option(...REDACT_OPTION)
    .option('--include-private', 'include ciphertext, not only its hash', 'ハッシュだけでなく、暗号文も出力')
    .option(
      '--json-issues',
      'print issues to standard error as JSON, one per line',
      '読めなかった内容を標準エラーに JSON で出力（1 行に 1 件）',
    )
    .examples(
      'fumi normalize rollout.jsonl | jq .role',
      'fumi normalize ~/.codex/sessions > all.ndjson',
      'zstdcat old.jsonl.zst | fumi normalize -',
    )
    .run(run)
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const unread: Issue[] = []
  const reportIssue = (issue: Issue): Promise<void> => {
    if (issue.code === 'unreadable') unread.push(issue)
    return options.jsonIssues ? writeErrJson(issue) : writeErr(`${toPrintableField(localize(describeIssue(issue)))}\n`)
  }
  const logs = await findLogsAt(paths)
  const progress = process.stdout.isTTY ? undefined : await createLogProgress(logs.map(({ source }) => source))
  const writer = new LineWriter()
  const redactor = options.redact ? await createRedactor(thisMachine()) : undefined
  let messages = 0
  try {
    for (const log of logs) {
      messages += await normalizeLog(log, { ...options, redactor }, reportIssue, progress, writer)
      progress?.done(log.source)
    }
    await writer.flush()
  } finally {
    progress?.stop()
  }
  if (redactor) await writeErr(renderRedactionReport(redactor.redacted()))
  await reportIncomplete(unread)
  if (messages > 0 || unread.some(incompleteReasonOf)) return
  const where = paths.join(', ')
  throw new AppError(
    'nothing_readable',
    `No readable log in ${where}. Specify a log of a supported agent. Run fumi detect to identify a file.`,
    `${where} に読み取れるログがありません。対応するエージェントのログを指定してください。ファイルの種類は fumi detect で分かります。`,
  )
}

/** Also reads unknown files, so that every line is accounted for, but does not print their records. */
async function normalizeLog(
  log: Log,
  { redactor, ...options }: Options & { readonly redactor: Redactor | undefined },
  reportIssue: (issue: Issue) => Promise<void>,
  progress: LogProgress | undefined,
  writer: LineWriter,
): Promise<number> {
  let count = 0
  let cursors = 0
  // A secret is removed everywhere, so the log is read twice.
  if (redactor && !log.unknown) await redactor.learn(messagesOf(log, options))
  for await (const read of readLog(log.agent, log.source, options)) {
    const batch = redactor ? await redactBatch(read, redactor) : read
    for (const one of batch) {
      if (one.kind === 'issue') await reportIssue(one.issue)
      if (one.kind === 'cursor') {
        progress?.at(one.cursor.offset ?? 0)
        if (++cursors % CURSORS_PER_COLLECTION === 0) collectGarbage()
      }
      if (one.kind !== 'message' || log.unknown) continue
      const { json, cut } = serializeMessage(one.message)
      if (cut) await reportIssue(tooDeepIssue(log, one.message.raw.line_index))
      const waiting = writer.writeLine(json)
      if (waiting) await waiting
      if (json.length > LONG_LINE_LENGTH) collectGarbage()
      count++
    }
  }
  return count
}

async function* messagesOf(log: Log, options: Options): AsyncGenerator<NormalizedMessage> {
  for await (const batch of readLog(log.agent, log.source, options))
    for (const one of batch) if (one.kind === 'message') yield one.message
}

/** Issues name places in a file, and never quote it. */
async function redactBatch(batch: readonly ReadItem[], redactor: Redactor): Promise<readonly ReadItem[]> {
  const messages = batch.flatMap((one) => (one.kind === 'message' ? [one.message] : []))
  const redacted = redactor.messages(messages)
  const items: ReadItem[] = []
  for (const one of batch) {
    if (one.kind !== 'message') items.push(one)
    else {
      const next = await redacted.next()
      if (!next.done) items.push({ ...one, message: next.value })
    }
  }
  return items
}

/** Readers yield a cursor about once a megabyte. */
const CURSORS_PER_COLLECTION = 24
/** Parsing a line leaves garbage of several times its length. */
const LONG_LINE_LENGTH = 8_000_000

const tooDeepIssue = ({ source }: Log, line: number): Issue => ({
  code: 'too_deep',
  reason: 'parts nested too deep were left out',
  path: source.shown ?? source.path,
  line,
})

let runGc: (() => void) | undefined

/**
 * Left alone, the garbage collector keeps tens of megabytes of old messages although about eight are in use. Node
 * offers no other way to run it.
 */
function collectGarbage(): void {
  if (!runGc) {
    setFlagsFromString('--expose-gc')
    runGc = runInNewContext('gc') as () => void
  }
  runGc()
}
