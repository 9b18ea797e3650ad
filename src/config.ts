/** Where fumibako keeps what is its own, and what its user wants it to do. */
import { join } from 'node:path'
import { changeConfigFile } from './config/file.ts'
import { readJsonFile } from './config/json-file.ts'
import { type Configuration, resolveConfig } from './config/resolve.ts'
import { profileOfKey, settingKey, settingsFor, variableOfKey } from './config/table.ts'
import { dataDirectory, type HostMachine } from './lib/files/data-directory.ts'
import { AppError } from './model/error.ts'
import type { AgentId } from './model/ids.ts'

export { type PriceSettings, readPrices } from './config/price-file.ts'
export { type ConfigProblem, describeConfigProblem } from './config/problem.ts'
export type { Configuration, ResolvedSetting } from './config/resolve.ts'
export { dataDirectory, type HostMachine } from './lib/files/data-directory.ts'

export interface ConfigOptions {
  /** Ids of all agents that are known. */
  readonly agents: readonly AgentId[]
  /** By key, as they were typed: for this run only. */
  readonly flags?: ReadonlyMap<string, string>
  readonly cwd?: string
}

const configPath = (machine: HostMachine): string => join(dataDirectory(machine), 'config.json')

/** The environment variable that can hold the key of a profile. */
export const profileKeyVariable = (profile: string): string => variableOfKey(settingKey('profiles.*.key', profile))

/** Read anew each time. What is wrong is among its problems; every setting has a value nevertheless. */
export function readConfig(machine: HostMachine, options: ConfigOptions): Configuration {
  const { agents, flags = new Map(), cwd = process.cwd() } = options
  return resolveConfig({ ...machine, cwd, agents, flags, file: readJsonFile(configPath(machine)) })
}

/**
 * Writes one setting to the file; no words take it out. Throws AppError: nothing was changed then.
 * @param words what was typed: one, or any number for a list
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
      `there is no setting "${key}". There are ${known.join(', ')}.`,
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
