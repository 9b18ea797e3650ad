/** Why a file could not be written, in words for a person, and what to do next. */
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { isSystemError } from './system-error.ts'

const FORBIDDEN = phrase(
  'no permission to write it; check its owner and mode, and those of its folder',
  '書き込み権限がありません。ファイルとフォルダーの所有者とモードを確認してください',
)
const FULL = phrase('the disk is full; free some space', 'ディスクがいっぱいです。空きを作ってください')
const NO_FOLDER = phrase(
  'there is a file where its folder should be; choose another place',
  'フォルダーがあるはずの場所にファイルがあります。別の場所を指定してください',
)

const NOT_REGULAR = phrase(
  'it is a pipe, a device or a socket, not a regular file; choose another place',
  '通常のファイルではなく、パイプ、デバイス、またはソケットです。別の場所を指定してください',
)

const REASONS: ReadonlyMap<string | undefined, Phrase> = new Map([
  ['EACCES', FORBIDDEN],
  ['EPERM', FORBIDDEN],
  [
    'EROFS',
    phrase('its disk is read-only; choose another place', '読み取り専用のディスクです。別の場所を指定してください'),
  ],
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['ENOENT', phrase('its folder does not exist; make it first', 'フォルダーがありません。先に作成してください')],
  [
    'ENXIO',
    phrase(
      'no program reads this pipe; start its reader first, or choose another place',
      'このパイプを読むプログラムがありません。先に読む側を起動するか、別の場所を指定してください',
    ),
  ],
  ['EFTYPE', NOT_REGULAR],
  ['ENOTDIR', NO_FOLDER],
  ['EEXIST', NO_FOLDER],
  [
    'EISDIR',
    phrase('there is a folder of that name; choose another', '同じ名前のフォルダーがあります。別の名前にしてください'),
  ],
])

const OTHER = phrase('check the disk that it lies on', 'ファイルのあるディスクを確認してください')

export const whyUnwritten = ({ code }: NodeJS.ErrnoException): Phrase => REASONS.get(code) ?? OTHER

/** What the file system said while a file was written, as an AppError; anything else as it is. */
export function writeError(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error
  const { code, message } = error
  const why = whyUnwritten(error)
  return new AppError(
    code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? 'no_permission' : 'cannot_write',
    `${path} cannot be written (${code ?? message}): ${why.en}.`,
    `${path} に書き込めません（${code ?? message}）。${why.ja}。`,
  )
}
