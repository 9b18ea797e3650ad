/** Every setting there is: what it may hold, what it is when nobody says anything, and what it does. */
import type { AgentId } from '../model/ids.ts'
import { amount, choice, file, type Kind, onOrOff, paths, secret, type Value, word } from './kinds.ts'

export interface Setting<T extends Value = Value> {
  readonly kind: Kind<T>
  readonly standard: T
  readonly what: string
}

const setting = <T extends Value>(kind: Kind<T>, standard: T, what: string): Setting<T> => ({ kind, standard, what })

/** `*` stands for the id of an agent, or for the name of a profile. */
export const SETTINGS = {
  keep: setting(
    choice('volatile', 'all', 'none'),
    'volatile',
    'what is copied unasked: volatile (what its program overwrites), all, none',
  ),
  language: setting(choice('auto', 'en', 'ja'), 'auto', 'in which language fumi speaks; auto: that of the terminal'),
  prices: setting(file, null, 'a JSON file of prices, which go before the built-in ones'),
  'agents.*.enabled': setting(onOrOff, true, 'whether its conversations are read'),
  'agents.*.roots': setting(paths, [], 'more files and folders in which its conversations lie'),
  'agents.*.skip': setting(paths, [], 'files and folders that are left alone, with all below them'),
  profile: setting(word, null, 'the profile with which fumi chat talks when none is asked for'),
  'chat.compact': setting(
    choice('auto', 'ask'),
    'auto',
    'when the window of a model is full: auto (sum up by itself), ask (send less, and propose it)',
  ),
  'profiles.*.server': setting(
    choice('openai', 'ollama', 'llamacpp', 'lmstudio', 'vllm', 'any'),
    'any',
    'what kind of server it is; any: told by its address',
  ),
  'profiles.*.url': setting(word, null, 'its address, up to and with /v1'),
  'profiles.*.model': setting(word, null, 'the model that answers'),
  'profiles.*.key': setting(secret, null, 'its key, or $NAME for a variable that holds it'),
  'profiles.*.window': setting(amount, null, 'the window of its model, in tokens'),
}

export type SettingName = keyof typeof SETTINGS
export type ValueOf<Name extends SettingName> = (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never

/** The settings of a house with these agents and profiles, by their keys. */
export function settingsFor(agents: readonly AgentId[], profiles: readonly string[]): ReadonlyMap<string, Setting> {
  const found = new Map<string, Setting>()
  const all = Object.entries(SETTINGS) as [SettingName, Setting][]
  for (const [name, one] of all) if (!name.includes('*')) found.set(name, one)
  for (const [group, names] of [
    ['agents.', agents],
    ['profiles.', profiles],
  ] as const)
    for (const each of names)
      for (const [name, one] of all) if (name.startsWith(`${group}*`)) found.set(keyOf(name, each), one)
  return found
}

/** @param each an agent or a profile */
export const keyOf = (name: SettingName, each: string): string => name.replace('*', each)

/** The profile that a key is about, whether there is one of that name or not. */
export const profileIn = (key: string): string | undefined => /^profiles\.([\w-]+)(?:\.|$)/.exec(key)?.[1]

/** `agents.amazon-q.roots` is FUMI_AGENTS_AMAZON_Q_ROOTS. */
export const variableOf = (key: string): string => `FUMI_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
