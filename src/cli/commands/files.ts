/** `fumi files`: who touched a file, when, and how. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { FileTouched, House } from '../../app.ts'
import { fileChange } from '../../model/files/change.ts'
import { filesTouched } from '../../model/files/touched.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { checkpointsOf } from '../ask/checkpoints.ts'
import { limitOf } from '../ask/filters.ts'
import { freshen } from '../ask/fresh.ts'
import { openHouse } from '../house.ts'
import { tellIncomplete } from '../incomplete.ts'
import { say } from '../language.ts'
import { writeJson, writeOut } from '../output.ts'
import { openPager } from '../pager.ts'
import { examples } from '../run/examples.ts'

interface Options {
  readonly diff?: boolean
  readonly limit?: string
  readonly json?: boolean
}

export interface Touch extends FileTouched {
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
      examples('fumi files src/app.ts', 'fumi files ./README.md --diff', 'fumi files app.ts --json'),
    )
    .action(run)
}

async function run(path: string, options: Options): Promise<void> {
  const limit = limitOf(options.limit, options.json ? 0 : 40)
  const house = await openHouse()
  try {
    await freshen(house, 'both', 'an index')
    // A path that leads to a file from here means that file; anything else is the end of a path.
    const meant = /^\.{1,2}[/\\]/.test(path) || existsSync(path) ? [resolve(path), path] : [path]
    const { total, touched } = house.touches(meant[0] ?? path, limit === 0 ? -1 : limit)
    const found = total > 0 || meant.length === 1 ? { total, touched } : house.touches(path, limit === 0 ? -1 : limit)
    const touches = options.json || options.diff ? await whole(house, found.touched) : found.touched.map(bare)
    if (options.json) await writeJson({ total: found.total, touches })
    else {
      await openPager()
      await writeOut((await import('../view/found/file-report.ts')).fileReport(touches, found.total, house))
    }
    await tellIncomplete(house.index.unreadable())
  } finally {
    house.close()
  }
}

/** The call may name it by a shorter path than the whole. */
function changeTo(message: NormalizedMessage, path: string): string | undefined {
  const named = filesTouched(message).find((one) => path.endsWith(one.path.replace(/^\.[/\\]/, '')))
  return fileChange(message, named?.path ?? path)
}

const bare = (touch: FileTouched): Touch => ({ ...touch, diff: null, checkpoint: null })

async function whole(house: House, touched: readonly FileTouched[]): Promise<readonly Touch[]> {
  const checkpoints = new Map<string, Awaited<ReturnType<typeof checkpointsOf>>>()
  const found: Touch[] = []
  for (const touch of touched) {
    const { session_id } = touch
    if (!checkpoints.has(session_id)) checkpoints.set(session_id, await checkpointsOf(house, session_id))
    const after = checkpoints.get(session_id)?.find(({ at }) => at >= touch.timestamp)
    const body = await house.message(session_id, touch.message_id)
    const diff = body?.kind === 'body' ? changeTo(body.message, touch.path) : undefined
    found.push({ ...touch, diff: diff ?? null, checkpoint: after?.tag ?? null })
  }
  return found
}
