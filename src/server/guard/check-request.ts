/** Checks every request before access: its target, its origin, its rate and its size; and sets the security headers of every response. */

import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem, toProblemResponse } from '../api-problem.ts'

/** A browser reads `//host` and `/\host` as another server, encoded or not. */
const OTHER_HOST = /^\/(?:[/\\]|%2f|%5c)/i
/** A browser reads a backslash as a slash; our addresses are printable ASCII. */
const UNSAFE = /[^\x21-\x5b\x5d-\x7e]/

export const checkRequestTarget: MiddlewareHandler = async (c, next) => {
  const target = targetOf(c)
  if (!target.startsWith('/') || OTHER_HOST.test(target) || UNSAFE.test(pathOf(target)))
    throw new ApiProblem(
      'invalid_parameters',
      phrase('The address of the request is invalid.', 'リクエストのアドレスが正しくありません。'),
    )
  await next()
}

/** As the client sent it: the parsed URL is already normalized. */
function targetOf(c: Context): string {
  const env = c.env as { incoming?: { url?: string } } | undefined
  return env?.incoming?.url ?? c.req.url.replace(/^https?:\/\/[^/]*/i, '')
}

const pathOf = (target: string): string => target.split('?', 1)[0] ?? ''

export interface OriginOptions {
  /** The name or address that the server listens at. */
  readonly host: string
  readonly port: () => number
  readonly secure: boolean
}

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1']

export const isLoopback = (host: string): boolean => LOOPBACK_NAMES.includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host)

/**
 * Protects against DNS rebinding: a site whose name points at this machine sends that name as `Host`, so only our own
 * names are accepted. An IP address cannot be rebound, so any is accepted when the server is open to other machines.
 */
export function checkOrigin({ host, port, secure }: OriginOptions): MiddlewareHandler {
  const names = isLoopback(host) ? LOOPBACK_NAMES : [...LOOPBACK_NAMES, host.toLowerCase(), hostname().toLowerCase()]
  const isOurs = (given: { readonly name: string; readonly port: number }): boolean =>
    given.port === port() && (names.includes(given.name) || (isIP(given.name) > 0 && !isLoopback(host)))
  return async (c, next) => {
    const hostHeader = c.req.header('host')
    const parsedHost = hostHeader === undefined ? undefined : parseHost(hostHeader, secure ? 443 : 80)
    if (!parsedHost || !isOurs(parsedHost))
      throw new ApiProblem(
        'forbidden',
        phrase(
          hostHeader === undefined ? 'The Host header is missing.' : `This server does not answer as ${hostHeader}.`,
          hostHeader === undefined
            ? 'Host ヘッダーがありません。'
            : `このサーバーは ${hostHeader} という名前では応答しません。`,
        ),
      )
    const origin = c.req.header('origin')
    if (origin !== undefined && !isSameOrigin(origin, hostHeader ?? '')) throw new ApiProblem('forbidden', OTHER_SITE)
    const isNavigation = c.req.header('sec-fetch-mode') === 'navigate' && c.req.method === 'GET'
    const site = c.req.header('sec-fetch-site') ?? 'none'
    if (!['none', 'same-origin'].includes(site) && !(isNavigation && !c.req.path.startsWith('/api/')))
      throw new ApiProblem('forbidden', OTHER_SITE)
    if (
      CHANGING_METHODS.has(c.req.method) &&
      !/^application\/(?:json|octet-stream)\b/i.test(c.req.header('content-type') ?? 'application/json')
    )
      throw new ApiProblem(
        'forbidden',
        phrase('Send the body as application/json.', '本文は application/json で送ってください。'),
      )
    await next()
  }
}

const OTHER_SITE = phrase('The server refuses requests from other sites.', 'ほかのサイトからの要求は拒否します。')

/** Forms of other sites can only send other content types. Files are imported as application/octet-stream. */
const CHANGING_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

function parseHost(host: string, defaultPort: number): { readonly name: string; readonly port: number } | undefined {
  const match = /^(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+))(?::(\d{1,5}))?$/i.exec(host)
  if (!match) return undefined
  return { name: (match[1] ?? match[2] ?? '').toLowerCase(), port: Number(match[3] ?? defaultPort) }
}

function isSameOrigin(origin: string, host: string): boolean {
  const match = /^https?:\/\/(.+)$/i.exec(origin)
  return match?.[1]?.toLowerCase() === host.toLowerCase()
}

export interface RateBucket {
  /** False if the bucket is empty. */
  take(key: string): boolean
}

export interface RateBucketOptions {
  readonly burst: number
  readonly perSecond: number
}

const MAX_KEYS = 10_000

/** A token bucket per key. @param now a monotonic clock in milliseconds */
export function createRateBucket(
  { burst, perSecond }: RateBucketOptions,
  now: () => number = () => performance.now(),
): RateBucket {
  const levels = new Map<string, { level: number; at: number }>()
  return {
    take(key) {
      const at = now()
      const before = levels.get(key) ?? { level: burst, at }
      const level = Math.min(burst, before.level + (Math.max(0, at - before.at) / 1000) * perSecond)
      // Evicts the key that was used longest ago: its bucket is full again, or a client tries many keys.
      levels.delete(key)
      if (levels.size >= MAX_KEYS) for (const [oldest] of levels) if (levels.delete(oldest)) break
      levels.set(key, { level: level < 1 ? level : level - 1, at })
      return level >= 1
    },
  }
}

/** `local` for requests without a socket. */
export function clientAddress(c: Context): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress ?? 'local'
}

export function limitRate(options: RateBucketOptions, addressOf = clientAddress): MiddlewareHandler {
  const requests = createRateBucket(options)
  return async (c, next) => {
    if (!requests.take(addressOf(c)))
      throw new ApiProblem(
        'too_many_requests',
        phrase(
          `More than ${options.perSecond} requests per second. Wait a moment, then try again.`,
          `要求が 1 秒に ${options.perSecond} 件を超えています。少し待ってから、もう一度試してください。`,
        ),
      )
    await next()
  }
}

const MAX_BODY_BYTES = 256 * 1024
const MAX_IMPORT_BYTES = 64 * 1024 * 1024

const limitBody = (maxSize: number): MiddlewareHandler =>
  bodyLimit({
    maxSize,
    onError: () =>
      toProblemResponse(
        new ApiProblem(
          'body_too_large',
          phrase(
            `The request body exceeds ${maxSize} bytes.`,
            `送る内容が大きすぎます。上限は ${maxSize} バイトです。`,
          ),
        ),
      ),
  })

export const limitBodySize = limitBody(MAX_BODY_BYTES)
/** Larger logs belong into a folder of their agent. */
export const limitImportSize = limitBody(MAX_IMPORT_BYTES)

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Allows heights and colours that the page computes; sanitised HTML has no style attributes.
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['content-security-policy', POLICY],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), microphone=(), geolocation=(), payment=()'],
]

export const addSecurityHeaders: MiddlewareHandler = async (c, next) => {
  await next()
  const { headers } = c.res
  for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
}
