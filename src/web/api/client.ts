/** Asks the server. What goes wrong comes back as a value, with a sentence for the reader. */
import type { ApiError, ApiErrorCode, ErrorReply } from '../../model/api/envelope.ts'

export interface Problem {
  /** `unreachable`: nobody answered. */
  readonly code: ApiErrorCode | 'unreachable'
  readonly detail: string
  readonly detail_ja: string
  readonly meta?: ApiError['meta']
}

export type Answer<Reply> =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'problem'; readonly problem: Problem }
  /** The signal was given; nobody waits for it any more. */
  | { readonly kind: 'dropped' }

export type Asked = { readonly [name: string]: string | number | boolean | undefined }

export const get = <Reply>(path: string, query: Asked = {}, signal?: AbortSignal): Promise<Answer<Reply>> =>
  send<Reply>(pathOf(path, query), { method: 'GET' }, signal)

export const post = <Reply>(path: string, body: object = {}, signal?: AbortSignal): Promise<Answer<Reply>> =>
  send<Reply>(pathOf(path), asJson('POST', body), signal)

export const put = <Reply>(path: string, body: object, signal?: AbortSignal): Promise<Answer<Reply>> =>
  send<Reply>(pathOf(path), asJson('PUT', body), signal)

/** @param path below /api, its parts encoded */
export function pathOf(path: string, query: Asked = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && value !== false)
  const search = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, value === true ? '1' : String(value)]),
  )
  return search.size === 0 ? `/api${path}` : `/api${path}?${search}`
}

/** A document as text. @param url the whole address, such as `pathOf` gives */
export async function readText(url: string, signal: AbortSignal): Promise<Answer<string>> {
  const response = await reach(url, { signal })
  if (!response) return { kind: 'dropped' }
  if (!(response instanceof Response)) return { kind: 'problem', problem: response }
  if (!response.ok) return { kind: 'problem', problem: await problemOf(response) }
  try {
    return { kind: 'reply', reply: await response.text() }
  } catch (error) {
    return signal.aborted ? { kind: 'dropped' } : { kind: 'problem', problem: unreachable(error) }
  }
}

/** One JSON value for each line, as they come. Ends when the stream ends, however that is. */
export async function* lines<Line>(path: string, query: Asked, signal: AbortSignal): AsyncGenerator<Line | Problem> {
  const response = await reach(pathOf(path, query), { signal })
  if (!(response instanceof Response)) {
    if (response) yield response
    return
  }
  if (!response.ok || !response.body) {
    yield await problemOf(response)
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
    if (!signal.aborted) yield unreachable(error)
  }
}

export const isProblem = (value: object): value is Problem => 'code' in value && 'detail' in value

const asJson = (method: string, body: object): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function send<Reply>(url: string, init: RequestInit, signal?: AbortSignal): Promise<Answer<Reply>> {
  const response = await reach(url, signal ? { ...init, signal } : init)
  if (!response) return { kind: 'dropped' }
  if (!(response instanceof Response)) return { kind: 'problem', problem: response }
  if (!response.ok) return { kind: 'problem', problem: await problemOf(response) }
  try {
    return { kind: 'reply', reply: (await response.json()) as Reply }
  } catch (error) {
    return signal?.aborted ? { kind: 'dropped' } : { kind: 'problem', problem: unreachable(error) }
  }
}

async function reach(url: string, init: RequestInit): Promise<Response | Problem | undefined> {
  try {
    return await fetch(url, { ...init, credentials: 'same-origin' })
  } catch (error) {
    return init.signal?.aborted ? undefined : unreachable(error)
  }
}

const problem = (code: Problem['code'], detail: string): Problem => ({ code, detail, detail_ja: detail })

const unreachable = (error: unknown): Problem => problem('unreachable', String(error))

async function problemOf(response: Response): Promise<Problem> {
  try {
    const { errors } = (await response.json()) as ErrorReply
    const [error] = errors
    if (error) return error
  } catch {}
  return problem('internal_error', `HTTP ${response.status}`)
}
