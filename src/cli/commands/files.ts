/** `fumi files`: who touched a file, when, and how. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { App, FileTouched } from '../../app.ts'
import { diffOfToolCall } from '../../model/files/change.ts'
import { findTouchedFiles } from '../../model/files/touched.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { readCheckpoints } from '../ask/checkpoints.ts'
import { parseLimit } from '../ask/filters.ts'
import { refreshIndex } from '../ask/fresh.ts'
import { openApp } from '../house.ts'
import { reportIncomplete } from '../incomplete.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { openPager } from '../pager.ts'
import { formatExamples } from '../run/examples.ts'

interface Options {
  readonly diff?: boolean
  readonly limit?: string
  readonly json?: boolean
}

export interface TouchWithDiff extends FileTouched {
  /** What the call did to the file, where it tells. */
  readonly diff: string | null
  /** The checkpoint that was made right afterwards, where the conversation has them. */
  readonly checkpoint: string | null
}

export function filesCommand(program: Command): void {
  program
    .command('files')
    .summary(
      say(
        'list every session, turn and tool call that touched a file',
        'ファイルに触れた会話・ターン・ツール呼び出しをすべて表示',
      ),
    )
    .argument(
      '<path>',
      say('a file, or the end of its path: app.ts, src/app.ts', 'ファイル、またはパスの末尾（app.ts、src/app.ts）'),
    )
    .option(
      '--diff',
      say('show what each call did to it, where the call tells', '呼び出しごとの変更内容も表示（分かる場合）'),
    )
    .option(
      '-n, --limit <n>',
      say(
        'how many calls at most; 0 for all (default: 40, with --json all)',
        '表示する呼び出しの上限。0 で全件（既定: 40、--json では全件）',
      ),
    )
    .option('--json', say('print JSON', 'JSON で出力'))
    .addHelpText(
      'after',
      formatExamples('fumi files src/app.ts', 'fumi files ./README.md --diff', 'fumi files app.ts --json'),
    )
    .action(run)
}

async function run(path: string, options: Options): Promise<void> {
  const limit = parseLimit(options.limit, options.json ? 0 : 40)
  const app = await openApp()
  try {
    await refreshIndex(app, 'both', 'an index')
    // A path that leads to a file from here means that file; anything else is the end of a path.
    const searchPaths = /^\.{1,2}[/\\]/.test(path) || existsSync(path) ? [resolve(path), path] : [path]
    const { total, touched } = app.fileTouches(searchPaths[0] ?? path, limit === 0 ? -1 : limit)
    const found =
      total > 0 || searchPaths.length === 1 ? { total, touched } : app.fileTouches(path, limit === 0 ? -1 : limit)
    const touches =
      options.json || options.diff ? await withDetails(app, found.touched) : found.touched.map(withoutDetails)
    if (options.json) await writeOutJson({ total: found.total, touches })
    else {
      await openPager()
      await writeOut((await import('../view/found/file-report.ts')).renderFileReport(touches, found.total, app))
    }
    await reportIncomplete(app.index.unreadable())
  } finally {
    app.close()
  }
}

/** The call may name it by a shorter path than the whole. */
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
    const after = checkpoints.get(session_id)?.find(({ at }) => at >= touch.timestamp)
    const body = await app.message(session_id, touch.message_id)
    const diff = body?.kind === 'body' ? findChange(body.message, touch.path) : undefined
    found.push({ ...touch, diff: diff ?? null, checkpoint: after?.tag ?? null })
  }
  return found
}
