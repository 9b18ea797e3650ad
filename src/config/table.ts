/** Every setting there is: what it may hold, what it is when nobody says anything, and what it does. */
import type { AgentId } from '../model/ids.ts'
import { choice, file, type Kind, onOrOff, paths, type Value } from './kinds.ts'

export interface Setting<T extends Value = Value> {
  readonly kind: Kind<T>
  readonly standard: T
  readonly what: string
}

const setting = <T extends Value>(kind: Kind<T>, standard: T, what: string): Setting<T> => ({ kind, standard, what })

/** `*` stands for the id of an agent. */
export const SETTINGS = {
  keep: setting(
    choice('volatile', 'all', 'none'),
    'volatile',
    'what is copied unasked: volatile (what its program overwrites), all, none',
  ),
  prices: setting(file, null, 'a JSON file of prices, which go before the built-in ones'),
  'agents.*.enabled': setting(onOrOff, true, 'whether its conversations are read'),
  'agents.*.roots': setting(paths, [], 'more files and folders in which its conversations lie'),
  'agents.*.skip': setting(paths, [], 'files and folders that are left alone, with all below them'),
}

export type SettingName = keyof typeof SETTINGS
export type ValueOf<Name extends SettingName> = (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never

/** The settings of a house with these agents, by their keys. */
export function settingsFor(agents: readonly AgentId[]): ReadonlyMap<string, Setting> {
  const found = new Map<string, Setting>()
  for (const [name, one] of Object.entries(SETTINGS) as [SettingName, Setting][])
    if (!name.includes('*')) found.set(name, one)
  for (const agent of agents)
    for (const [name, one] of Object.entries(SETTINGS) as [SettingName, Setting][])
      if (name.includes('*')) found.set(keyOf(name, agent), one)
  return found
}

export const keyOf = (name: SettingName, agent: AgentId): string => name.replace('*', agent)

/** `agents.amazon-q.roots` is FUMI_AGENTS_AMAZON_Q_ROOTS. */
export const variableOf = (key: string): string => `FUMI_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
