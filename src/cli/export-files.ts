/** Writes exports to a stream, to one file, or to one file per session. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ExportImage } from '../export/export-input.ts'
import { AtomicFile, writeFileAtomically } from '../lib/files/atomic-file.ts'
import { specialKindAt } from '../lib/files/regular-file.ts'
import { sha256 } from '../lib/hash.ts'
import { batchTexts } from '../lib/text.ts'
import { AppError } from '../model/error.ts'
import { writeData } from './output.ts'

export async function printExport(texts: AsyncIterable<string>): Promise<void> {
  for await (const piece of batchTexts(texts)) await writeData(piece)
}

/** Writes the complete file or nothing. A new file is readable by its user only. */
export async function saveExport(path: string, texts: AsyncIterable<string>): Promise<void> {
  const file = new AtomicFile(path, NEW_FOLDER_OPTIONS)
  try {
    file.write('')
    for await (const piece of batchTexts(texts)) file.write(piece)
    file.commit()
  } finally {
    file.discard()
  }
}

const NEW_FOLDER_OPTIONS = { folders: 0o777 }

/** An existing folder, or a path that ends like one. */
export function isFolderTarget(path: string): boolean {
  try {
    return /[\\/]$/.test(path) || statSync(path).isDirectory()
  } catch {
    return false
  }
}

export function refuseOverwriting(path: string, force: boolean): void {
  if (!force && specialKindAt(path) === undefined && existsSync(path)) throw existsError(path)
}

export const existsError = (path: string): AppError =>
  new AppError(
    'bad_usage',
    `${path} already exists. Specify another name, or pass --force to overwrite it.`,
    `${path} はすでにあります。別の名前にするか、--force で上書きしてください。`,
  )

/** File names that work in every file system and are unique in this run, ignoring case. */
export class ExportFileNames {
  readonly #taken = new Set<string>()

  of(session: string, extension: string): string {
    const name = session
      .replaceAll(/[^\w.~-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, MAX_FILE_NAME_LENGTH)
    for (let n = 1; ; n++) {
      const fileName = `${name || 'session'}${n === 1 ? '' : `-${n}`}.${extension}`
      if (this.#taken.has(fileName.toLowerCase())) continue
      this.#taken.add(fileName.toLowerCase())
      return fileName
    }
  }
}

const MAX_FILE_NAME_LENGTH = 120

/** Saves each image once, in a folder next to the document, and returns its address relative to the document. */
export function createImageSaver(document: string): (image: ExportImage) => string {
  const folder = `${basename(document).replace(/\.\w+$/, '')}.images`
  return ({ data_uri, extension }) => {
    const bytes = Buffer.from(data_uri.slice(data_uri.indexOf(',') + 1), 'base64')
    const name = `${sha256(bytes).slice(0, 16)}.${extension}`
    const path = join(dirname(document), folder, name)
    if (!existsSync(path)) writeFileAtomically(path, [bytes], NEW_FOLDER_OPTIONS)
    return `${encodeURIComponent(folder)}/${name}`
  }
}

const COLLECTOR_MS = 60_000

/** One request of OTLP/HTTP. Its headers, such as a key, come from the variable that every exporter of OpenTelemetry reads. */
export async function sendToCollector(url: string, request: string): Promise<void> {
  const given = process.env['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''
  const headers = given.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]]
  })
  let reason: string
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: [['content-type', 'application/json'], ...headers],
      body: request,
      redirect: 'error',
      signal: AbortSignal.timeout(COLLECTOR_MS),
    })
    await answer.arrayBuffer()
    if (answer.ok) return
    reason = `HTTP ${answer.status}`
  } catch (error) {
    reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
  }
  throw new AppError(
    'cannot_write',
    `${url} did not take the spans (${reason}). Sending again is safe: the ids stay the same.`,
    `${url} がスパンを受け取りませんでした（${reason}）。ID は変わらないので、送り直しても重複しません。`,
  )
}

/** A value that is not encoded stays as it is. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
