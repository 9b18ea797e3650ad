/** Why a file or another program's database cannot be read, and what to do next. */
import type { Issue } from '../issue.ts'
import { type Phrase, phrase } from '../phrase.ts'

export const FILE_PROBLEMS = {
  missing: phrase('no such file', 'ファイルがありません'),
  no_permission: phrase(
    'no permission to read it; check its owner and mode',
    '読み取り権限がありません。所有者とモードを確認してください',
  ),
  folder: phrase('a folder, not a file', 'ファイルではなくフォルダーです'),
  pipe: phrase(
    'a named pipe, not a regular file; copy its content to a file first',
    '通常のファイルではなく名前付きパイプです。先に内容をファイルにコピーしてください',
  ),
  device: phrase(
    'a device, not a regular file; copy its content to a file first',
    '通常のファイルではなくデバイスです。先に内容をファイルにコピーしてください',
  ),
  socket: phrase(
    'a socket, not a regular file; give a file',
    '通常のファイルではなくソケットです。ファイルを指定してください',
  ),
  link_loop: phrase('a symbolic link that leads back to itself', 'シンボリックリンクが自分自身に戻っています'),
} as const satisfies { readonly [kind: string]: Phrase }

export const STORE_PROBLEMS = {
  missing: phrase(
    'There is no such file. Check the path, or start the program that makes it.',
    'ファイルがありません。パスを確認するか、ファイルを作るプログラムを起動してください。',
  ),
  empty: phrase(
    'The file is empty: its program has written nothing yet. Try again later.',
    'ファイルが空です。プログラムがまだ何も書いていません。後でもう一度試してください。',
  ),
  special: phrase(
    'It is a pipe, a device or a socket, not a regular file, so it was not opened. Remove it, or give the path of the database.',
    '通常のファイルではなく、パイプ、デバイス、またはソケットなので、開きませんでした。取り除くか、データベースのパスを指定してください。',
  ),
  not_a_database: phrase(
    'It is not an SQLite database, or it is encrypted. Check that the path names the right file.',
    'SQLite のデータベースではないか、暗号化されています。パスが正しいか確認してください。',
  ),
  cut_short: phrase(
    'The file is shorter than its own header says. Get a whole copy of it.',
    'ファイルがヘッダーの示す長さより短くなっています。完全なコピーを用意してください。',
  ),
  corrupt: phrase(
    'The database is damaged here; other rows may still be read. `sqlite3 FILE .recover` may save more.',
    'データベースのこの部分が壊れています。ほかの行は読めるかもしれません。`sqlite3 FILE .recover` でさらに救える場合があります。',
  ),
  busy: phrase(
    'Another program keeps it locked. Try again when that program is idle or closed.',
    '別のプログラムがロックしています。そのプログラムが休んでいるか終了しているときに、もう一度試してください。',
  ),
  no_permission: phrase(
    'Permission denied. Run as the user whom the file belongs to, or change its mode.',
    '権限がありません。ファイルの所有者として実行するか、モードを変更してください。',
  ),
  replaced: phrase(
    'The file was replaced by another one meanwhile. Open it again.',
    'ファイルがその間に別のものに置き換えられました。もう一度開いてください。',
  ),
  other_schema: phrase(
    'It lacks what was looked for. Check that the file belongs to this program, in a version that is supported.',
    '必要なものが入っていません。このプログラムのファイルか、対応している版のものか確認してください。',
  ),
  unreadable: phrase(
    'The system could not read it. Check the disk or the network it lies on.',
    'システムが読み取れませんでした。ファイルのあるディスクかネットワークを確認してください。',
  ),
  no_room: phrase(
    'The disk is full. Free some space, or set TMPDIR to a folder with more.',
    'ディスクがいっぱいです。空きを作るか、空きのあるフォルダーを TMPDIR に設定してください。',
  ),
} as const satisfies { readonly [kind: string]: Phrase }

/**
 * What an issue keeps from an answer that only its owner or its user can give back: a store that another program holds locked,
 * or a file without permission. Such an answer is incomplete; a damaged or foreign file is not counted.
 */
export function incompleteReasonOf({
  code,
  reason,
}: Pick<Issue, 'code' | 'reason'>): 'busy' | 'no_permission' | undefined {
  if (code !== 'unreadable') return undefined
  if (reason.includes(STORE_PROBLEMS.busy.en)) return 'busy'
  const isDenied = reason === FILE_PROBLEMS.no_permission.en || reason.includes(STORE_PROBLEMS.no_permission.en)
  return isDenied ? 'no_permission' : undefined
}

/** In Japanese what was said of a file or a database in English; nothing for other words. */
export function readProblemInJapanese(reason: string): string | undefined {
  const file = Object.values(FILE_PROBLEMS).find(({ en }) => en === reason)
  if (file) return file.ja
  const store = Object.values(STORE_PROBLEMS).find(({ en }) => reason.includes(en))
  const [, detail = ''] = store ? reason.split(store.en) : []
  return store && `${store.ja}${detail.replace(/^ \((.*)\)$/, '（$1）')}`
}
