/** Reads and changes the settings. */
import { join } from 'node:path'
import { replaceOwnFile } from '../lib/files/atomic-file.ts'
import { dataDirectory, type HostMachine } from '../lib/files/data-directory.ts'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonEntries,
  toJsonMap,
  writeJson,
} from '../lib/json/lossless.ts'
import { AppError } from '../model/error.ts'
import type { AgentId } from '../model/ids.ts'
import { readJsonFile } from './json-file.ts'
import { type Configuration, resolveConfig } from './resolve.ts'
import { OWN_VALUE, profileOfKey, settingKey, settingsFor, variableOfKey } from './settings.ts'

export { dataDirectory, type HostMachine } from '../lib/files/data-directory.ts'
export { type ConfigProblem, describeConfigProblem } from './json-file.ts'
export { type PriceSettings, readPrices } from './price-file.ts'
export type { Configuration, ResolvedSetting } from './resolve.ts'

export interface ConfigOptions {
  readonly agents: readonly AgentId[]
  /** By key, as typed, for this run only. */
  readonly flags?: ReadonlyMap<string, string>
  readonly cwd?: string
}

const configPath = (machine: HostMachine): string => join(dataDirectory(machine), 'config.json')

/** The environment variable that may hold the API key of a profile. */
export const profileKeyVariable = (profile: string): string => variableOfKey(settingKey('profiles.*.key', profile))

/** Not cached. Returns a value for every setting, and lists the problems found. */
export function readConfig(machine: HostMachine, options: ConfigOptions): Configuration {
  const { agents, flags = new Map(), cwd = process.cwd() } = options
  return resolveConfig({ ...machine, cwd, agents, flags, file: readJsonFile(configPath(machine)) })
}

/**
 * Writes one setting to the file, or removes it. Throws AppError if nothing was changed. @param words the typed value
 * or values; undefined removes the setting
 */
export function changeConfig(
  machine: HostMachine,
  options: ConfigOptions,
  key: string,
  words: readonly string[] | undefined,
): void {
  const profile = profileOfKey(key)
  const settings = settingsFor(options.agents, profile === undefined ? [] : [profile])
  const setting = settings.get(key)
  if (!setting) {
    const known = [...settings.keys()]
    throw new AppError(
      'bad_usage',
      `Unknown setting "${key}". Available: ${known.join(', ')}.`,
      `「${key}」という設定はありません。使えるのは ${known.join('、')} です。`,
    )
  }
  if (words === undefined) {
    changeConfigFile(configPath(machine), key, undefined)
    return
  }
  const { kind } = setting
  const context = { ...machine, cwd: options.cwd ?? process.cwd() }
  const [first = '', ...more] = words.map((word) => kind.fromText(word, context))
  if (more.length > 0 && !kind.isList)
    throw new AppError('bad_usage', `${key} takes one value.`, `${key} に指定できる値は 1 つです。`)
  const value = kind.isList ? [first, ...more].filter((one) => one !== '') : first
  const parsed = kind.read(value, context)
  if (!parsed.ok) {
    const { at, reason } = parsed
    throw new AppError('bad_usage', `${key}${at} ${reason.en}.`, `${key}${at} ${reason.ja}。`)
  }
  changeConfigFile(configPath(machine), key, value)
}

/**
 * Removes the key if the value is undefined. Leaves everything else unchanged, including unknown keys. Throws
 * AppError if the file cannot be used or written.
 */
function changeConfigFile(path: string, key: string, value: JsonValue | undefined): void {
  const { content, problem } = readJsonFile(path)
  if (problem)
    throw new AppError(
      'unusable_data',
      `${problem.where}: ${problem.reason.en} The file was not changed. Fix it first.`,
      `${problem.where}: ${problem.reason.ja}ファイルはそのままです。先に直してください。`,
    )
  const text = writeJson(withSetting(content, key.split('.'), value), 2)
  if (text === writeJson(content, 2)) return
  replaceOwnFile(path, `${text}\n`)
}

/** The setting that another one continues. */
const CONTINUED_KEY = 'prices'

function withSetting(
  object: JsonObject,
  [key = '', ...rest]: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  const fields = toJsonMap<JsonValue>(object)
  const known = fields.get(key)
  // `prices` and `prices.plan`.
  if (rest.length === 0 && key === CONTINUED_KEY && known !== undefined && isJsonObject(known))
    return withSetting(object, [key, OWN_VALUE], value)
  if (rest.length > 0 && key === CONTINUED_KEY && typeof known === 'string') fields.set(key, { [OWN_VALUE]: known })
  if (rest.length === 0) {
    if (value === undefined) fields.delete(key)
    else fields.set(key, value)
    return fields
  }
  const inner = fields.get(key) ?? {}
  if (!isJsonObject(inner))
    throw new AppError(
      'unusable_data',
      `"${key}" in the file is not an object. The file was not changed. Fix it first.`,
      `ファイルの「${key}」がオブジェクトではありません。何も変更していません。先に直してください。`,
    )
  const next = withSetting(inner, rest, value)
  if (value === undefined && jsonEntries(next).length === 0) fields.delete(key)
  else fields.set(key, next)
  return fields
}
