/** `fumi files`: lists the sessions and tool calls that touched a file. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readRecordedState } from '../../agents/recorded-state.ts'
import type { App, FileTouched } from '../../app.ts'
import { type Instant, type SessionId, toInstant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { toSingleLine } from '../../model/tool-summary.ts'
import { diffOfToolCall, findTouchedFiles } from '../../model/touched-files.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { parseLimit } from '../index-queries/filters.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { say } from '../language.ts'
import { printReport } from '../pager.ts'
import { reportIncomplete } from '../report-issues.ts'
import { paint } from '../view/paint.ts'
import { formatCount, plural, terminalWidth, truncate } from '../view/table.ts'
import { codeLabel, formatDateTime, shortId, toTerminalLine, toTerminalText } from '../view/text.ts'

interface Options {
  readonly diff?: boolean
  readonly limit?: string
  readonly json?: boolean
}

export interface TouchWithDiff extends FileTouched {
  /** What the call did to the file, if it is known. */
  readonly diff: string | null
  /** The next checkpoint after the call, if the conversation has any. */
  readonly checkpoint: string | null
}

export function filesCommand(program: Command): void {
  defineCommand(
    program,
    'files',
    'list the sessions and tool calls that touched a file',
    'ファイルを読み書きした会話とツール呼び出しを一覧表示',
  )
    .argument(
      '<path>',
      'a file, or the end of a path: app.ts, src/app.ts',
      'ファイル、またはパスの末尾（app.ts、src/app.ts）',
    )
    .option(
      '--diff',
      'show the change of each call, if it is recorded',
      '呼び出しごとの変更内容も表示（記録がある場合）',
    )
    .option(
      '-n, --limit <n>',
      'maximum number of calls; 0 for all (default: 40; with --json: all)',
      '表示する呼び出しの上限。0 で全件（既定: 40、--json では全件）',
    )
    .option(...JSON_OPTION)
    .examples('fumi files src/app.ts', 'fumi files ./README.md --diff', 'fumi files app.ts --json')
    .runWithApp(listTouches)
}

async function listTouches(app: App, path: string, options: Options): Promise<void> {
  const limit = parseLimit(options.limit, options.json ? 0 : 40)
  await refreshIndex(app, 'both', 'an index')
  // An existing path means that file; any other path matches as the end of a path.
  const searchPaths = /^\.{1,2}[/\\]/.test(path) || existsSync(path) ? [resolve(path), path] : [path]
  const { total, touched } = app.fileTouches(searchPaths[0] ?? path, limit === 0 ? -1 : limit)
  const found =
    total > 0 || searchPaths.length === 1 ? { total, touched } : app.fileTouches(path, limit === 0 ? -1 : limit)
  const touches =
    options.json || options.diff ? await withDetails(app, found.touched) : found.touched.map(withoutDetails)
  await printReport(
    options.json,
    () => ({ total: found.total, touches }),
    () => renderFileReport(touches, found.total, app),
  )
  await reportIncomplete(app.index.unreadable())
}

/** The call may name the file by a shorter path. */
function findChange(message: NormalizedMessage, path: string): string | undefined {
  const named = findTouchedFiles(message).find((one) => path.endsWith(one.path.replace(/^\.[/\\]/, '')))
  return diffOfToolCall(message, named?.path ?? path)
}

const withoutDetails = (touch: FileTouched): TouchWithDiff => ({ ...touch, diff: null, checkpoint: null })

async function withDetails(app: App, touched: readonly FileTouched[]): Promise<readonly TouchWithDiff[]> {
  const checkpoints = new Map<string, Awaited<ReturnType<typeof readCheckpoints>>>()
  const found: TouchWithDiff[] = []
  for (const touch of touched) {
    const { session_id } = touch
    if (!checkpoints.has(session_id)) checkpoints.set(session_id, await readCheckpoints(app, session_id))
    const after = checkpoints.get(session_id)?.find(({ at }) => touch.timestamp !== null && at >= touch.timestamp)
    const body = await app.message(session_id, touch.message_id)
    const diff = body?.kind === 'body' ? findChange(body.message, touch.path) : undefined
    found.push({ ...touch, diff: diff ?? null, checkpoint: after?.tag ?? null })
  }
  return found
}

interface SessionCheckpoint {
  readonly tag: string
  readonly at: Instant
}

/** Oldest first. */
async function readCheckpoints(app: App, session: SessionId): Promise<readonly SessionCheckpoint[]> {
  const [first] = await app.messages(session, { limit: 1 })
  const state = first?.kind === 'body' ? readRecordedState(first.message) : undefined
  return (state?.checkpoints ?? []).flatMap(({ tag, time }) => {
    const at = toInstant(time)
    return at === undefined ? [] : { tag, at }
  })
}

/** Groups touches by session, newest first. */
function renderFileReport(touches: readonly TouchWithDiff[], total: number, app: App): string {
  if (touches.length === 0)
    return say(
      'No recorded tool call touched this file.\n',
      'このファイルを読み書きしたツール呼び出しの記録はありません。\n',
    )
  const lines: string[] = []
  let session: string | undefined
  for (const touch of touches) {
    if (touch.session_id !== session) {
      const title = app.session(touch.session_id)?.title ?? say('(no prompt)', '（依頼なし）')
      lines.push(
        `${session === undefined ? '' : '\n'}${paint.bold(truncate(toSingleLine(toTerminalText(title)), terminalWidth() - 24))}  ${paint.dim(shortId(touch.session_id))}`,
      )
      session = touch.session_id
    }
    const turn = touch.turn > 0 ? say(`turn ${touch.turn}`, `ターン ${touch.turn}`) : ''
    const facts = [
      codeLabel(touch.how),
      toTerminalLine(touch.tool ?? ''),
      turn,
      touch.checkpoint === null
        ? ''
        : toTerminalText(say(`checkpoint ${touch.checkpoint}`, `チェックポイント ${touch.checkpoint}`)),
    ]
    lines.push(
      `  ${paint.dim(formatDateTime(touch.timestamp))}  ${facts.filter(Boolean).join(' · ')}  ${toTerminalLine(touch.path)}`,
    )
    if (touch.diff !== null) lines.push(colorDiff(touch.diff))
  }
  const remaining = total - touches.length
  const more = say(
    `${plural(remaining, 'older call')} not shown; pass --limit 0 to show all.\n`,
    `古い呼び出し ${formatCount(remaining)} 件は省略しました。--limit 0 ですべて表示します。\n`,
  )
  return `${lines.join('\n')}\n${remaining > 0 ? paint.dim(more) : ''}`
}

const colorDiff = (diff: string): string =>
  diff
    .split('\n')
    .map((line) => {
      const shown = `    ${toTerminalText(line)}`
      return line.startsWith('+') ? paint.green(shown) : line.startsWith('-') ? paint.red(shown) : paint.dim(shown)
    })
    .join('\n')
