/**
 * Sessions that versions of before the database stored as files: one for the session, one for each message and part.
 * The folders were arranged in two ways.
 */
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder, listEntries, statOf } from '../../lib/files/safe-fs.ts'
import { isSystemError } from '../../lib/files/system-error.ts'
import { type Fields, fieldsOf, isObject, numberOf, parseStructure } from '../../lib/unknown-values.ts'
import { joinRecord } from './record-text.ts'
import type { SessionTexts } from './session-texts.ts'

/** Where the messages of a session are, and the parts of a message. */
interface SessionFiles {
  readonly messages: string
  parts(message: string): string
}

const SESSION_NAME = /^ses[_-]?\w+\.json$/

/** Session files in a folder of OpenCode. */
export function* sessionFilesIn(root: string): Generator<string> {
  for (const { name } of listEntries(join(root, 'storage', 'session')))
    yield* sessionNamesIn(join(root, 'storage', 'session', name))
  for (const { name } of listEntries(join(root, 'project')))
    yield* sessionNamesIn(join(root, 'project', name, 'storage', 'session', 'info'))
}

function* sessionNamesIn(folder: string): Generator<string> {
  for (const { name } of listEntries(folder)) if (SESSION_NAME.test(name)) yield join(folder, name)
}

/** Undefined for a file elsewhere. */
export function filesOfSession(path: string): SessionFiles | undefined {
  if (!SESSION_NAME.test(basename(path))) return undefined
  const id = sessionIdOf(path)
  const folder = dirname(path)
  const above = dirname(folder)
  if (basename(folder) === 'info' && basename(above) === 'session')
    return { messages: join(above, 'message', id), parts: (message) => join(above, 'part', id, message) }
  if (basename(above) !== 'session') return undefined
  const storage = dirname(above)
  return { messages: join(storage, 'message', id), parts: (message) => join(storage, 'part', message) }
}

export const sessionIdOf = (path: string): string => basename(path, '.json')

/** Every file of a session, for backups and fingerprints. */
export function* allFilesOf(path: string): Generator<string> {
  yield path
  const files = filesOfSession(path)
  if (!files) return
  for (const name of jsonNamesIn(files.messages)) {
    yield join(files.messages, name)
    yield* findFilesBelow(files.parts(basename(name, '.json')), JSON_NAME)
  }
}

const JSON_NAME = /\.json$/
const jsonNamesIn = (folder: string): readonly string[] =>
  isFolder(folder)
    ? listEntries(folder)
        .map(({ name }) => name)
        .filter((name) => JSON_NAME.test(name))
        .sort()
    : []

/** Undefined if the session is gone. */
export function treeFingerprint(path: string): string | undefined {
  if (!statOf(path)) return undefined
  let [count, size, latest] = [0, 0, 0]
  for (const file of allFilesOf(path)) {
    const found = statOf(file)
    count++
    size += found?.size ?? 0
    latest = Math.max(latest, found?.mtimeMs ?? 0)
  }
  return `${count}:${size}:${latest}`
}

export function treeTexts(path: string): SessionTexts {
  const files = filesOfSession(path)
  let order: readonly string[] | undefined
  const messageAt = (number: number): Buffer | undefined => {
    order ??= files ? messagesInOrder(files) : []
    const id = order[number - 1]
    return id === undefined || !files ? undefined : messageText(files, id)
  }
  return {
    header() {
      const info = readJson(path)
      return { ok: true, value: info && Buffer.from(`{"info":${info}}`) }
    },
    *messages() {
      for (let number = 1; ; number++) {
        const text = messageAt(number)
        if (!text) return undefined
        yield text
      }
    },
    messageAt: (number) => ({ ok: true, value: messageAt(number) }),
  }
}

/** By time, as the program orders them. */
function messagesInOrder({ messages }: SessionFiles): readonly string[] {
  const found = jsonNamesIn(messages).map((name) => {
    const message = fieldsOf(parseStructure(readJson(join(messages, name))?.toString('utf8') ?? ''))
    return { id: basename(name, '.json'), created: createdAt(message) }
  })
  return found.sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
}

function createdAt(message: Fields | undefined): number {
  const time = message?.['time'] ?? fieldsOf(message?.['metadata'])?.['time']
  return numberOf(fieldsOf(time)?.['created']) ?? 0
}

function messageText({ messages, parts }: SessionFiles, id: string): Buffer {
  const info = readJson(join(messages, `${id}.json`)) ?? Buffer.from(JSON.stringify({ unreadable: true, id }))
  const folder = parts(id)
  const texts = jsonNamesIn(folder).flatMap((name) => readJson(join(folder, name)) ?? [])
  return joinRecord(info, texts)
}

/** A file without JSON is left out. */
function readJson(path: string): Buffer | undefined {
  try {
    const text = readRegularFile(path).toString('utf8').trim()
    return isObject(parseStructure(text)) ? Buffer.from(text) : undefined
  } catch (error) {
    if (!isSystemError(error)) throw error
    return undefined
  }
}
