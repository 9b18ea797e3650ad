/** Describes errors of the file system to a person: why a file cannot be read or written, and what to do next. */
import { FILE_PROBLEMS } from '../../model/code-texts.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { SpecialFileError } from './regular-file.ts'

export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error

export function describeSystemError(error: NodeJS.ErrnoException): Phrase {
  const { code, message } = error
  if (error instanceof SpecialFileError) return FILE_PROBLEMS[error.kind]
  if (code === 'ENOENT') return FILE_PROBLEMS.missing
  if (code === 'EACCES' || code === 'EPERM') return FILE_PROBLEMS.no_permission
  if (code === 'EISDIR') return FILE_PROBLEMS.folder
  if (code === 'ELOOP') return FILE_PROBLEMS.link_loop
  return phrase(`cannot be read (${code ?? message})`, `読み取れません（${code ?? message}）`)
}

export const systemErrorReason = (error: NodeJS.ErrnoException): string => describeSystemError(error).en

/** A system error of reading, as AppError; other errors unchanged. */
export function toReadError(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error
  const description = describeSystemError(error)
  if (error instanceof SpecialFileError)
    return new AppError('bad_usage', `${path} is ${description.en}.`, `${path}: ${description.ja}。`)
  return new AppError(
    error.code === 'EACCES' || error.code === 'EPERM' ? 'no_permission' : 'not_found',
    `${path}: ${description.en}. Check the path.`,
    `${path}: ${description.ja}。パスを確認してください。`,
  )
}

const NO_PERMISSION = phrase(
  'no permission to write it; check its owner and mode, and those of its folder',
  '書き込み権限がありません。ファイルとフォルダーの所有者とモードを確認してください',
)
const DISK_FULL = phrase('the disk is full; free some space', 'ディスクがいっぱいです。空きを作ってください')
const NO_FOLDER = phrase(
  'there is a file where its folder should be; choose another place',
  'フォルダーがあるはずの場所にファイルがあります。別の場所を指定してください',
)

const NOT_REGULAR = phrase(
  'it is a pipe, a device or a socket, not a regular file; choose another place',
  '通常のファイルではなく、パイプ、デバイス、またはソケットです。別の場所を指定してください',
)

const REASON_BY_CODE: ReadonlyMap<string | undefined, Phrase> = new Map([
  ['EACCES', NO_PERMISSION],
  ['EPERM', NO_PERMISSION],
  [
    'EROFS',
    phrase('its disk is read-only; choose another place', '読み取り専用のディスクです。別の場所を指定してください'),
  ],
  ['ENOSPC', DISK_FULL],
  ['EDQUOT', DISK_FULL],
  ['ENOENT', phrase('its folder does not exist; create it first', 'フォルダーがありません。先に作成してください')],
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
    phrase('a folder has that name; choose another', '同じ名前のフォルダーがあります。別の名前にしてください'),
  ],
])

const OTHER_REASON = phrase('check its disk', 'ファイルのあるディスクを確認してください')

export const describeWriteError = ({ code }: NodeJS.ErrnoException): Phrase => REASON_BY_CODE.get(code) ?? OTHER_REASON

/** A system error of writing, as AppError; other errors unchanged. */
export function toWriteError(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error
  const { code, message } = error
  const description = describeWriteError(error)
  return new AppError(
    code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? 'no_permission' : 'cannot_write',
    `${path} cannot be written (${code ?? message}): ${description.en}.`,
    `${path} に書き込めません（${code ?? message}）。${description.ja}。`,
  )
}
