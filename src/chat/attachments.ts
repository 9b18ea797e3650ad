/** Files attached to a prompt by `@path` or beforehand: images, documents, texts. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  CONTEXT_ENTRY_END_HEADER,
  CONTEXT_ENTRY_START_HEADER,
  MAX_IMAGE_SIZE,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
} from '../conversation/limits.ts'
import type { ImageBlock, ImageFormat } from '../conversation/message.ts'
import { readRegularFile, specialKindAt } from '../lib/files/regular-file.ts'
import { isFile, isFolder, listEntries } from '../lib/files/safe-fs.ts'
import { describeSystemError, isSystemError } from '../lib/files/system-error.ts'
import { nearestName } from '../model/nearest-name.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { mimeOf, toDataUri } from '../openai/media.ts'
import type { FilePart } from '../openai/message.ts'
import { isInsideFolder, resolveRealPath } from './tools/files/tool-paths.ts'
import type { Workspace } from './tools/tool.ts'

export interface Attachments {
  readonly images: readonly ImageBlock[]
  readonly documents: readonly FilePart[]
  /** Texts that precede the prompt; empty if there are none. */
  readonly context: string
  /** One line per file: attached, or why not. */
  readonly notes: readonly Phrase[]
}

const IMAGE_FORMATS: { readonly [mime: string]: ImageFormat } = {
  'image/png': 'Png',
  'image/jpeg': 'Jpeg',
  'image/gif': 'Gif',
  'image/webp': 'Webp',
}

const MAX_TEXT_BYTES = 400_000
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024

/** Existing files that a prompt names: `@notes.md`, `@"my notes.md"`, or a dropped image path. Includes pipes and devices, which are reported later. */
export function attachmentPathsIn(prompt: string, workspace: Workspace): readonly string[] {
  const named = namesIn(prompt).flatMap(({ name, isQuoted }) => (isQuoted ? name : [name, withoutPunctuation(name)]))
  const imagePaths = [...prompt.matchAll(/(?:^|\s)((?:~?\/|\.{1,2}\/)\S+\.(?:png|jpe?g|gif|webp))(?=\s|$)/gi)].map(
    (match) => match[1] ?? '',
  )
  const files = [...named, ...imagePaths].map((one) => resolveTypedPath(one, workspace))
  return [...new Set(files)].filter(canAttach)
}

const canAttach = (path: string): boolean => isFile(path) || specialKindAt(path) !== undefined

const namesIn = (prompt: string): readonly { readonly name: string; readonly isQuoted: boolean }[] =>
  [...prompt.matchAll(/(?:^|\s)@(?:"([^"]+)"|(\S+))/g)].map(([, quoted, plain = '']) => ({
    name: quoted ?? plain,
    isQuoted: quoted !== undefined,
  }))

/** Without the punctuation of the sentence around it. */
const withoutPunctuation = (name: string): string => name.replace(/[.,;:!?)\]}>、。，．！？）」』]{1,4}$/, '')

/** Looks like a path: `./a`, `~/a`, `/a`, or with an extension. A name such as `@alice` or `@types/node` does not. */
const LOOKS_LIKE_PATH = /^(?:~?\/|\.{1,2}\/)[^()<>{}"'`@]+$|^[^()<>{}"'`@:]*[^()<>{}"'`@:./]\.[A-Za-z][A-Za-z0-9]{0,7}$/

/** One note for each path that the user named and that is not a file. */
export function missingAttachmentNotes(typed: string, workspace: Workspace): readonly Phrase[] {
  const missing = namesIn(typed).flatMap(({ name, isQuoted }) => {
    const path = isQuoted ? name : withoutPunctuation(name)
    // `references.ts` attaches a folder that ends with a slash, or says why not.
    const isFolderReference = path.endsWith('/') && isFolder(resolveTypedPath(path, workspace))
    const isFound = isFolderReference || [name, path].some((one) => canAttach(resolveTypedPath(one, workspace)))
    return !isFound && (isQuoted || LOOKS_LIKE_PATH.test(path)) ? path : []
  })
  return [...new Set(missing)].map((path) => omittedText(path, missingText(resolveTypedPath(path, workspace))))
}

function missingText(path: string): Phrase {
  if (existsSync(path))
    return phrase(
      'it is a folder. Name a file in it, or let the model read it with a tool',
      'フォルダーです。中のファイルを指定するか、モデルにツールで読ませてください',
    )
  const nearest = nearestFile(path)
  return nearest === undefined
    ? phrase('no such file', 'ファイルがありません')
    : phrase(`no such file. Did you mean ${nearest}?`, `ファイルがありません。${nearest} のことですか？`)
}

const nearestFile = (path: string): string | undefined =>
  nearestName(
    basename(path),
    listEntries(dirname(path)).map(({ name }) => name),
  )

export const resolveTypedPath = (word: string, { cwd, home }: Workspace): string =>
  word.startsWith('~/') ? join(home, word.slice(2)) : resolve(cwd, word)

/**
 * Removes files outside the project that the user did not name: paths in a project's text, and links of the project
 * that lead elsewhere. @param typed the paths that the user typed
 */
export function filterAttachable(
  paths: readonly string[],
  typed: readonly string[],
  workspace: Workspace,
): { readonly paths: readonly string[]; readonly notes: readonly Phrase[] } {
  const project = resolveRealPath(workspace.cwd)
  const notes: Phrase[] = []
  const allowed = paths.filter((path) => {
    const real = resolveRealPath(path)
    const isAllowed = isInsideFolder(real, project) || (typed.includes(path) && !isInsideFolder(path, workspace.cwd))
    if (!isAllowed) notes.push(omittedText(basename(path), outsideText(real)))
    return isAllowed
  })
  return { paths: allowed, notes }
}

const outsideText = (real: string): Phrase =>
  phrase(
    `it is outside this directory. To attach it, type its full path: @${real}`,
    `このディレクトリーの外にあります。添付するには、その場所を直接書いてください：@${real}`,
  )

export function readAttachments(paths: readonly string[]): Attachments {
  const images: ImageBlock[] = []
  const documents: FilePart[] = []
  const texts: string[] = []
  const notes: Phrase[] = []
  for (const path of [...new Set(paths)]) {
    const name = basename(path)
    const bytes = readBytes(path)
    if ('en' in bytes) {
      notes.push(omittedText(name, bytes))
      continue
    }
    const mime = mimeOf(bytes) ?? ''
    const format = IMAGE_FORMATS[mime]
    const text = format || mime !== '' ? undefined : decodeText(bytes)
    const fault = findFault(bytes, { format, mime, text, images: images.length })
    if (fault !== undefined) {
      notes.push(omittedText(name, fault))
      continue
    }
    if (format) images.push({ format, source: { Bytes: [...bytes] } })
    else if (text !== undefined) texts.push(`[${path}]\n${text}\n`)
    else documents.push({ type: 'file', file: { filename: name, file_data: toDataUri(bytes, mime) } })
    const size = bytes.length.toLocaleString('en-US')
    notes.push(phrase(`attached ${name} (${size} bytes)`, `${name} を添付します（${size} バイト）`))
  }
  const context =
    texts.length === 0 ? '' : `${CONTEXT_ENTRY_START_HEADER}${texts.join('')}${CONTEXT_ENTRY_END_HEADER}`.trimEnd()
  return { images, documents, context, notes }
}

const omittedText = (name: string, { en, ja }: Phrase): Phrase =>
  phrase(`${name} not attached: ${en}`, `${name} は添付しません：${ja}`)

interface FileFacts {
  readonly format: ImageFormat | undefined
  readonly mime: string
  readonly text: string | undefined
  readonly images: number
}

function findFault(bytes: Uint8Array, { format, mime, text, images }: FileFacts): Phrase | undefined {
  if (format) {
    if (bytes.length > MAX_IMAGE_SIZE) return phrase('images are limited to 10 MB', '画像は 10 MB までです')
    return images >= MAX_NUMBER_OF_IMAGES_PER_REQUEST
      ? phrase('the limit is 10 images', '画像は 10 枚までです')
      : undefined
  }
  if (mime === 'application/pdf')
    return bytes.length > MAX_DOCUMENT_BYTES
      ? phrase('documents are limited to 32 MB', '文書は 32 MB までです')
      : undefined
  if (text === undefined)
    return phrase('it is not an image, PDF or text file', '画像でも PDF でもテキストでもありません')
  if (bytes.length <= MAX_TEXT_BYTES) return undefined
  return phrase(
    'text files are limited to 400,000 bytes. Let the model read it with a tool',
    'テキストは 400,000 バイトまでです。モデルにツールで読ませてください',
  )
}

function readBytes(path: string): Buffer | Phrase {
  try {
    if (statSync(path).size > MAX_DOCUMENT_BYTES) return phrase('it is larger than 32 MB', '32 MB を超えています')
    return readRegularFile(path)
  } catch (error) {
    return isSystemError(error) ? describeSystemError(error) : phrase('it cannot be read', '読み取れません')
  }
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
