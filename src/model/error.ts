/** Errors of operations. The codes are a closed set, and only this table maps them to exit codes. */
import { type Phrase, phrase } from './phrase.ts'

export const exitCodes = {
  bad_usage: 2,
  nothing_readable: 3,
  not_found: 4,
  no_permission: 5,
  cannot_write: 6,
  unusable_data: 7,
  busy: 8,
  server_failed: 10,
} as const

export type ErrorCode = keyof typeof exitCodes

/** A bug: anything thrown that is not an AppError. */
export const EXIT_BUG = 70

export class AppError extends Error {
  readonly code: ErrorCode
  /** The message in both languages; `message` is the English one. */
  readonly phrase: Phrase

  constructor(code: ErrorCode, text: Phrase)
  constructor(code: ErrorCode, en: string, ja: string)
  constructor(code: ErrorCode, text: Phrase | string, ja = '') {
    const phrase = typeof text === 'string' ? { en: text, ja } : text
    super(phrase.en)
    this.name = 'AppError'
    this.code = code
    this.phrase = phrase
  }
}

/** A module that is loaded on demand no longer exists, because fumibako was updated while running. */
export const isProgramUpdated = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).endsWith('MODULE_NOT_FOUND')

export const UPDATED_PHRASE = phrase(
  'fumibako was updated while it was running. Restart it.',
  '実行中に fumibako が更新されました。いったん終了して、もう一度起動してください。',
)

/** For the default branch of a switch over a closed union. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
