/** The file `config.json`: read with all that is wrong told, and changed without losing anything that stands in it. */
import { readFileSync } from 'node:fs'
import { replaceFile } from '../lib/disk/replace-file.ts'
import { jsonFault, placeIn } from '../lib/json/fault.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonEntries, parseJson } from '../lib/json/lossless.ts'
import { jsonMap, writeJson } from '../lib/json/write.ts'
import { AppError } from '../model/error.ts'
import type { ConfigProblem } from './problem.ts'

export interface ConfigFile {
  readonly path: string
  /** Empty where there is no file. */
  readonly content: JsonObject
  /** For each object that names a key twice, that key. */
  readonly duplicates: ReadonlyMap<object, string>
  /** Why nothing of it can be used. Such a file is never written to. */
  readonly problem?: ConfigProblem
}

export function readConfigFile(path: string): ConfigFile {
  const nothing = { path, content: {}, duplicates: new Map() }
  const unusable = (reason: string, where = path): ConfigFile => ({
    ...nothing,
    problem: { where, key: '', reason: `${reason} Until then nothing of this file is used.` },
  })
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? nothing : unusable(`it cannot be read (${code}): check its mode.`)
  }
  const text = utf8(bytes)
  if (text === undefined) return unusable('it is not UTF-8 text: save it as such.')
  if (text.trim() === '') return nothing
  const fault = jsonFault(text)
  if (fault) {
    const { line, column } = placeIn(text, fault.at)
    return unusable(`${fault.reason}.`, `${path}:${line}:${column}`)
  }
  const parsed = parseJson(text, { duplicates: true })
  if (!parsed.ok) return unusable(`${parsed.reason}: mend it.`)
  if (!isJsonObject(parsed.value)) return unusable('it must hold an object: { "keep": "volatile" }.')
  return { path, content: parsed.value, duplicates: parsed.duplicates }
}

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * With nothing for a value the key is taken out. All else stays as it is, also what is not understood. Throws AppError when
 * the file cannot be used or written.
 */
export function changeConfigFile(path: string, key: string, value: JsonValue | undefined): void {
  const { content, problem } = readConfigFile(path)
  if (problem)
    throw new AppError('unusable_data', `${problem.where}: ${problem.reason} It was left as it is: mend it first.`)
  const text = `${writeJson(edited(content, key.split('.'), value), 2)}\n`
  try {
    replaceFile(path, text)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isForbidden = /^(?:EACCES|EPERM|EROFS|ENOTDIR|EEXIST)$/.test(code ?? '')
    if (code === undefined) throw error
    throw new AppError(
      isForbidden ? 'no_permission' : 'cannot_write',
      `${path} cannot be written (${code}): it is as it was. Check its folder and the disk.`,
    )
  }
}

function edited(object: JsonObject, [key = '', ...rest]: readonly string[], value: JsonValue | undefined): JsonObject {
  const fields = jsonMap<JsonValue>(object)
  if (rest.length === 0) {
    if (value === undefined) fields.delete(key)
    else fields.set(key, value)
    return fields
  }
  const inner = fields.get(key) ?? {}
  if (!isJsonObject(inner))
    throw new AppError('unusable_data', `"${key}" in the file is no object. Mend it first: nothing was changed.`)
  const next = edited(inner, rest, value)
  if (value === undefined && jsonEntries(next).length === 0) fields.delete(key)
  else fields.set(key, next)
  return fields
}
