/** Files uploaded to the server, to be referred to in messages. */
import { fieldsOf, isObject, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { Open } from '../message.ts'
import { type RetryResult, withRetries } from './loop.ts'
import type { ChatError, Clock, FileQuery, FileTransport } from './transport.ts'

/** Purpose of a file. Messages may only refer to files with `user_data`. */
export type FilePurpose = Open<'assistants' | 'batch' | 'fine-tune' | 'vision' | 'user_data' | 'evals'>

/** A file as the server describes it. */
export interface UploadedFile {
  readonly id: string
  readonly filename?: string
  readonly bytes?: number
  readonly purpose?: string
  /** Seconds since 1970. */
  readonly created_at?: number
  readonly expires_at?: number
  readonly [key: string]: unknown
}

interface Failed {
  readonly success: false
  readonly errors: readonly [ChatError]
}

type Succeeded<T> = { readonly success: true; readonly errors: readonly [] } & T

export type FileResult = Succeeded<{ readonly file: UploadedFile }> | Failed
export type FileListResult = Succeeded<{ readonly files: readonly UploadedFile[]; readonly hasMore: boolean }> | Failed
export type FileDeletedResult = Succeeded<{ readonly id: string; readonly deleted: boolean }> | Failed

export interface FileOptions {
  /** Required for a Blob without a name. */
  readonly filename?: string
  /** When the server deletes the file, counted from its creation: from an hour to 30 days. */
  readonly expires_after?: { readonly anchor: 'created_at'; readonly seconds: number }
  readonly signal?: AbortSignal
}

/** Network failures are values; invalid arguments throw `bad_usage`. */
export class Files {
  readonly #transport: FileTransport | undefined
  readonly #clock: Clock
  readonly #retries: () => number

  constructor(transport: FileTransport | undefined, clock: Clock, retries: () => number) {
    this.#transport = transport
    this.#clock = clock
    this.#retries = retries
  }

  /**
   * Uploads a file.
   *
   * @example
   * const uploaded = await chat.files.create(new File([bytes], 'document.pdf'), 'user_data')
   * if (uploaded.success) message.addFileId(uploaded.file.id)
   */
  async create(file: Blob, purpose: FilePurpose, options: FileOptions = {}): Promise<FileResult> {
    const filename = options.filename ?? nonEmptyStringOf((file as { readonly name?: unknown }).name)
    const seconds = options.expires_after?.seconds
    if (!(file instanceof Blob))
      throw new AppError(
        'bad_usage',
        'Pass the file as a File or a Blob.',
        'ファイルは File か Blob で渡してください。',
      )
    if (!filename)
      throw new AppError(
        'bad_usage',
        'The file has no name. Set the option filename.',
        '名前のないファイルには filename を指定してください。',
      )
    if (purpose === '')
      throw new AppError(
        'bad_usage',
        'Set purpose, for example user_data.',
        'ファイルの用途を user_data のように指定してください。',
      )
    if (seconds !== undefined && !(seconds >= MIN_EXPIRY_SECONDS && seconds <= MAX_EXPIRY_SECONDS)) {
      throw new AppError(
        'bad_usage',
        `A file expires after ${MIN_EXPIRY_SECONDS} to ${MAX_EXPIRY_SECONDS} seconds. Choose a value in this range.`,
        `ファイルの期限は ${MIN_EXPIRY_SECONDS}〜${MAX_EXPIRY_SECONDS} 秒で指定してください。`,
      )
    }
    const { expires_after, signal } = options
    const upload = { file, filename, purpose, ...(expires_after && { expires_after }) }
    return toFileResult(await this.#ask((files, stop) => files.create(upload, stop), signal))
  }

  async retrieve(id: string, signal?: AbortSignal): Promise<FileResult> {
    assertFileId(id)
    return toFileResult(await this.#ask((files, stop) => files.retrieve(id, stop), signal))
  }

  /** Returns one page; `hasMore` says whether another follows. */
  async list(query: FileQuery = {}, signal?: AbortSignal): Promise<FileListResult> {
    const answer = await this.#ask((files, stop) => files.list(query, stop), signal)
    if ('error' in answer) return toFailure(answer.error)
    const { data, has_more } = answer.value
    if (!Array.isArray(data)) return toFailure(NO_ANSWER_ERROR)
    return { success: true, files: data.filter(isUploadedFile), hasMore: has_more === true, errors: [] }
  }

  async delete(id: string, signal?: AbortSignal): Promise<FileDeletedResult> {
    assertFileId(id)
    const answer = await this.#ask((files, stop) => files.delete(id, stop), signal)
    if ('error' in answer) return toFailure(answer.error)
    return { success: true, id, deleted: answer.value['deleted'] === true, errors: [] }
  }

  async #ask(
    verb: (files: FileTransport, signal: AbortSignal) => Promise<unknown>,
    signal = new AbortController().signal,
  ): Promise<RetryResult<{ readonly [key: string]: unknown }>> {
    const transport = this.#transport
    if (!transport)
      throw new AppError('bad_usage', 'This transport does not support files.', 'この接続ではファイルを扱えません。')
    const answer = await withRetries(() => verb(transport, signal), this.#retries(), this.#clock, signal)
    if ('error' in answer) return answer
    const value = fieldsOf(answer.value)
    return value ? { value } : { error: NO_ANSWER_ERROR }
  }
}

const MIN_EXPIRY_SECONDS = 3600
const MAX_EXPIRY_SECONDS = 2_592_000
const NO_ANSWER_ERROR: ChatError = { kind: 'garbage', message: 'the server sent no answer: does it know files?' }

const toFailure = (error: ChatError): Failed => ({ success: false, errors: [error] })

function toFileResult(answer: RetryResult<unknown>): FileResult {
  if ('error' in answer) return toFailure(answer.error)
  return isUploadedFile(answer.value) ? { success: true, file: answer.value, errors: [] } : toFailure(NO_ANSWER_ERROR)
}

const isUploadedFile = (value: unknown): value is UploadedFile =>
  isObject(value) && nonEmptyStringOf(value['id']) !== undefined

function assertFileId(id: string): void {
  if (!nonEmptyStringOf(id))
    throw new AppError('bad_usage', 'Pass the id of a file.', 'ファイルの ID を指定してください。')
}
