/** Refuses request targets that are read in more than one way: as another host, or as another path. */
import type { Context, MiddlewareHandler } from 'hono'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'

/** `//host` and `/\host` name another server when a browser meets them as an address, encoded or not. */
const OTHER_HOST = /^\/(?:[/\\]|%2f|%5c)/i
/** A browser reads a backslash as a slash; no address of ours holds a control character or what is not ASCII. */
const UNSAFE = /[^\x21-\x5b\x5d-\x7e]/

export const checkRequestTarget: MiddlewareHandler = async (c, next) => {
  const target = targetOf(c)
  if (!target.startsWith('/') || OTHER_HOST.test(target) || UNSAFE.test(pathOf(target)))
    throw new ApiProblem(
      'invalid_parameters',
      phrase('This is not an address of this server.', 'このサーバーのアドレスではありません。'),
    )
  await next()
}

/** As the client sent it; the parsed URL has lost what is looked for here. */
function targetOf(c: Context): string {
  const env = c.env as { incoming?: { url?: string } } | undefined
  return env?.incoming?.url ?? c.req.url.replace(/^https?:\/\/[^/]*/i, '')
}

const pathOf = (target: string): string => target.split('?', 1)[0] ?? ''
