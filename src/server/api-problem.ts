/** Errors as clients see them. Only this table maps codes to HTTP statuses. */
import type { SearchAnswer } from '../app.ts'
import type { ApiError, ApiErrorCode, ErrorReply } from '../model/api/envelope.ts'
import { queryFaultInJapanese } from '../model/code-texts.ts'
import { AppError, isProgramUpdated, UPDATED_PHRASE } from '../model/error.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

export const API_ERRORS = {
  invalid_parameters: [400, 'Invalid parameters'],
  invalid_query: [400, 'Invalid query'],
  invalid_period: [422, 'Invalid period'],
  unauthorized: [401, 'Authentication required'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not found'],
  session_not_found: [404, 'Session not found'],
  message_not_found: [404, 'Message not found'],
  source_gone: [410, 'Source gone'],
  not_possible: [422, 'Not possible'],
  directory_needed: [422, 'Directory required'],
  trust_needed: [422, 'Trust required'],
  sync_in_progress: [409, 'Sync in progress'],
  conversation_busy: [409, 'Session in use'],
  body_too_large: [413, 'Request body too large'],
  too_many_requests: [429, 'Too many requests'],
  unavailable: [503, 'Unavailable'],
  internal_error: [500, 'Internal error'],
} as const satisfies Record<ApiErrorCode, readonly [status: number, title: string]>

/** Clients learn nothing about a bug. */
export const SEE_LOG = phrase(
  'This is a bug in fumibako. See the log of the server.',
  'fumibako の不具合です。サーバーのログを確認してください。',
)

export class ApiProblem extends Error {
  readonly code: ApiErrorCode
  /** For a person; `message` is its English. */
  readonly phrase: Phrase
  readonly meta: ApiError['meta']

  constructor(code: ApiErrorCode, text: Phrase, meta?: ApiError['meta']) {
    super(text.en)
    this.name = 'ApiProblem'
    this.code = code
    this.phrase = text
    this.meta = meta
  }
}

/** Maps whatever the rest of the program throws. */
export function toApiProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  if (isProgramUpdated(error)) return new ApiProblem('internal_error', UPDATED_PHRASE)
  if (!(error instanceof AppError)) return new ApiProblem('internal_error', SEE_LOG)
  switch (error.code) {
    case 'not_found':
      return new ApiProblem('source_gone', error.phrase)
    case 'busy':
    case 'bad_usage':
    case 'nothing_readable':
    case 'no_permission':
    case 'cannot_write':
    case 'unusable_data':
    case 'server_failed':
      return new ApiProblem('not_possible', error.phrase, { cause: error.code })
  }
}

export function toProblemResponse({ code, phrase: { en, ja }, meta }: ApiProblem): Response {
  const [status, title] = API_ERRORS[code]
  const reply: ErrorReply = { errors: [{ code, status, title, detail: en, detail_ja: ja, ...(meta && { meta }) }] }
  return Response.json(reply, { status })
}

export function toQueryProblem(problem: Extract<SearchAnswer, { kind: 'problem' }>): ApiProblem {
  const { code, what, advice, start, end } = problem
  const text = phrase(`${what}: ${advice}.`, queryFaultInJapanese(problem))
  return new ApiProblem('invalid_query', text, { code, start, end, what, advice })
}
