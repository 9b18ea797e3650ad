/** Serves the files of the page. They are read when the server starts; no other file can be requested. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Context, MiddlewareHandler } from 'hono'
import { allAgentNames } from '../agents/load-agents.ts'
import { sha256 } from '../lib/hash.ts'
import type { PageFeature } from '../model/api/machine.ts'

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

interface PageFile {
  readonly bytes: Buffer
  /** Undefined for small files and images. */
  readonly gzipped: Buffer | undefined
  readonly type: string
  readonly tag: string
  /** Its name changes with its content. */
  readonly isImmutable: boolean
}

/**
 * @param folder may be missing
 * @param offers what the server has of that which not every server has; everything if undefined
 */
export function servePage(folder: string, offers?: readonly PageFeature[]): MiddlewareHandler {
  const files = new Map(
    existsSync(folder)
      ? Array.from(listPaths(folder), (path) => [path, toPageFile(path, readFileSync(join(folder, path)))])
      : [],
  )
  const plain = files.get(INDEX)?.bytes
  let index: Promise<PageFile> | undefined
  return async (c, next) => {
    const { path, method } = c.req
    if (path.startsWith('/api/') || (method !== 'GET' && method !== 'HEAD')) return next()
    // The page handles all other addresses.
    const isAsset = extname(path) !== ''
    if (plain && (path === INDEX || !isAsset)) {
      index ??= stateFacts(plain, offers).then((bytes) => toPageFile(INDEX, bytes))
      return sendFile(c, await index)
    }
    const file = files.get(path)
    if (file) return sendFile(c, file)
    return isAsset ? next() : c.text(NOT_BUILT, 200)
  }
}

const NOT_BUILT =
  'fumibako: the page is not part of this build. The API is at /api, its description at /api/openapi.json.\n'
const MIN_GZIP_BYTES = 1024
const INDEX = '/index.html'

function* listPaths(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) yield `/${relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')}`
}

function toPageFile(path: string, bytes: Buffer): PageFile {
  const type = TYPES[extname(path)] ?? 'application/octet-stream'
  const isText = /^text\/|json|svg/.test(type)
  return {
    bytes,
    gzipped: isText && bytes.length > MIN_GZIP_BYTES ? gzipSync(bytes, { level: 9 }) : undefined,
    type,
    tag: `"${sha256(bytes).slice(0, 20)}"`,
    isImmutable: path.startsWith('/assets/'),
  }
}

/** In the page itself, so that it need not ask before it draws: what the server offers, and the names of agents. */
async function stateFacts(page: Buffer, offers: readonly PageFeature[] | undefined): Promise<Buffer> {
  const facts = {
    ...(offers && { 'data-offers': offers.join(' ') }),
    'data-agents': JSON.stringify(await allAgentNames()),
  }
  const attributes = Object.entries(facts).map(([name, value]) => `${name}="${escapeAttribute(value)}" `)
  return Buffer.from(page.toString().replace('<html ', () => `<html ${attributes.join('')}`))
}

const escapeAttribute = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

function sendFile(c: Context, { bytes, gzipped, type, tag, isImmutable: forever }: PageFile): Response {
  const headers = new Headers({
    etag: tag,
    vary: 'accept-encoding',
    'cache-control': forever ? 'private, max-age=31536000, immutable' : 'no-cache',
  })
  if (c.req.header('if-none-match') === tag) return new Response(null, { status: 304, headers })
  const isGzipped = gzipped !== undefined && /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
  headers.set('content-type', type)
  if (isGzipped) headers.set('content-encoding', 'gzip')
  const body = isGzipped ? gzipped : bytes
  headers.set('content-length', String(body.length))
  return new Response(c.req.method === 'HEAD' ? null : new Uint8Array(body), { headers })
}
