/** `/checkpoint`: files and conversation as they were, and back to them. */

import type { Checkpoints } from '../checkpoint/checkpoints.ts'
import { type CheckpointRow, expandCheckpoint, filesText, listCheckpoints, timeText } from '../checkpoint/list.ts'
import type { TalkEvent } from '../turn/event.ts'
import { type Command, count, error, output, table, type Words } from './command.ts'

export const checkpointCommand: Command = {
  name: 'checkpoint',
  args: 'init | list [--limit n] | expand <tag> | diff <tag> [tag] | restore <tag> [--hard] | clean',
  help: 'files and conversation after each turn that changed files; restore brings both back. --hard: later files go',
  words: ['init', 'list', 'expand', 'diff', 'restore', 'clean'],
  async *run(talk, words) {
    const { checkpoints } = talk.rig.help
    if (!checkpoints) return yield error('there are no checkpoints here.')
    const { rest } = words
    if (words.first !== 'init' && words.first !== 'clean') yield* talk.rig.help.keep()
    switch (words.first) {
      case 'init': {
        const started = await checkpoints.start(true)
        yield started.kind === 'on' ? output('Checkpoints are kept from now on.') : error(started.reason)
        return
      }
      case '':
      case 'list':
        yield output(tableOf(listCheckpoints(talk.state, rest.numbers('limit').limit)))
        return
      case 'expand': {
        const rows = expandCheckpoint(talk.state, rest.first)
        yield rows.ok ? output(tableOf(rows.value)) : error(rows.reason)
        return
      }
      case 'diff':
        yield await diff(checkpoints, rest)
        return
      case 'restore':
        yield* restore(checkpoints, rest)
        return
      case 'clean': {
        const done = await checkpoints.clean()
        yield done.ok
          ? output('The checkpoints are gone; files and conversation stay as they are.')
          : error(done.reason)
        return
      }
      default:
        yield error(`/checkpoint ${checkpointCommand.args}`)
    }
  },
}

function tableOf(rows: readonly CheckpointRow[]): string {
  if (rows.length === 0) return 'There are no checkpoints.'
  const cells = rows.map((row) => [row.tag, timeText(row), filesText(row), String(row.length), whatOf(row)])
  return table(['tag', 'when', 'files', 'exchanges', 'what'], cells)
}

const whatOf = ({ toolName, description }: CheckpointRow): string =>
  toolName === null || description.startsWith(toolName) ? description : `${toolName}: ${description}`

const SIGNS = { added: '+', modified: '~', renamed: '~', deleted: '-' } as const

async function diff(checkpoints: Checkpoints, words: Words): Promise<TalkEvent> {
  const [from, to] = words.plain
  if (from === undefined) return error('/checkpoint diff takes a tag, or two.')
  const found = await checkpoints.diff(from, to)
  if (!found.ok) return error(found.reason)
  const lines = found.value.changes.map(({ path, change }) => `  ${SIGNS[change]} ${path} (${change})`)
  return output(lines.length === 0 ? 'Nothing differs.' : [...lines, found.value.stat].join('\n'))
}

async function* restore(checkpoints: Checkpoints, words: Words): AsyncGenerator<TalkEvent> {
  const [tag] = words.plain
  if (tag === undefined) return yield error('/checkpoint restore takes a tag; /checkpoint list shows them.')
  const isHard = words.has('--hard')
  const done = await checkpoints.restore(tag, isHard)
  if (!done.ok) return yield error(done.reason)
  yield { kind: 'moved' }
  yield output(
    [
      `Files and conversation are as at ${tag} (${count(done.value.length, 'exchange')}).`,
      ...(isHard ? [] : ['Files that came later were left where they are; --hard takes them away.']),
      `/checkpoint restore ${done.value.undo} --hard takes it back.`,
    ].join(' '),
  )
}
