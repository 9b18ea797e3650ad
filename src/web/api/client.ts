/** Requests to the API. Errors are values with a text for the reader. */
import type { ApiError, ApiErrorCode, ErrorReply } from '../../model/api/envelope.ts'

export interface RequestProblem {
  /** `unreachable`: no response. */
  readonly code: ApiErrorCode | 'unreachable'
  readonly detail: string
  readonly detail_ja: string
  readonly meta?: ApiError['meta']
}

export type RequestResult<Reply> =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'problem'; readonly problem: RequestProblem }
  /** The request was aborted. */
  | { readonly kind: 'dropped' }

export type QueryParameters = { readonly [name: string]: string | number | boolean | undefined }

export const get = <Reply>(
  path: string,
  query: QueryParameters = {},
  signal?: AbortSignal,
): Promise<RequestResult<Reply>> => send<Reply>(apiPath(path, query), { method: 'GET' }, signal)

export const post = <Reply>(path: string, body: object = {}, signal?: AbortSignal): Promise<RequestResult<Reply>> =>
  send<Reply>(apiPath(path), jsonRequest('POST', body), signal)

export const put = <Reply>(path: string, body: object, signal?: AbortSignal): Promise<RequestResult<Reply>> =>
  send<Reply>(apiPath(path), jsonRequest('PUT', body), signal)

/** @param path below /api, its parts encoded */
export function apiPath(path: string, query: QueryParameters = {}): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== false)
  const search = new URLSearchParams(
    parameters.map(([name, value]): [string, string] => [name, value === true ? '1' : String(value)]),
  )
  return search.size === 0 ? `/api${path}` : `/api${path}?${search}`
}

/** @param url as `apiPath` returns it */
export async function fetchText(url: string, signal: AbortSignal): Promise<RequestResult<string>> {
  const response = await fetchResponse(url, { signal })
  if (!response) return { kind: 'dropped' }
  if (!(response instanceof Response)) return { kind: 'problem', problem: response }
  if (!response.ok) return { kind: 'problem', problem: await readProblem(response) }
  try {
    return { kind: 'reply', reply: await response.text() }
  } catch (error) {
    return signal.aborted ? { kind: 'dropped' } : { kind: 'problem', problem: unreachableProblem(error) }
  }
}

/** Posts a request whose reply is a file. */
export async function postForFile(path: string, body: object, signal: AbortSignal): Promise<RequestResult<Blob>> {
  const response = await fetchResponse(apiPath(path), { ...jsonRequest('POST', body), signal })
  if (!response) return { kind: 'dropped' }
  if (!(response instanceof Response)) return { kind: 'problem', problem: response }
  if (!response.ok) return { kind: 'problem', problem: await readProblem(response) }
  try {
    return { kind: 'reply', reply: await response.blob() }
  } catch (error) {
    return signal.aborted ? { kind: 'dropped' } : { kind: 'problem', problem: unreachableProblem(error) }
  }
}

/** Sends a file as it is. */
export const postFile = <Reply>(path: string, query: QueryParameters, file: Blob): Promise<RequestResult<Reply>> =>
  send<Reply>(apiPath(path, query), {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: file,
  })

/** Yields one JSON value per line as they arrive. */
export async function* streamLines<Line>(
  path: string,
  query: QueryParameters,
  signal: AbortSignal,
): AsyncGenerator<Line | RequestProblem> {
  const response = await fetchResponse(apiPath(path, query), { signal })
  if (!(response instanceof Response)) {
    if (response) yield response
    return
  }
  if (!response.ok || !response.body) {
    yield await readProblem(response)
    return
  }
  let rest = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + value).split('\n')
      rest = parts.pop() ?? ''
      for (const part of parts) if (part !== '') yield JSON.parse(part) as Line
    }
  } catch (error) {
    if (!signal.aborted) yield unreachableProblem(error)
  }
}

export const isRequestProblem = (value: object): value is RequestProblem => 'code' in value && 'detail' in value

const jsonRequest = (method: string, body: object): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function send<Reply>(url: string, init: RequestInit, signal?: AbortSignal): Promise<RequestResult<Reply>> {
  const response = await fetchResponse(url, signal ? { ...init, signal } : init)
  if (!response) return { kind: 'dropped' }
  if (!(response instanceof Response)) return { kind: 'problem', problem: response }
  if (!response.ok) return { kind: 'problem', problem: await readProblem(response) }
  try {
    return { kind: 'reply', reply: (await response.json()) as Reply }
  } catch (error) {
    return signal?.aborted ? { kind: 'dropped' } : { kind: 'problem', problem: unreachableProblem(error) }
  }
}

async function fetchResponse(url: string, init: RequestInit): Promise<Response | RequestProblem | undefined> {
  try {
    return await fetch(url, { ...init, credentials: 'same-origin' })
  } catch (error) {
    return init.signal?.aborted ? undefined : unreachableProblem(error)
  }
}

const makeProblem = (code: RequestProblem['code'], detail: string): RequestProblem => ({
  code,
  detail,
  detail_ja: detail,
})

const unreachableProblem = (error: unknown): RequestProblem => makeProblem('unreachable', String(error))

async function readProblem(response: Response): Promise<RequestProblem> {
  try {
    const { errors } = (await response.json()) as ErrorReply
    const [error] = errors
    if (error) return error
  } catch {}
  return makeProblem('internal_error', `HTTP ${response.status}`)
}
