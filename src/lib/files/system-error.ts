/** What the file system answered, in words for a person. */

import { FILE_PROBLEMS } from '../../model/code-texts/read-problems.ts'
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

/** What the file system said of a file that somebody named, as an AppError; anything else as it is. */
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
