/** `/checkpoint`: files and conversation as they were, and back to them. */
import { type Phrase, phrase, phrased } from '../../model/phrase.ts'
import type { Checkpoints } from '../checkpoint/checkpoints.ts'
import { type CheckpointRow, expandCheckpoint, filesText, listCheckpoints, timeText } from '../checkpoint/list.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { type Command, count, number, output, table, usage, type Words } from './command.ts'

export const checkpointCommand: Command = {
  name: 'checkpoint',
  args: 'init | list [--limit n] | expand <tag> | diff <tag> [tag] | restore <tag> [--hard] | clean',
  help: phrase(
    'files and conversation after each turn that changed files; restore brings both back. --hard: later files go',
    'ファイルを変えたターンごとに残る、ファイルと会話の控え。restore で両方を戻す。--hard で後のファイルも消す',
  ),
  words: ['init', 'list', 'expand', 'diff', 'restore', 'clean'],
  async *run(talk, words) {
    const { checkpoints } = talk.rig.help
    if (!checkpoints)
      return yield error(phrase('there are no checkpoints here.', 'ここではチェックポイントを使えません。'))
    const { rest } = words
    if (words.first !== 'init' && words.first !== 'clean') yield* talk.rig.help.keep()
    switch (words.first) {
      case 'init': {
        const started = await checkpoints.start(true)
        yield started.kind === 'on'
          ? output(phrase('Checkpoints are kept from now on.', 'これからチェックポイントを残します。'))
          : error(started.reason)
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
          ? output(
              phrase(
                'The checkpoints are gone; files and conversation stay as they are.',
                'チェックポイントを消しました。ファイルと会話は今のままです。',
              ),
            )
          : error(done.reason)
        return
      }
      default:
        yield usage(checkpointCommand)
    }
  },
}

function tableOf(rows: readonly CheckpointRow[]): Phrase {
  if (rows.length === 0) return phrase('There are no checkpoints.', 'チェックポイントはありません。')
  const cells = rows.map((row) => [row.tag, timeText(row), filesText(row), String(row.length), whatOf(row)])
  return phrased((say) =>
    table(
      [
        say('tag', 'タグ'),
        say('when', '日時'),
        say('files', 'ファイル'),
        say('exchanges', 'やり取り'),
        say('what', '内容'),
      ],
      cells,
    ),
  )
}

const whatOf = ({ toolName, description }: CheckpointRow): string =>
  toolName === null || description.startsWith(toolName) ? description : `${toolName}: ${description}`

const SIGNS = { added: '+', modified: '~', renamed: '~', deleted: '-' } as const
const CHANGES = { added: '追加', modified: '変更', renamed: '名前の変更', deleted: '削除' } as const

async function diff(checkpoints: Checkpoints, words: Words): Promise<TalkEvent> {
  const [from, to] = words.plain
  if (from === undefined)
    return error(
      phrase('/checkpoint diff takes a tag, or two.', '/checkpoint diff にはタグを 1 つか 2 つ指定してください。'),
    )
  const found = await checkpoints.diff(from, to)
  if (!found.ok) return error(found.reason)
  const { changes, stat } = found.value
  if (changes.length === 0) return output(phrase('Nothing differs.', '違いはありません。'))
  return output(
    phrased((say) => {
      const lines = changes.map(
        ({ path, change }) => `  ${SIGNS[change]} ${path} ${say(`(${change})`, `（${CHANGES[change]}）`)}`,
      )
      return [...lines, stat].join('\n')
    }),
  )
}

async function* restore(checkpoints: Checkpoints, words: Words): AsyncGenerator<TalkEvent> {
  const [tag] = words.plain
  if (tag === undefined)
    return yield error(
      phrase(
        '/checkpoint restore takes a tag; /checkpoint list shows them.',
        '/checkpoint restore にはタグを指定してください。/checkpoint list で一覧を見られます。',
      ),
    )
  const isHard = words.has('--hard')
  const done = await checkpoints.restore(tag, isHard)
  if (!done.ok) return yield error(done.reason)
  yield { kind: 'moved' }
  const { length, undo } = done.value
  yield output(
    phrased((say) =>
      [
        say(
          `Files and conversation are as at ${tag} (${count(length, 'exchange')}).`,
          `ファイルと会話を ${tag} の時点（やり取り ${number(length)} 件）に戻しました。`,
        ),
        ...(isHard
          ? []
          : [
              say(
                'Files that came later were left where they are; --hard takes them away.',
                'その後に作られたファイルは残しました。--hard で消せます。',
              ),
            ]),
        say(`/checkpoint restore ${undo} --hard takes it back.`, `/checkpoint restore ${undo} --hard で元に戻せます。`),
      ].join(say(' ', '')),
    ),
  )
}
