/** `/checkpoint`: snapshots of files and conversation, and restoring them. */
import { composePhrase, type Phrase, phrase } from '../../model/phrase.ts'
import {
  type CheckpointRow,
  type Checkpoints,
  checkpointFilesText,
  checkpointTimeText,
  expandCheckpoint,
  listCheckpoints,
} from '../checkpoint/checkpoints.ts'
import { type ChatSessionEvent, errorEvent, errorText } from '../events.ts'
import {
  type ChatCommandDefinition,
  type CommandWords,
  countNoun,
  groupDigits,
  markdownTable,
  outputEvent,
  outputText,
  usageError,
} from './command.ts'

export const checkpointCommand: ChatCommandDefinition = {
  name: 'checkpoint',
  args: 'init | list [--limit n] | expand <tag> | diff <tag> [tag] | restore <tag> [--hard] | clean',
  help: phrase(
    'list, compare and restore files and conversation after each turn. --hard: also delete later files',
    'ターンごとのファイルと会話を一覧・比較・復元。--hard で後にできたファイルも消す',
  ),
  words: ['init', 'list', 'expand', 'diff', 'restore', 'clean'],
  async *run(session, words) {
    const { checkpoints } = session.setup.services
    const { rest } = words
    if (words.first !== 'init' && words.first !== 'clean') yield* session.setup.services.startCheckpoints()
    switch (words.first) {
      case 'init': {
        const started = await checkpoints.start(true)
        yield started.kind === 'on'
          ? outputText('Checkpoints started.', 'これからチェックポイントを残します。')
          : errorEvent(started.reason)
        return
      }
      case '':
      case 'list':
        return yield outputEvent(formatRows(listCheckpoints(session.state, rest.numbers('limit').limit)))
      case 'expand': {
        const rows = expandCheckpoint(session.state, rest.first)
        yield rows.ok ? outputEvent(formatRows(rows.value)) : errorEvent(rows.reason)
        return
      }
      case 'diff':
        return yield await diffCheckpoint(checkpoints, rest)
      case 'restore':
        return yield* restoreCheckpoint(checkpoints, rest)
      case 'clean': {
        const done = await checkpoints.clean()
        yield done.ok
          ? outputText(
              'Checkpoints deleted. Files and conversation are unchanged.',
              'チェックポイントを消しました。ファイルと会話は今のままです。',
            )
          : errorEvent(done.reason)
        return
      }
      default:
        yield usageError(checkpointCommand)
    }
  },
}

function formatRows(rows: readonly CheckpointRow[]): Phrase {
  if (rows.length === 0) return phrase('No checkpoints.', 'チェックポイントはありません。')
  const cells = rows.map((row) => [
    row.tag,
    checkpointTimeText(row),
    checkpointFilesText(row),
    String(row.length),
    describeRow(row),
  ])
  return composePhrase((say) =>
    markdownTable(
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

const describeRow = ({ toolName, description }: CheckpointRow): string =>
  toolName === null || description.startsWith(toolName) ? description : `${toolName}: ${description}`

const CHANGE_SIGNS = { added: '+', modified: '~', renamed: '~', deleted: '-' } as const
const CHANGE_NAMES_JA = { added: '追加', modified: '変更', renamed: '名前の変更', deleted: '削除' } as const

async function diffCheckpoint(checkpoints: Checkpoints, words: CommandWords): Promise<ChatSessionEvent> {
  const [from, to] = words.plain
  if (from === undefined)
    return errorText(
      '/checkpoint diff needs one or two tags.',
      '/checkpoint diff にはタグを 1 つか 2 つ指定してください。',
    )
  const found = await checkpoints.diff(from, to)
  if (!found.ok) return errorEvent(found.reason)
  const { changes, stat } = found.value
  if (changes.length === 0) return outputText('No differences.', '違いはありません。')
  return outputEvent(
    composePhrase((say) => {
      const lines = changes.map(
        ({ path, change }) =>
          `  ${CHANGE_SIGNS[change]} ${path} ${say(`(${change})`, `（${CHANGE_NAMES_JA[change]}）`)}`,
      )
      return [...lines, stat].join('\n')
    }),
  )
}

async function* restoreCheckpoint(checkpoints: Checkpoints, words: CommandWords): AsyncGenerator<ChatSessionEvent> {
  const [tag] = words.plain
  if (tag === undefined)
    return yield errorText(
      '/checkpoint restore needs a tag. Type /checkpoint list for a list.',
      '/checkpoint restore にはタグを指定してください。/checkpoint list で一覧を見られます。',
    )
  const isHard = words.has('--hard')
  const done = await checkpoints.restore(tag, isHard)
  if (!done.ok) return yield errorEvent(done.reason)
  yield { kind: 'moved' }
  const { length, undo } = done.value
  yield outputEvent(
    composePhrase((say) =>
      [
        say(
          `Restored files and conversation to ${tag} (${countNoun(length, 'exchange')}).`,
          `ファイルと会話を ${tag} の時点（やり取り ${groupDigits(length)} 件）に戻しました。`,
        ),
        ...(isHard
          ? []
          : [
              say(
                'Files created later remain. Pass --hard to delete them.',
                'その後に作られたファイルは残しました。--hard で消せます。',
              ),
            ]),
        say(`To undo: /checkpoint restore ${undo} --hard`, `元に戻すには: /checkpoint restore ${undo} --hard`),
      ].join(say(' ', '')),
    ),
  )
}
