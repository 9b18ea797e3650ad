/** What a conversation needs of the network: four verbs for files, two for answers. */

import type { Fields } from '../../lib/unknown-values.ts'

/** The body of a request for a chat completion. */
export interface ChatRequest {
  readonly model: string
  readonly messages: readonly Fields[]
  readonly tools?: readonly Fields[]
  readonly [key: string]: unknown
}

/**
 * Nothing here is retried, and nothing of the answers is looked into. What fails is rejected with a `ChatFailure`; any other
 * rejection counts as one of unknown kind. When the signal is aborted, waiting ends.
 */
export interface ChatTransport {
  /** The answer as it came, parsed. */
  complete(request: ChatRequest, signal: AbortSignal): Promise<unknown>
  /** Each chunk as it came, parsed. Ends without rejection only where the server has said that this was all. */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<unknown>
  readonly files?: FileTransport
}

export interface FileUpload {
  readonly file: Blob
  readonly filename: string
  readonly purpose: string
  readonly expires_after?: { readonly anchor: 'created_at'; readonly seconds: number }
}

export interface FileQuery {
  readonly purpose?: string
  readonly limit?: number
  readonly order?: 'asc' | 'desc'
  /** The id of the last file of the page before. */
  readonly after?: string
}

export interface FileTransport {
  create(upload: FileUpload, signal: AbortSignal): Promise<unknown>
  retrieve(id: string, signal: AbortSignal): Promise<unknown>
  list(query: FileQuery, signal: AbortSignal): Promise<unknown>
  delete(id: string, signal: AbortSignal): Promise<unknown>
}
